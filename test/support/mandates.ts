import { randomUUID } from 'node:crypto'
import { atBank, createPayment } from './app.ts'
import type { Answer, TestMerchant, TestService } from './app.ts'
import { completeSca } from './payments.ts'

/** What sets up a mandate with a first payment of 50.00. */
export function mandateBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { consent_type: 'VARIABLE_RECURRING', control_parameters: { max_amount_per_payment: 100 }, ...changes }
}

/** Sets up a mandate and lets its payer authorise it. */
export async function authorisedMandate(
  service: TestService,
  merchant: TestMerchant,
  changes: Record<string, unknown> = {},
): Promise<{ consentId: string; paymentId: string }> {
  const { status, body, text } = await createPayment(service, merchant, mandateBody(changes))
  if (status !== 201) throw new Error(text)
  const done = await completeSca(service, body.payment_id, await atBank(body.redirect_url, 'approve'))
  // A worker may have settled it by now.
  if (!['Authorised', 'Settled'].includes(done.body.status)) throw new Error(done.text)
  return { consentId: body.consent_id, paymentId: body.payment_id }
}

/** Asks for a payment under a mandate. */
export function payUnder(
  service: TestService,
  merchant: TestMerchant,
  {
    consentId,
    changes = {},
    key = randomUUID(),
    isOnce = false,
  }: { consentId: string; changes?: Record<string, unknown>; key?: string; isOnce?: boolean },
): Promise<Answer> {
  return service.call('POST', '/api/v1/payments', {
    merchant,
    isOnce,
    headers: { 'x-idempotency-key': key },
    body: { amount: '10.00', currency: 'GBP', consent_id: consentId, ...changes },
  })
}

/** A mandate as its merchant reads it. */
export function readMandate(service: TestService, merchant: TestMerchant, consentId: string): Promise<Answer> {
  return service.call('GET', `/api/v1/portal/consents/${consentId}`, { merchant })
}

/** Ends a mandate as its merchant. */
export function endMandate(service: TestService, merchant: TestMerchant, consentId: string): Promise<Answer> {
  return service.call('DELETE', `/api/v1/portal/consents/${consentId}`, { merchant })
}

/** Lets a mandate's time pass; its bank does not know. */
export async function passMandate({ owner }: Pick<TestService, 'owner'>, consentId: string): Promise<void> {
  await owner.query(
    `update payment_consents set expires_at = now() - interval '1 second', valid_to = now() - interval '1 second' where id = $1`,
    [consentId],
  )
}

/** Gives back what a silent bank or a killed worker holds, as if the lease had ended. */
export async function endLeases({ owner }: Pick<TestService, 'owner'>): Promise<void> {
  await owner.query(`
    update payment_intents
    set locked_until = null, settle_at = case when status = 'Authorised' then settle_at end
    where under_mandate`)
  await owner.query(
    `update payment_consents set revocation_due_at = now() - interval '1 second' where revocation_due_at is not null`,
  )
}
