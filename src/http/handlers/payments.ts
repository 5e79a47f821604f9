import type { App } from '../../app.ts'
import { startPayment } from '../../checkout/start-payment.ts'
import { failureOfPayment } from '../../lib/failure-codes.ts'
import { cancelPayment } from '../../payments/cancel-payment.ts'
import { completeSca } from '../../payments/complete-sca.ts'
import { createPayment } from '../../payments/create-payment.ts'
import { getPayment } from '../../payments/get-payment.ts'
import { listPaymentEvents, listPayments } from '../../payments/list-payments.ts'
import type * as wire from '../../wire/payments.ts'
import { CheckoutPayment } from '../../wire/new-payment.ts'
import type { Handlers, Input, Reply } from '../endpoint.ts'
import { merchantIdOf } from '../principal.ts'
import type { CheckoutPrincipal } from '../principal.ts'
import { auditedBody } from './audited-body.ts'
import { presentPayment, presentSummary, presentToPayer } from './present-payment.ts'

export const payments: Handlers<typeof wire> = {
  /** POST /api/v1/payments */
  async createPayment(app, { principal, headers, body, rawBody }) {
    if (principal.kind === 'checkout-token') return createFromCheckout(app, { principal, headers, body })
    if (principal.kind !== 'merchant') throw new Error('only merchants create payments')
    const scenario = body.scenario ?? headers['x-sandbox-scenario']
    const { created, payment } = await createPayment(app, {
      merchant: { id: principal.merchantId, tradingName: principal.tradingName },
      idempotencyKey: headers['x-idempotency-key'],
      body: scenario === undefined ? body : { ...body, scenario },
      rawBody: rawBody.toString('utf8'),
    })
    return {
      status: created ? 201 : 200,
      body: payment,
      headers: { location: `/api/v1/payments/${payment.payment_id}` },
    }
  },

  /** GET /api/v1/payments */
  async listPayments(app, { principal, query }) {
    const { payments, nextCursor } = await listPayments(app, { merchantId: merchantIdOf(principal), query })
    return {
      status: 200,
      body: { data: payments.map(presentSummary), has_more: nextCursor !== null, next_cursor: nextCursor },
    }
  },

  /** GET /api/v1/payments/{id} */
  async getPayment(app, { principal, params }) {
    const payment = await getPayment(app, { merchantId: merchantIdOf(principal), id: params.id })
    return { status: 200, body: principal.kind === 'payment-state' ? presentToPayer(payment) : presentPayment(payment) }
  },

  /** GET /api/v1/payments/{id}/events */
  async listPaymentEvents(app, { principal, params }) {
    const events = await listPaymentEvents(app, { merchantId: merchantIdOf(principal), id: params.id })
    return { status: 200, body: { data: [...events], has_more: false, next_cursor: null } }
  },

  /** POST /api/v1/payments/{id}/sca-complete */
  async completeSca(app, { params, body, rawBody }) {
    const payment = await completeSca(app, { id: params.id, body, rawBody: rawBody.toString('utf8') })
    const { id, status, end_to_end_id } = payment
    return { status: 200, body: { payment_id: id, status, end_to_end_id, failure: failureOfPayment(payment) } }
  },

  /** POST /api/v1/payments/{id}/cancel */
  async cancelPayment(app, { principal, params, rawBody }) {
    const by = principal.kind === 'payment-state' ? 'payer' : 'merchant'
    const payment = await cancelPayment(app, {
      merchantId: merchantIdOf(principal),
      id: params.id,
      by,
      rawBody: auditedBody(rawBody),
    })
    return { status: 200, body: by === 'payer' ? presentToPayer(payment) : presentPayment(payment) }
  },
}

type CheckoutInput = Pick<Input<typeof wire.createPayment>, 'headers' | 'body'> & { principal: CheckoutPrincipal }

/** Creates a payment from a checkout token: the payer's browser calls, with the token that the merchant's server gave it. */
async function createFromCheckout(
  app: App,
  { principal, headers, body }: CheckoutInput,
): Promise<Reply<typeof wire.createPayment>> {
  const choice = CheckoutPayment.parse(body)
  const scenario = choice.scenario ?? headers['x-sandbox-scenario']
  const { created, payment } = await startPayment(app, {
    checkout: principal.checkout,
    idempotencyKey: headers['x-idempotency-key'],
    body: scenario === undefined ? choice : { ...choice, scenario },
  })
  return { status: created ? 201 : 200, body: payment, headers: { location: `/api/v1/payments/${payment.payment_id}` } }
}
