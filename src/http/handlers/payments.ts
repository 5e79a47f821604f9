import type { App } from '../../app.ts'
import { startPayment } from '../../checkout/start-payment.ts'
import { cancelPayment } from '../../payments/cancel-payment.ts'
import { completeSca } from '../../payments/complete-sca.ts'
import { createPayment } from '../../payments/create-payment.ts'
import { listRefunds as readRefunds } from '../../payments/refunds/list-refunds.ts'
import { getPayment } from '../../payments/get-payment.ts'
import { listPaymentEvents, listPayments } from '../../payments/list-payments.ts'
import { refundPayment } from '../../payments/refunds/refund-payment.ts'
import { remainingAmount } from '../../payments/refunds/refundable-amount.ts'
import { formatNumeric } from '../../lib/money.ts'
import type * as wire from '../../wire/payments.ts'
import type * as wireRefunds from '../../wire/refunds.ts'
import { CheckoutPayment } from '../../wire/new-payment.ts'
import type { Handler, Input, Reply } from '../endpoint.ts'
import { merchantIdOf } from '../principal.ts'
import type { CheckoutPrincipal } from '../principal.ts'
import { presentFailure, presentPayment, presentRefund, presentSummary, presentToPayer } from './present-payment.ts'

/** POST /api/v1/payments */
export const create: Handler<typeof wire.createPayment> = async (app, { principal, headers, body, rawBody }) => {
  if (principal.kind === 'checkout-token') return start(app, { principal, headers, body })
  if (principal.kind !== 'merchant') throw new Error('only merchants create payments')
  const scenario = body.scenario ?? headers['x-sandbox-scenario']
  const { created, payment } = await createPayment(app, {
    merchant: { id: principal.merchantId, tradingName: principal.tradingName },
    idempotencyKey: headers['x-idempotency-key'],
    body: scenario === undefined ? body : { ...body, scenario },
    rawBody: rawBody.toString('utf8'),
  })
  return { status: created ? 201 : 200, body: payment, headers: { location: `/api/v1/payments/${payment.payment_id}` } }
}

type Start = Pick<Input<typeof wire.createPayment>, 'headers' | 'body'> & { principal: CheckoutPrincipal }

/** The same by a payer's browser, with what the merchant's server gave it. */
async function start(app: App, { principal, headers, body }: Start): Promise<Reply<typeof wire.createPayment>> {
  const chosen = CheckoutPayment.parse(body)
  const scenario = chosen.scenario ?? headers['x-sandbox-scenario']
  const { created, payment } = await startPayment(app, {
    checkout: principal.checkout,
    idempotencyKey: headers['x-idempotency-key'],
    body: scenario === undefined ? chosen : { ...chosen, scenario },
  })
  return { status: created ? 201 : 200, body: payment, headers: { location: `/api/v1/payments/${payment.payment_id}` } }
}

/** GET /api/v1/payments */
export const list: Handler<typeof wire.listPayments> = async (app, { principal, query }) => {
  const { payments, nextCursor } = await listPayments(app, { merchantId: merchantIdOf(principal), query })
  return {
    status: 200,
    body: { data: payments.map(presentSummary), has_more: nextCursor !== null, next_cursor: nextCursor },
  }
}

/** GET /api/v1/payments/{id} */
export const get: Handler<typeof wire.getPayment> = async (app, { principal, params }) => {
  const payment = await getPayment(app, { merchantId: merchantIdOf(principal), id: params.id })
  return { status: 200, body: principal.kind === 'payment-state' ? presentToPayer(payment) : presentPayment(payment) }
}

/** GET /api/v1/payments/{id}/events */
export const listEvents: Handler<typeof wire.listPaymentEvents> = async (app, { principal, params }) => {
  const events = await listPaymentEvents(app, { merchantId: merchantIdOf(principal), id: params.id })
  return { status: 200, body: { data: [...events], has_more: false, next_cursor: null } }
}

/** POST /api/v1/payments/{id}/sca-complete */
export const complete: Handler<typeof wire.completeSca> = async (app, { params, body, rawBody }) => {
  const payment = await completeSca(app, { id: params.id, body, rawBody: rawBody.toString('utf8') })
  const { id, status, end_to_end_id } = payment
  return { status: 200, body: { payment_id: id, status, end_to_end_id, failure: presentFailure(payment) } }
}

/** POST /api/v1/payments/{id}/cancel */
export const cancel: Handler<typeof wire.cancelPayment> = async (app, { principal, params, rawBody }) => {
  const by = principal.kind === 'payment-state' ? 'payer' : 'merchant'
  const payment = await cancelPayment(app, {
    merchantId: merchantIdOf(principal),
    id: params.id,
    by,
    rawBody: bodyText(rawBody),
  })
  return { status: 200, body: by === 'payer' ? presentToPayer(payment) : presentPayment(payment) }
}

/** POST /api/v1/payments/{id}/refund */
export const refund: Handler<typeof wireRefunds.refundPayment> = async (
  app,
  { principal, params, headers, body, rawBody },
) => {
  const result = await refundPayment(app, {
    merchantId: merchantIdOf(principal),
    id: params.id,
    body: body ?? {},
    rawBody: bodyText(rawBody),
    idempotencyKey: headers['x-idempotency-key'],
  })
  const { payment, refund: made } = result
  return {
    status: made.status === 'PENDING' ? 202 : 200,
    body: {
      payment_id: payment.id,
      status: payment.status,
      refund_id: made.id,
      refund_status: made.status,
      refunded_amount: formatNumeric(payment.refunded_amount, payment.currency),
      remaining_amount: formatNumeric(remainingAmount(payment), payment.currency),
    },
  }
}

/** GET /api/v1/payments/{id}/refunds */
export const listRefunds: Handler<typeof wireRefunds.listRefunds> = async (app, { principal, params, query }) => {
  const of = { merchantId: merchantIdOf(principal), id: params.id }
  const { refunds, nextCursor } = await readRefunds(app, { ...of, limit: query.limit, cursor: query.cursor })
  return {
    status: 200,
    body: { data: refunds.map(presentRefund), has_more: nextCursor !== null, next_cursor: nextCursor },
  }
}

/** The audit trail keeps a request without a body as the empty object it stands for. */
function bodyText(rawBody: Buffer): string {
  return rawBody.length === 0 ? '{}' : rawBody.toString('utf8')
}
