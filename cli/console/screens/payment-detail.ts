import { getAdminPayment } from '../../../src/wire/console.ts'
import { getPayment } from '../../../src/wire/payments.ts'
import { listRefunds } from '../../../src/wire/refunds.ts'
import { listOutbox, listWebhooks } from '../../../src/wire/webhooks.ts'
import { call } from '../../client/call.ts'
import type { Detail, Reading } from '../screen.ts'
import { OWN } from './merchant-text.ts'
import { paymentLines } from './payment-lines.ts'
import type { PaymentRow, WholePayment } from './payment-lines.ts'

/** One payment with its timeline, wherever it is opened from. */
export const paymentDetail: Detail<PaymentRow, WholePayment> = {
  title: (row) => `${row.gross_amount} ${row.currency} ${row.status}`,
  resource: {
    read: readWhole,
    isDirty: (hint, id) => 'event' in hint && hint.event.payment_id === id,
  },
  row: ({ payment }) => payment,
  lines: paymentLines,
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
