import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { Mandate, getConsent, listConsents } from '../../src/wire/consents.ts'
import type { Allowance } from '../../src/wire/consents.ts'
import { PayerConsent } from '../../src/wire/payer.ts'
import { ConsentStatus } from '../../src/wire/payments.ts'
import type { Style } from '../base/io.ts'
import { dayOf, endOfId, minuteOf, shortTime } from '../base/text.ts'
import { distanceOf } from '../base/times.ts'
import { asPayer } from '../client/auth/payer-session.ts'
import { call } from '../client/call.ts'
import type { PageReader } from '../client/pages.ts'
import { addAction, addActions } from '../kit/action-command.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { DataOption, subcommand } from '../kit/option-values.ts'
import { Paging, listPages, paged } from '../kit/paging.ts'
import { tableBelow } from '../output/table.ts'
import { MANDATE_ACTIONS, PAYER_MANDATE_ACTIONS, mandate } from './actions.ts'
import { mandateId, payerMandates } from './find.ts'

export const ListOptions = Paging.extend({ status: ConsentStatus.optional(), asPayer: z.boolean().default(false) })

export async function list(context: Context, { options }: InputOf<typeof ListOptions>): Promise<CommandResult> {
  const { status, asPayer: isPayer } = options
  if (isPayer) return listOfPayer(context)
  const read: PageReader<Mandate> = async (page) =>
    (await call(context.client(), listConsents, { query: { ...page, status } })).body
  await listPages(context, options, read, (rows) => printMandates(context, rows))
}

function printMandates({ print }: Context, items: readonly Mandate[]): void {
  print.list({
    items,
    fields: Object.keys(Mandate.shape),
    columns: [
      { title: 'id', value: (row) => row.consent_id, short: endOfId },
      { title: 'status', value: (row) => row.status, style: consentStyle },
      { title: 'at most', value: (row) => row.max_amount_per_payment, align: 'right' },
      { title: 'cur', value: (row) => row.currency },
      { title: 'payments', value: (row) => String(row.payment_count), align: 'right', dropped: 1 },
      { title: 'payer name', value: (row) => row.payer_name ?? '', least: 12, dropped: 2 },
      { title: 'valid to', value: (row) => shortTime(row.valid_to), short: dayOf },
    ],
    id: (row) => row.consent_id,
    empty: 'There are no such mandates.',
  })
}

/** Those that the payer who is signed in can end: all of them, on one page. */
async function listOfPayer(context: Context): Promise<CommandResult> {
  context.print.list({
    items: await payerMandates(asPayer(context.client(), context.io.env)),
    fields: Object.keys(PayerConsent.shape),
    columns: [
      { title: 'id', value: (row) => row.consent_id, short: endOfId },
      { title: 'merchant', value: (row) => row.merchant_name, least: 12 },
      { title: 'at most', value: (row) => row.max_amount_per_payment, align: 'right' },
      { title: 'cur', value: (row) => row.currency },
      { title: 'left', value: leftOf, least: 14, dropped: 2 },
      { title: 'payments', value: (row) => String(row.payment_count), align: 'right', dropped: 1 },
      { title: 'valid to', value: (row) => shortTime(row.valid_to), short: dayOf },
    ],
    id: (row) => row.consent_id,
    empty: 'There are no mandates.',
  })
}

/** What may still be taken in each period, where that is watched over (decision 49). */
function leftOf({ allowances, caps_enforced: isEnforced }: PayerConsent): string {
  if (!isEnforced) return allowances.length === 0 ? '' : 'not enforced'
  return allowances.map(({ period, remaining_amount: left }) => `${left} this ${period.toLowerCase()}`).join(', ')
}

/** How a consent's status looks: what can be used in green, what never can be again in red. */
function consentStyle(status: string): Style | undefined {
  if (status === 'AUTHORISED') return 'green'
  return status === 'AWAITING_AUTHORISATION' ? 'yellow' : 'red'
}

