import { getAdminPayment } from '../../../src/wire/console.ts'
import type { AdminPayment, AdminPaymentSummary } from '../../../src/wire/console.ts'
import { getPayment } from '../../../src/wire/payments.ts'
import { listRefunds } from '../../../src/wire/refunds.ts'
import type { RefundRow } from '../../../src/wire/refunds.ts'
import { listOutbox, listWebhooks } from '../../../src/wire/webhooks.ts'
import type { Delivery } from '../../../src/wire/webhooks.ts'
import { call } from '../../client/call.ts'
import { REFUND_COLUMNS } from '../../payments/read.ts'
import { printPayment } from '../../payments/view.ts'
import { deliveryColumns } from '../../webhooks/view.ts'
import { heading, keyText, line } from '../lines.ts'
import { tableLines } from '../record-lines.ts'
import type { Detail, Reading } from '../screen.ts'
import { OWN, ownerWhole } from './merchant-text.ts'

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

/** One payment with its timeline, wherever it is opened from. */
export const paymentDetail: Detail<PaymentRow, WholePayment> = {
  title: (row) => `${row.gross_amount} ${row.currency} ${row.status}`,
  read: readWhole,
  isDirty: (hint, id) => 'event' in hint && hint.event.payment_id === id,
  row: ({ payment }) => payment,
  print: (context, { row, whole }) => printPayment(context, whole?.payment ?? row, [['Merchant', ownerWhole(row)]]),
  below: ({ refunds, deliveries }, { width, keys }) => [
    ...(refunds.length === 0 ? [] : [...heading('Refunds'), ...tableLines(refunds, REFUND_COLUMNS, width)]),
    ...heading(`Webhooks${keyText(keys, 'o', 'opens them')}`),
    ...(deliveries.length === 0
      ? [line('None were sent, or you may not see them.', 'dim')]
      : tableLines(deliveries.toReversed(), deliveryColumns(), width)),
  ],
}

async function readWhole({ client, who, arg: id }: Reading): Promise<WholePayment> {
  if (who.kind === 'platform') {
    const [{ body: payment }, { body: sent }] = await Promise.all([
      call(client, getAdminPayment, { params: { id } }),
      call(client, listOutbox, { query: { payment_id: id, limit: 50 } }),
    ])
    return { payment, deliveries: sent.data, refunds: payment.refunds }
  }
  const [{ body: payment }, refunds, deliveries] = await Promise.all([
    call(client, getPayment, { params: { id } }),
    call(client, listRefunds, { params: { id }, query: { limit: 50 } }),
    who.permissions.includes('manage webhooks')
      ? call(client, listWebhooks, { query: { payment_id: id } }).then(({ body }) => body.data)
      : [],
  ])
  // Only a payer's capability gets a payer's view, and this is a merchant.
  if (!('consent_id' in payment)) throw new Error('the service answered with what a payer may see')
  return { payment: { ...payment, ...OWN }, deliveries, refunds: refunds.body.data }
}
