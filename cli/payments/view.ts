import type { CreatedPayment, Payment, PaymentSummary, PayerView } from '../../src/wire/payments.ts'
import type { Refund } from '../../src/wire/refunds.ts'
import type { Context } from '../kit/context.ts'
import { tableBelow, stylesOf } from '../output/table.ts'
import { shortTime } from '../base/text.ts'

export const statusStyle = stylesOf({ Settled: 'green', Failed: 'red', Refunded: 'magenta' }, 'yellow')

export function isRefunded({ refunded_amount: amount }: { refunded_amount: string }): boolean {
  return /[1-9]/.test(amount)
}

/** @param hasQr whether a QR code follows, with the address that leads to the bank below it */
export function printCreated({ print, note }: Context, payment: CreatedPayment, { hasQr }: { hasQr: boolean }): void {
  print.record(payment, [
    ['Payment', payment.payment_id],
    ['Status', payment.status],
    ['Amount', `${payment.gross_amount} ${payment.currency}`],
    ['Fee', `${payment.fee_amount} (net ${payment.net_amount})`],
    ['End-to-end id', payment.end_to_end_id],
    ['Expires', shortTime(payment.expires_at)],
    ["Bank's page", hasQr ? '' : (payment.redirect_url ?? '')],
  ])
  const get = `svc payments show ${payment.payment_id}`
  if (!print.isMachine) note(payment.redirect_url === null ? `Next: ${get}` : `Next: open the bank's page, or ${get}`)
}

/** A payment as far as it is known: a list has no history. */
type PaymentRecord = PaymentSummary & Partial<Pick<Payment, 'status_history'>>

/** @param more lines for people behind the first, about whose it is */
export function printPayment(
  { print }: Pick<Context, 'print'>,
  payment: PaymentRecord | PayerView,
  more: readonly [string, string][] = [],
): void {
  const { failure } = payment
  const lines: [string, string][] = [
    ['Payment', payment.payment_id],
    ...more,
    ['Status', payment.status],
    ['Amount', `${payment.gross_amount} ${payment.currency}`],
    ['Fee', `${payment.fee_amount} (net ${payment.net_amount})`],
    ['Refunded', isRefunded(payment) ? payment.refunded_amount : ''],
    ['Failure', failure === null ? '' : `${failure.code}: ${failure.reason} (${failure.source}, ${failure.iso_code})`],
    ['End-to-end id', payment.end_to_end_id],
    ...('consent_id' in payment ? merchantLines(payment) : []),
    ['Expires', shortTime(payment.expires_at)],
    ['Created', shortTime(payment.created_at)],
  ]
  const { status_history: history = [] } = payment
  print.record(payment, lines, { after: tableBelow(print, history, HISTORY_COLUMNS) })
}

function merchantLines(payment: PaymentSummary): [string, string][] {
  const metadata = Object.entries(payment.metadata ?? {}).map(([name, value]) => `${name}=${value}`)
  return [
    ['Consent', `${payment.consent_id} (${payment.consent_status})`],
    ['Payer', payment.payer_name ?? ''],
    ['Reference', payment.remittance_reference ?? ''],
    ['Metadata', metadata.join(', ')],
    ["Bank's page", payment.status === 'AwaitingAuthorisation' ? (payment.redirect_url ?? '') : ''],
  ]
}

export function printRefund({ print, note }: Context, refund: Refund): void {
  print.record(refund, [
    ['Refund', refund.refund_id],
    ['Status', refund.refund_status],
    ['Payment', `${refund.payment_id} (${refund.status})`],
    ['Refunded', refund.refunded_amount],
    ['Remaining', refund.remaining_amount],
  ])
  if (refund.refund_status === 'PENDING')
    note(`The bank has not answered yet; the refund goes on by itself: svc payments refunds ${refund.payment_id}`)
}

type StatusChange = Payment['status_history'][number]

const HISTORY_COLUMNS = [
  // The time of day is enough where there is no room.
  { title: 'time', value: (change: StatusChange) => change.created_at, short: (time: string) => time.slice(11, 23) },
  { title: 'from', value: (change: StatusChange) => change.previous_status ?? '-' },
  { title: 'to', value: (change: StatusChange) => change.new_status },
  { title: 'by', value: (change: StatusChange) => change.changed_by },
]

/** Shows each new status once, on standard error, while a person waits at a terminal. */
export function progressTo({ io, paint, note }: Context): (payment: Payment | PayerView) => void {
  let shown = 0
  return (payment) => {
    if (!io.stderr.isTTY) return
    for (const change of payment.status_history.slice(shown)) {
      note(
        `${paint('dim', change.created_at.slice(11, 23))}  ${paint(statusStyle(change.new_status), change.new_status)}`,
      )
    }
    shown = payment.status_history.length
  }
}
