import { Mandate, getConsent, listConsents } from '../../src/wire/consents.ts'
import type { Allowance } from '../../src/wire/consents.ts'
import { PayerConsent } from '../../src/wire/payer.ts'
import { ConsentStatus } from '../../src/wire/payments.ts'
import { dayOf, endOfId, minuteOf, shortTime } from '../base/text.ts'
import { distanceOf } from '../base/times.ts'
import { asPayer } from '../client/auth/payer-session.ts'
import { command, argument } from '../kit/command.ts'
import type { CommandResult, Context } from '../kit/context.ts'
import { PAGING, listPages, pagesIn } from '../kit/paging.ts'
import { reading } from '../kit/reading.ts'
import type { ListView } from '../output/output.ts'
import { tableBelow, stylesOf } from '../output/table.ts'
import { MANDATE_ACTIONS, PAYER_MANDATE_ACTIONS, mandate } from './actions.ts'
import { mandateId, payerMandates } from './find.ts'

const list = command({
  command: 'payments mandates list',
  summary: 'List mandates, newest first',
  examples: [
    'svc payments mandates list --status AUTHORISED',
    'svc payments mandates list --all -o csv > mandates.csv',
    'svc payments mandates list --as-payer',
  ],
  flags: {
    status: { value: 'status', summary: 'Filter by status', choices: ConsentStatus.options },
    asPayer: {
      summary: 'List mandates that the signed-in payer can cancel (svc payer verify)',
      excludes: ['status', 'cursor'],
    },
    ...PAGING,
  },
  async run(context, input) {
    const { status, asPayer: isPayer } = input
    if (isPayer) return listOfPayer(context)
    await listPages(context, input, pagesIn(context.client(), listConsents, { query: { status } }), MANDATE_VIEW)
  },
})

const consentStyle = stylesOf({ AUTHORISED: 'green', AWAITING_AUTHORISATION: 'yellow' }, 'red')

const MANDATE_VIEW: ListView<Mandate> = {
  fields: Mandate,
  columns: [
    { title: 'id', value: (row) => row.consent_id, short: endOfId },
    { title: 'status', value: (row) => row.status, style: consentStyle },
    { title: 'at most', value: (row) => row.max_amount_per_payment, align: 'right' },
    { title: 'cur', value: (row) => row.currency },
    { title: 'payments', value: (row) => String(row.payment_count), align: 'right', dropped: 1 },
    { title: 'payer name', value: (row) => row.payer_name ?? '', least: 12, dropped: 2 },
    { title: 'valid to', value: (row) => shortTime(row.valid_to), short: dayOf },
  ],
  empty: 'There are no such mandates.',
}

/** Those that the payer who is signed in can end: all of them, on one page. */
async function listOfPayer(context: Context): Promise<CommandResult> {
  context.print.list(await payerMandates(asPayer(context.client(), context.io.env)), {
    fields: PayerConsent,
    columns: [
      { title: 'id', value: (row) => row.consent_id, short: endOfId },
      { title: 'merchant', value: (row) => row.merchant_name, least: 12 },
      { title: 'at most', value: (row) => row.max_amount_per_payment, align: 'right' },
      { title: 'cur', value: (row) => row.currency },
      { title: 'left', value: leftOf, least: 14, dropped: 2 },
      { title: 'payments', value: (row) => String(row.payment_count), align: 'right', dropped: 1 },
      { title: 'valid to', value: (row) => shortTime(row.valid_to), short: dayOf },
    ],
    empty: 'There are no mandates.',
  })
}

/** What may still be taken in each period, where that is watched over (decision 49). */
function leftOf({ allowances, caps_enforced: isEnforced }: PayerConsent): string {
  if (!isEnforced) return allowances.length === 0 ? '' : 'not enforced'
  return allowances.map(({ period, remaining_amount: left }) => `${left} this ${period.toLowerCase()}`).join(', ')
}

const show = reading({
  command: 'payments mandates show',
  summary: 'Show a mandate and what is left of its caps',
  examples: ['svc payments mandates show a2b4358c', 'svc payments mandates show a2b4358c -q status'],
  flags: { mandate: argument('mandate', mandate.summary) },
  operation: getConsent,
  request: async ({ mandate: given }, client) => ({ params: { id: await mandateId(client, given) } }),
  view: printMandate,
})

function printMandate({ print }: Context, mandate: Mandate): void {
  const { currency } = mandate
  print.record(
    mandate,
    [
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
    { after: tableBelow(print, mandate.allowances, ALLOWANCE_COLUMNS) },
  )
}

/** What the caps mean here (decision 49). */
function capsText({ caps_enforced: isEnforced }: Pick<Mandate, 'caps_enforced'>): string {
  return isEnforced ? 'the service rejects payments above them' : 'kept as they were given, and not enforced'
}

function endText({ status, valid_to: at }: Pick<Mandate, 'status' | 'valid_to'>): string {
  return status === 'AUTHORISED' ? `${shortTime(at)} (${distanceOf(at)})` : shortTime(at)
}

const ALLOWANCE_COLUMNS = [
  { title: 'period', value: (row: Allowance) => row.period },
  { title: 'at most', value: (row: Allowance) => row.max_amount, align: 'right' as const },
  { title: 'used', value: (row: Allowance) => row.used_amount, align: 'right' as const },
  { title: 'left', value: (row: Allowance) => row.remaining_amount, align: 'right' as const },
  { title: 'resets', value: (row: Allowance) => shortTime(row.resets_at), short: minuteOf },
]

const payerOf = ({ client, io }: Context) => asPayer(client(), io.env)

/** `svc payments mandates`: what payers have allowed a merchant to take again and again (decision 49). */
export const MANDATES = [
  {
    command: 'payments mandates',
    summary: 'List and end mandates for recurring payments',
    details:
      'A mandate is set up with its first payment, which its payer approves at the bank; later payments name it.',
    examples: [
      'svc payments create --amount 9.99 --currency GBP --mandate --max-amount 20.00',
      'svc payments mandates list',
      'svc payments create --amount 9.99 --currency GBP --consent a2b4358c',
    ],
  },
  list,
  show,
  ...MANDATE_ACTIONS,
  ...PAYER_MANDATE_ACTIONS.map((each) => ({ ...each, variant: { client: payerOf } })),
]
