import type { App } from '../app.ts'
import { makePagedJob, pageOf } from '../lib/paged-job.ts'
import { movePayment } from './move.ts'
import type { ExpiredPayment } from './record.ts'
import { listExpiredPayments } from './sql.ts'

/** Payments of one run; the next run follows at once while there are more. */
const PAYMENTS_MAX = 200

const runPage = makePagedJob<ExpiredPayment, ExpiredPayment>()

/** Fails payments that still wait for their payer after the end of their consent, every 30 seconds (decision 18). A job. */
export async function expireConsents(app: App): Promise<{ more: boolean }> {
  const { more } = await runPage(app, {
    list: async (after) => pageOf(await listExpiredPayments(app.pool, PAYMENTS_MAX, after), PAYMENTS_MAX),
    work: (payment) => expirePayment(app, payment),
    onFailure: (error, { id }) =>
      app.log.error({ err: error, payment_id: id }, 'a payment could not be expired; it is tried again'),
    concurrency: PAYMENTS_MAX,
  })
  return { more }
}

/**
 * Expires one payment and its consent. This move is allowed only after the consent's end, an authorisation only before
 * it, and both take the payment's row lock: exactly one of them wins.
 */
export async function expirePayment(
  app: App,
  payment: Pick<ExpiredPayment, 'id' | 'merchant_id' | 'status'>,
): Promise<void> {
  const rawPayload = JSON.stringify({
    job: 'expire-consents',
    reason: 'the consent ended before the payer authorised it',
  })
  await movePayment(app, {
    merchantId: payment.merchant_id,
    paymentId: payment.id,
    from: payment.status,
    on: 'expiry',
    rawPayload,
    failureCode: 'CONSENT_EXPIRED',
  })
}
