import { frequencyText, parseFrequency } from '../../src/lib/frequency.ts'
import { RecurringPaymentResponse, getRecurring, listRecurring } from '../../src/wire/recurring.ts'
import { dayOf, endOfId } from '../base/text.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { command, argument } from '../kit/command.ts'
import type { Context } from '../kit/context.ts'
import { reading } from '../kit/reading.ts'
import { resolveId } from '../kit/resolve-id.ts'
import type { Column } from '../output/table.ts'
import { OB_PAGING, idsOf } from './pages.ts'
import type { ObReader } from './pages.ts'
import { accountText, amountText, printPages, printRecord, statusStyle } from './print.ts'

export function idOf({ RecurringPaymentId }: RecurringPaymentResponse): string {
  return RecurringPaymentId
}

const COLUMNS: Column<RecurringPaymentResponse>[] = [
  { title: 'id', value: idOf, short: endOfId },
  // Remarks about shorter months are shown where there is room for them.
  { title: 'when', value: (row) => whenText(row.Frequency), short: withoutRemark, least: 16 },
  { title: 'amount', value: (row) => row.InstructedAmount.Amount, align: 'right' },
  { title: 'cur', value: (row) => row.InstructedAmount.Currency, dropped: 1 },
  { title: 'to', value: (row) => accountText(row.CreditorAccount), below: true },
  { title: 'next', value: (row) => inLondon(row.NextRunDateTime), short: dayOf },
  { title: 'status', value: (row) => row.Status, short: withoutStage, style: statusStyle },
]

// The form of Sweden is that of ISO 8601: 2026-12-01 09:00.
const LONDON = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/London', dateStyle: 'short', timeStyle: 'short' })

/** The time at which people there see a payment, which stays the same when clocks change. */
function inLondon(moment: string | undefined): string {
  return moment === undefined ? '' : `${LONDON.format(new Date(moment))} London`
}

function withoutRemark(text: string): string {
  return text.replace(/ \([^()]*\)$/, '')
}

/** Every stage but cancellation is one of the set-up, which a narrow table need not say. */
function withoutStage(status: string): string {
  return status.replace(/^Initiation/, '')
}

/** The frequency in words; one of a newer service as it is. */
function whenText(text: string): string {
  const frequency = parseFrequency(text)
  return 'refused' in frequency ? text : frequencyText(frequency)
}

export function printRecurring(context: Context, recurring: RecurringPaymentResponse): void {
  const { LastPayment: last } = recurring
  printRecord(context, recurring, [
    ['Recurring', idOf(recurring)],
    ['Status', recurring.Status],
    ['When', `${whenText(recurring.Frequency)} (${recurring.Frequency})`],
    ['Amount', amountText(recurring.InstructedAmount)],
    ['To', accountText(recurring.CreditorAccount)],
    ['From account', recurring.DebtorAccountId],
    ['Reference', recurring.RemittanceInformation?.Reference ?? ''],
    ['First', inLondon(recurring.FirstPaymentDateTime)],
    ['Second', inLondon(recurring.NextPaymentDateTime)],
    ['Final', inLondon(recurring.FinalPaymentDateTime)],
    ['Next', inLondon(recurring.NextRunDateTime)],
    ['Payments so far', String(recurring.NumberOfPayments)],
    [
      'Last payment',
      last === undefined ? '' : `${last.PaymentId} ${last.Status} ${last.StatusReasonCode ?? ''}`.trim(),
    ],
  ])
}

function reader(client: Client): ObReader<RecurringPaymentResponse> {
  return async (query) => (await call(client, listRecurring, { query })).body
}

export const list = command({
  command: 'ob recurring list',
  summary: 'List recurring payments, newest first',
  examples: ['svc ob recurring list', 'svc ob recurring list --all -o csv'],
  flags: OB_PAGING,
  async run(context, input) {
    await printPages(context, input, reader(context.client()), {
      fields: RecurringPaymentResponse,
      columns: COLUMNS,
      id: idOf,
      empty: 'There are no recurring payments.',
    })
  },
})

export function recurringId(client: Client, given: string): Promise<string> {
  return resolveId(given, 'recurring payment', () => idsOf(reader(client), idOf))
}

export const show = reading({
  command: 'ob recurring show',
  summary: 'Show a recurring payment and its next due date',
  examples: ['svc ob recurring show a2b4358c', 'svc ob recurring show a2b4358c -q NextRunDateTime'],
  flags: {
    recurring: argument('recurring', 'Its id, or its last 8 characters'),
  },
  operation: getRecurring,
  request: async ({ recurring }, client) => ({ params: { RecurringPaymentId: await recurringId(client, recurring) } }),
  view: printRecurring,
})
