import type { AdminPayment, AdminPaymentSummary } from '../../../src/wire/console.ts'
import type { RefundRow } from '../../../src/wire/refunds.ts'
import type { Delivery } from '../../../src/wire/webhooks.ts'
import type { Style } from '../../base/io.ts'
import { minuteOf, shortTime } from '../../base/text.ts'
import { heading, keyText, line, pairs } from '../lines.ts'
import type { Line, Tone } from '../lines.ts'
import { ageOf, untilText } from '../model/ages.ts'
import type { Layout } from '../screen.ts'
import { tableLines } from '../table-lines.ts'
import { ownerWhole } from './merchant-text.ts'

/** A payment of the list; a merchant's own names no merchant. */
export type PaymentRow = Omit<AdminPaymentSummary, 'merchant_id' | 'trading_name'> & {
  merchant_id: string | null
  trading_name: string | null
}

/** A payment with what belongs to it. */
export type WholePayment = {
  payment: PaymentRow & Pick<AdminPayment, 'status_history'>
  deliveries: readonly Delivery[]
  refunds: readonly RefundRow[]
}

/** How a status looks: an end in green or red, a way still to go in yellow. */
export function statusStyle(status: string): Style {
  if (status === 'Settled') return 'green'
  if (status === 'Failed') return 'red'
  return status === 'Refunded' ? 'magenta' : 'yellow'
}

function statusTone(status: string): Tone {
  return ({ Settled: 'good', Failed: 'bad', Refunded: 'info' } as const)[status] ?? 'warn'
}

export function isRefunded({ refunded_amount: amount }: PaymentRow): boolean {
  return /[1-9]/.test(amount)
}

/** A payment in detail: its money, its way with who moved it, its consent, its refunds and its webhooks. */
export function paymentLines(
  { row, whole }: { row: PaymentRow; whole: WholePayment | undefined },
  { width, now, keys }: Layout,
): Line[] {
  const { failure } = row
  return [
    ...pairs(
      [
        ['Payment', row.payment_id],
        ['Merchant', ownerWhole(row)],
        ['Status', row.status, statusTone(row.status)],
        ['Amount', `${row.gross_amount} ${row.currency} = ${row.net_amount} net + ${row.fee_amount} fee`],
        ['Refunded', isRefunded(row) ? `${row.refunded_amount} ${row.currency}` : ''],
        [
          'Failure',
          failure === null ? '' : `${failure.code}: ${failure.reason} (${failure.source}, ${failure.iso_code})`,
          'bad',
        ],
        ['Payer', row.payer_name ?? ''],
        ['Bank', row.debtor_bank_id ?? ''],
        ['Reference', row.remittance_reference ?? ''],
        ['End-to-end id', row.end_to_end_id],
        ['Consent', `${row.consent_id} ${row.consent_type} ${row.consent_status}`],
        ['Created', `${shortTime(row.created_at)} (${ageOf(row.created_at, now)} ago)`],
        ['Expires', row.status === 'AwaitingAuthorisation' ? untilText(row.expires_at, now) : ''],
      ],
      width,
    ),
    ...historyLines(whole, width),
    ...refundLines(whole, width),
    ...deliveryLines(whole, { width, now, keys }),
  ]
}

/** The way of the payment, as a line of steps with who took each. */
function historyLines(whole: WholePayment | undefined, width: number): Line[] {
  if (whole === undefined) return [...heading('History'), line('Loading ...', 'dim')]
  const history = whole.payment.status_history
  return [
    ...heading('History'),
    ...history.flatMap(({ created_at: at, new_status: status, changed_by: by }, index): Line[] => {
      const before = history[index - 1]?.created_at
      const after = before === undefined ? '' : ` after ${stepText(Date.parse(at) - Date.parse(before))}`
      const isLast = index === history.length - 1
      return [
        [
          { text: isLast ? 'o ' : '| ', tone: 'dim' },
          { text: at.slice(11, 23), tone: 'dim' },
          { text: `  ${status}`, tone: statusTone(status) },
          { text: width < 70 ? `  ${by}` : `  by ${by}${after}`, tone: 'dim' },
        ],
      ]
    }),
  ]
}

/** How long a step took; most take less than a second. */
function stepText(ms: number): string {
  if (ms < 1_000) return `${ms} ms`
  return ms < 120_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`
}

function refundLines(whole: WholePayment | undefined, width: number): Line[] {
  if (whole === undefined || whole.refunds.length === 0) return []
  return [
    ...heading('Refunds'),
    ...tableLines(
      whole.refunds,
      [
        { title: 'asked', value: (row) => shortTime(row.created_at), short: minuteOf },
        { title: 'status', value: (row) => row.refund_status, style: refundStyle },
        { title: 'amount', value: (row) => row.amount, align: 'right' },
        { title: 'reason', value: (row) => row.reason ?? '', least: 8 },
        { title: 'failure', value: (row) => row.failure?.code ?? '', least: 8 },
      ],
      width,
    ),
  ]
}

function refundStyle(status: string): Style {
  if (status === 'EXECUTED') return 'green'
  return status === 'FAILED' ? 'red' : 'yellow'
}

function deliveryLines(
  whole: WholePayment | undefined,
  { width, now, keys }: Pick<Layout, 'width' | 'now' | 'keys'>,
): Line[] {
  if (whole === undefined) return []
  if (whole.deliveries.length === 0)
    return [...heading('Webhooks'), line('None were sent, or you may not see them.', 'dim')]
  return [
    ...heading(`Webhooks${keyText(keys, 'o', 'opens them')}`),
    ...tableLines(
      whole.deliveries.toReversed(),
      [
        { title: 'event', value: (row) => row.event_type },
        { title: 'status', value: (row) => row.status, style: deliveryStyle },
        { title: 'http', value: (row) => String(row.last_http_status ?? '') },
        { title: 'attempt', value: (row) => `${row.attempt_count}/6` },
        {
          title: 'next',
          value: (row) => (row.status === 'DELIVERED' ? '' : untilText(row.next_retry_at, now)),
          dropped: 1,
        },
        { title: 'error', value: (row) => row.last_error ?? '', least: 8 },
      ],
      width,
    ),
  ]
}

function deliveryStyle(status: string): Style {
  if (status === 'DELIVERED') return 'green'
  return status === 'DEAD' ? 'red' : 'yellow'
}
