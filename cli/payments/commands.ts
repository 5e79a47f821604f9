import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { PaymentStatus } from '../../src/wire/payments.ts'
import { addActions } from '../kit/action-command.ts'
import { changing } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { FollowOptions, followable } from '../kit/follow.ts'
import { collect, DataOption, forAllMerchants, subcommand } from '../kit/option-values.ts'
import { Paging, paged } from '../kit/paging.ts'
import { addMandates } from '../mandates/read.ts'
import { OPERATOR_ACTIONS, PAYMENT_ACTIONS, REDIRECT_ACTIONS } from './actions.ts'
import { CreateOptions, create } from './create.ts'
import { ExportOptions, ListOptions, exportAll, filtered, list } from './list.ts'
import { withMandate } from './mandate.ts'
import { ShowOptions, events, receipt, refunds, show } from './read.ts'
import { payment as subject } from './subject.ts'

export function addPayments(payments: Command, runtime: Runtime): void {
  addCreate(payments, runtime)
  addList(payments, runtime)
  addExport(payments, runtime)
  forAllMerchants(subcommand(payments, 'show', 'Show a payment and its history'))
    .argument('<payment>', subject.summary)
    .addHelpText(
      'after',
      '\nExamples:\n  svc payments show a2b4358c\n  svc payments show a2b4358c -q status\n  svc payments show a2b4358c --all-merchants\n',
    )
    .action(action(runtime, ShowOptions, show))
  addEvents(payments, runtime)
  subcommand(payments, 'receipt', 'Print the receipt of a settled payment')
    .argument('<payment>', subject.summary)
    .addHelpText(
      'after',
      '\nThe receipt is for the payer. Exit code 7 before the payment is settled.\n\nExamples:\n  svc payments receipt a2b4358c\n  svc payments receipt a2b4358c -q settled_at\n',
    )
    .action(action(runtime, z.object({}), receipt))
  addActions(payments, runtime, PAYMENT_ACTIONS)
  paged(
    subcommand(payments, 'refunds', "List a payment's refunds, oldest first").argument('<payment>', subject.summary),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  svc payments refunds a2b4358c\n  svc payments refunds a2b4358c --all -o csv\n',
    )
    .action(action(runtime, Paging, refunds))
  addActions(payments, runtime, REDIRECT_ACTIONS)
  addActions(payments, runtime, OPERATOR_ACTIONS)
  addMandates(payments, runtime)
}

function addEvents(payments: Command, runtime: Runtime): void {
  followable(
    subcommand(payments, 'events', "List a payment's audit events with their hashes").argument(
      '<payment>',
      subject.summary,
    ),
    'Follow new events until the last one or Ctrl+C',
  )
    .addHelpText(
      'after',
      '\nExamples:\n  svc payments events a2b4358c\n  svc payments events a2b4358c -o jsonl\n  svc payments events a2b4358c --follow --timeout 5m\n',
    )
    .action(action(runtime, FollowOptions, events))
}

function addCreate(payments: Command, runtime: Runtime): void {
  const command = changing(subcommand(payments, 'create', 'Create a payment'))
    .requiredOption('--amount <amount>', 'Decimal amount, such as 50.00')
    .requiredOption('--currency <code>', 'Currency code, such as GBP')
    .option('--redirect-uri <url>', 'Where the bank sends the payer back to (a page of the service)')
    .option('--idempotency-key <key>', 'Idempotency key; repeating it creates no second payment (a new UUID)')
    .option('--metadata <name=value>', 'Metadata of your own; may be repeated', collect)
    .option('--open', "Open the bank's page in your browser")
    .option('--qr', "Show the bank's page as a QR code for the payer's phone")
    .optionsGroup('The payer:')
    .option('--payer-name <name>', 'Name of the payer, at most 140 characters')
    .option('--payer-email <address>', 'E-mail address for links to the payer')
    .option('--payer-phone <number>', 'Phone number with country code: +447700900123')
    .option('--remittance-reference <text>', "Reference on the payer's statement, at most 18 characters")
    .option('--debtor-bank-id <id>', "The payer's bank")
    .option('--debtor-account-scheme <scheme>', 'UK.OBIE.SortCodeAccountNumber or UK.OBIE.IBAN')
    .option('--debtor-identification <number>', "The payer's account number in that scheme")
  withMandate(command)
    .optionsGroup('Sandbox:')
    .option('--scenario <name>', 'Behaviour of the mock bank, such as insufficient-funds')
    .addOption(new DataOption('--approve', 'Approve at the mock bank as the payer').conflicts('cancel'))
    .option('--cancel', 'Cancel at the mock bank as the payer')
    .option('--from-account <number>', 'With --approve: account at the mock bank that pays (one elsewhere)')
    .optionsGroup('Waiting:')
    .addOption(waitOption())
    .option('--timeout <duration>', 'Maximum time to wait', '30s')
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
  return new Option(
    '--wait [status]',
    'Wait until the payment has this status (Settled; Failed with --cancel)',
  ).choices(PaymentStatus.options)
}

function addList(payments: Command, runtime: Runtime): void {
  const listing = subcommand(payments, 'list', 'List payments, newest first')
  paged(filtered(listing))
    .optionsGroup('Output:')
    .option('--fees', 'Show the fee of each payment and what it adds to payouts')
    .addHelpText(
      'after',
      '\nExamples:\n  svc payments list --status Settled --since 2h\n  svc payments list --fees --since 24h\n  svc payments list --merchant acme-ltd --status Failed\n  svc payments list --all -o csv > payments.csv\n',
    )
    .action(action(runtime, ListOptions, list))
}

function addExport(payments: Command, runtime: Runtime): void {
  const exporting = subcommand(payments, 'export', 'Export payments and fees as CSV or JSON')
  filtered(exporting)
    .optionsGroup('Output:')
    .option('--file <path>', 'Output file, written once it is complete (- or none: standard output)')
    .option('--force', 'Overwrite an existing file')
    .addHelpText(
      'after',
      '\nFetches every page. CSV follows RFC 4180; -o json and -o jsonl are available as well.\n\nExamples:\n  svc payments export > payments.csv\n  svc payments export -o jsonl | jq .payout_amount\n  svc payments export --file november.csv --since 2026-11-01 --until 2026-12-01\n  svc payments export --all-merchants --file all.csv\n',
    )
    .action(action(runtime, ExportOptions, exportAll))
}
