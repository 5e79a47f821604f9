import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { PaymentStatus } from '../../src/wire/payments.ts'
import { addActions } from '../kit/action-command.ts'
import { changing } from '../kit/change.ts'
import { DataOption, collect, forAllMerchants } from '../kit/option-values.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { PAYMENT_ACTIONS } from './actions.ts'
import { CreateOptions, create } from './create.ts'
import { events } from './events.ts'
import { ExportOptions, exportAll } from './export.ts'
import { filtered } from './filters.ts'
import { ListOptions, list } from './list.ts'
import { withMandate } from './mandate.ts'
import { payment as subject } from './subject.ts'
import { receipt } from './receipt.ts'
import { refunds } from './refunds.ts'
import { ShowOptions, show } from './show.ts'
import { ScaOptions, completeByHand } from './sca-complete.ts'
import { FollowOptions, followable } from '../kit/follow.ts'
import { Paging, paged } from '../kit/paging.ts'

/** `svc payments`: the operations of src/wire/payments.ts with spaces between the words. */
export function addPayments(payments: Command, runtime: Runtime): void {
  addCreate(payments, runtime)
  addList(payments, runtime)
  addExport(payments, runtime)
  forAllMerchants(payments.command('show'))
    .description('show a payment with its history')
    .argument('<payment>', subject.summary)
    .addHelpText(
      'after',
      '\nExamples:\n  svc payments show a2b4358c\n  svc payments show a2b4358c -q status\n  svc payments show a2b4358c --all-merchants\n',
    )
    .action(action(runtime, ShowOptions, show))
  addEvents(payments, runtime)
  payments
    .command('receipt')
    .description('print the receipt of a settled payment, for its payer; exit code 7 before that')
    .argument('<payment>', subject.summary)
    .addHelpText(
      'after',
      '\nExamples:\n  svc payments receipt a2b4358c\n  svc payments receipt a2b4358c -q settled_at\n',
    )
    .action(action(runtime, z.object({}), receipt))
  addActions(payments, runtime, PAYMENT_ACTIONS)
  paged(
    payments
      .command('refunds')
      .description("list a payment's refunds, the oldest first")
      .argument('<payment>', subject.summary),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  svc payments refunds a2b4358c\n  svc payments refunds a2b4358c --all -o csv\n',
    )
    .action(action(runtime, Paging, refunds))
  addScaComplete(payments, runtime)
}

function addEvents(payments: Command, runtime: Runtime): void {
  followable(
    payments
      .command('events')
      .description("list a payment's audit events with their hashes")
      .argument('<payment>', subject.summary),
    'continue with each new one, until none can come or Ctrl+C',
  )
    .addHelpText(
      'after',
      '\nExamples:\n  svc payments events a2b4358c\n  svc payments events a2b4358c -o jsonl\n  svc payments events a2b4358c --follow --timeout 5m\n',
    )
    .action(action(runtime, FollowOptions, events))
}

function addScaComplete(payments: Command, runtime: Runtime): void {
  changing(payments.command('sca-complete'))
    .description('hand over what the bank sent the payer back with, as the return page of a shop does')
    .argument('<payment>', subject.summary)
    .option('--state <state>', 'of the address that the bank sent the payer back to')
    .option('--code <code>', 'of it too, where the payer approved')
    .option('--error <code>', 'of it too, where the payer did not')
    .option('--description <text>', 'error_description of it')
    .option('--returned <address>', 'the whole address, in place of its parts')
    .addHelpText(
      'after',
      '\nExamples:\n  svc payments sca-complete a2b4358c --state xyz --code abc\n  svc payments sca-complete a2b4358c --returned "https://shop.example/return?state=xyz&error=access_denied"\n',
    )
    .action(action(runtime, ScaOptions, completeByHand))
}

