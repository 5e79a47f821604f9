import type { AdminPayment, AdminPaymentSummary } from '../../../src/wire/console.ts'
import type { RefundRow } from '../../../src/wire/refunds.ts'
import type { Delivery } from '../../../src/wire/webhooks.ts'
import { refundStyle } from '../../payments/read.ts'
import { printPayment } from '../../payments/view.ts'
import { deliveryStyle } from '../../webhooks/view.ts'
import { minuteOf, shortTime } from '../../base/text.ts'
import { EMPTY_LINE, heading, keyText, line } from '../lines.ts'
import type { Line } from '../lines.ts'
import { untilText } from '../model/ages.ts'
import { recordLines } from '../record-lines.ts'
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

/** A payment in detail: its money and its history, its refunds and its webhooks. */
export function paymentLines(
  { row, whole }: { row: PaymentRow; whole: WholePayment | undefined },
  { width, now, keys }: Layout,
): Line[] {
  const known = whole?.payment ?? row
  return [
    ...recordLines(width, (context) => printPayment(context, known, [['Merchant', ownerWhole(row)]])),
    ...(whole === undefined ? [EMPTY_LINE, line('Loading ...', 'dim')] : []),
    ...refundLines(whole, width),
    ...deliveryLines(whole, { width, now, keys }),
  ]
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
