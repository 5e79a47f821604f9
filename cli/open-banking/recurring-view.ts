import { frequencyText, parseFrequency } from '../../src/lib/frequency.ts'
import type { RecurringPaymentResponse } from '../../src/wire/recurring.ts'
import type { Context } from '../kit/context.ts'
import type { Column } from '../output/table.ts'
import { dayOf, endOfId } from '../base/text.ts'
import { accountText, moneyText, printRecord, statusStyle } from './print.ts'

export function idOf({ RecurringPaymentId }: RecurringPaymentResponse): string {
  return RecurringPaymentId
}

export const COLUMNS: Column<RecurringPaymentResponse>[] = [
  { title: 'id', value: idOf, short: endOfId },
  // What it says of shorter months is told where there is room for it.
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
  printRecord(context, {
    item: recurring,
    id: idOf(recurring),
    lines: [
      ['Recurring', idOf(recurring)],
      ['Status', recurring.Status],
      ['When', `${whenText(recurring.Frequency)} (${recurring.Frequency})`],
      ['Amount', moneyText(recurring.InstructedAmount)],
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
    ],
  })
}