function addCreate(payments: Command, runtime: Runtime): void {
  const command = changing(payments.command('create'))
    .description('create a payment; in the sandbox, also act as its payer')
    .requiredOption('--amount <amount>', 'a decimal amount, such as 50.00')
    .requiredOption('--currency <code>', 'such as GBP')
    .option('--redirect-uri <url>', "where the bank sends the payer back to (the service's own page)")
    .option('--idempotency-key <key>', 'the same key never makes a second payment (a new UUID)')
    .option('--metadata <name=value>', 'a note of your own; may be repeated', collect)
    .option('--open', "open the bank's page in your browser")
    .option('--qr', "show the bank's page as a QR code too, for the payer's phone")
    .optionsGroup('The payer:')
    .option('--payer-name <name>', 'at most 140 characters')
    .option('--payer-email <address>', 'the e-mail address that links for the payer are sent to')
    .option('--payer-phone <number>', 'with country code: +447700900123')
    .option('--remittance-reference <text>', 'what the payer reads on the statement, at most 18 characters')
    .option('--debtor-bank-id <id>', "the payer's bank")
    .option('--debtor-account-scheme <scheme>', 'UK.OBIE.SortCodeAccountNumber or UK.OBIE.IBAN')
    .option('--debtor-identification <number>', "the payer's account in that scheme")
  withMandate(command)
    .optionsGroup('Sandbox:')
    .option('--scenario <name>', 'how the mock bank behaves, such as insufficient-funds')
    .addOption(new DataOption('--approve', 'act as the payer at the mock bank and approve').conflicts('cancel'))
    .option('--cancel', 'act as the payer at the mock bank and cancel')
    .option('--from-account <number>', 'with --approve: the account at the mock bank that pays (one elsewhere)')
    .optionsGroup('Waiting:')
    .addOption(waitOption())
    .option('--timeout <duration>', 'how long to wait', '30s')
    .addHelpText('after', CREATE_EXAMPLES)
    .action(action(runtime, CreateOptions, create))
}

const CREATE_EXAMPLES = `
Examples:
  svc payments create --amount 50.00 --currency GBP
  svc payments create --amount 50.00 --currency GBP --open --wait
  svc payments create --amount 50.00 --currency GBP --approve --wait Settled
  svc payments create --amount 12.50 --currency GBP --scenario insufficient-funds --approve --wait Failed
  svc payments create --amount 9.99 --currency EUR --idempotency-key order-1 --metadata order=1 -o id
  svc payments create --amount 9.99 --currency GBP --mandate --max-amount 20.00 --periodic MONTH:60.00 --approve
  svc payments create --amount 9.99 --currency GBP --consent a2b4358c --wait
`

function waitOption(): Option {
  return new Option('--wait [status]', 'wait until the payment is there (Settled; Failed with --cancel)').choices(
    PaymentStatus.options,
  )
}

function addList(payments: Command, runtime: Runtime): void {
  const listing = payments
    .command('list')
    .description('list payments, the newest first; of all merchants as an operator')
  paged(filtered(listing))
    .optionsGroup('Output:')
    .option('--fees', 'show what each cost, and what it adds to payouts')
    .addHelpText(
      'after',
      '\nExamples:\n  svc payments list --status Settled --since 2h\n  svc payments list --fees --since 24h\n  svc payments list --merchant acme-ltd --status Failed\n  svc payments list --all -o csv > payments.csv\n',
    )
    .action(action(runtime, ListOptions, list))
}

function addExport(payments: Command, runtime: Runtime): void {
  const exporting = payments
    .command('export')
    .description('write all payments page by page with their fees, as CSV (RFC 4180) or with -o json or jsonl')
  filtered(exporting)
    .optionsGroup('Output:')
    .option('--file <path>', 'write here; the file is there only once it is whole (standard output, which - is too)')
    .option('--force', 'replace the file where there is one')
    .addHelpText(
      'after',
      '\nExamples:\n  svc payments export > payments.csv\n  svc payments export -o jsonl | jq .payout_amount\n  svc payments export --file november.csv --since 2026-11-01 --until 2026-12-01\n  svc payments export --all-merchants --file all.csv\n',
    )
    .action(action(runtime, ExportOptions, exportAll))
}