export async function show(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const client = context.client()
  const { body } = await call(client, getConsent, { params: { id: await mandateId(client, args[0] ?? '') } })
  printMandate(context, body)
}

function printMandate({ print }: Context, mandate: Mandate): void {
  const { currency } = mandate
  print.record({
    item: mandate,
    id: mandate.consent_id,
    lines: [
      ['Mandate', mandate.consent_id],
      ['Status', mandate.status],
      ['At most', `${mandate.max_amount_per_payment} ${currency} for each payment`],
      ['Caps', capsText(mandate)],
      ['Payer', mandate.payer_name ?? ''],
      ['Reference', mandate.remittance_reference ?? ''],
      ['Bank', mandate.debtor_bank_id ?? ''],
      ['Payments', `${mandate.payment_count}, the first ${mandate.first_payment_id}`],
      ['Valid to', endText(mandate)],
      ['Created', shortTime(mandate.created_at)],
    ],
    ...tableBelow(print, mandate.allowances, ALLOWANCE_COLUMNS),
  })
}

/** What the caps mean here (decision 49). */
function capsText({ caps_enforced: isEnforced }: Pick<Mandate, 'caps_enforced'>): string {
  return isEnforced ? 'the service refuses payments above them' : 'kept as they were given, and not enforced'
}

/** How near the end is, of a mandate that can still come to it. */
function endText({ status, valid_to: at }: Pick<Mandate, 'status' | 'valid_to'>): string {
  return status === 'AUTHORISED' ? `${shortTime(at)} (${distanceOf(at)})` : shortTime(at)
}

/** What is used of each period's cap, and what is left. */
const ALLOWANCE_COLUMNS = [
  { title: 'period', value: (row: Allowance) => row.period },
  { title: 'at most', value: (row: Allowance) => row.max_amount, align: 'right' as const },
  { title: 'used', value: (row: Allowance) => row.used_amount, align: 'right' as const },
  { title: 'left', value: (row: Allowance) => row.remaining_amount, align: 'right' as const },
  { title: 'begins anew', value: (row: Allowance) => shortTime(row.resets_at), short: minuteOf },
]

/** `svc payments mandates`: what payers have allowed a merchant to take again and again (decision 49). */
export function addMandates(payments: Command, runtime: Runtime): void {
  const mandates = subcommand(payments, 'mandates', 'List and end mandates for recurring payments')
  mandates.addHelpText('after', HELP)
  paged(
    subcommand(mandates, 'list', 'List mandates, newest first')
      .addOption(new Option('--status <status>', 'Filter by status').choices(ConsentStatus.options))
      .addOption(
        new DataOption('--as-payer', 'List mandates that the signed-in payer can cancel (svc payer verify)').conflicts([
          'status',
          'cursor',
        ]),
      ),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  svc payments mandates list --status AUTHORISED\n  svc payments mandates list --all -o csv > mandates.csv\n  svc payments mandates list --as-payer\n',
    )
    .action(action(runtime, ListOptions, list))
  subcommand(mandates, 'show', 'Show a mandate and what is left of its caps')
    .argument('<mandate>', mandate.summary)
    .addHelpText(
      'after',
      '\nExamples:\n  svc payments mandates show a2b4358c\n  svc payments mandates show a2b4358c -q status\n',
    )
    .action(action(runtime, z.object({}), show))
  addActions(payments, runtime, MANDATE_ACTIONS)
  for (const each of PAYER_MANDATE_ACTIONS)
    addAction(payments, runtime, each, { client: (context) => asPayer(context.client(), context.io.env) })
}

const HELP = `
A mandate is set up with its first payment, which its payer approves at the bank; later payments name it.

Examples:
  svc payments create --amount 9.99 --currency GBP --mandate --max-amount 20.00
  svc payments mandates list
  svc payments create --amount 9.99 --currency GBP --consent a2b4358c
`
