import { formatNumeric } from '../../lib/money.ts'
import { failRefund } from '../../payments/refunds/fail-refund.ts'
import { listRefunds } from '../../payments/refunds/list-refunds.ts'
import { refundPayment } from '../../payments/refunds/refund-payment.ts'
import { remainingAmount } from '../../payments/refunds/refundable-amount.ts'
import type * as wire from '../../wire/refunds.ts'
import type { Handlers } from '../endpoint.ts'
import { merchantIdOf, operatorOf } from '../principal.ts'
import { auditedBody } from './audited-body.ts'
import { presentRefund } from './present-payment.ts'

export const refunds: Handlers<typeof wire> = {
  /** POST /api/v1/payments/{id}/refund */
  async refundPayment(app, { principal, params, headers, body, rawBody }) {
    const { payment, refund } = await refundPayment(app, {
      merchantId: merchantIdOf(principal),
      id: params.id,
      body: body ?? {},
      rawBody: auditedBody(rawBody),
      idempotencyKey: headers['x-idempotency-key'],
    })
    return {
      status: refund.status === 'PENDING' ? 202 : 200,
      body: {
        payment_id: payment.id,
        status: payment.status,
        refund_id: refund.id,
        refund_status: refund.status,
        refunded_amount: formatNumeric(payment.refunded_amount, payment.currency),
        remaining_amount: formatNumeric(remainingAmount(payment), payment.currency),
      },
    }
  },

  /** GET /api/v1/payments/{id}/refunds */
  async listRefunds(app, { principal, params, query }) {
    const key = { merchantId: merchantIdOf(principal), id: params.id }
    const { refunds, nextCursor } = await listRefunds(app, { ...key, limit: query.limit, cursor: query.cursor })
    return {
      status: 200,
      body: { data: refunds.map(presentRefund), has_more: nextCursor !== null, next_cursor: nextCursor },
    }
  },

  /** POST /api/v1/admin/refunds/{id}/fail */
  async failRefund(app, { principal, params, body }) {
    const refund = await failRefund(app, { ...body, id: params.id, actor: operatorOf(principal).actor })
    return { status: 200, body: presentRefund(refund) }
  },
}
