import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { enqueueWebhook } from '../webhooks/enqueue.ts'
import { consentEventData } from './event-data.ts'
import { consentNotFound } from './get-consent.ts'
import type { LockedConsent } from './record.ts'
import { findMandate, lockConsent, revokeConsentRow } from './sql.ts'

/** `by` is the side that ends it; for a payer, the payer hub has checked that the consent is the payer's own. */
export type EndConsentInput = { merchantId: string; consentId: string; by: 'PAYER' | 'MERCHANT' }

/**
 * Ends a mandate at once and for good: no payment is made under it any more (decisions 18, 25 and 177). The webhook to its
 * merchant is queued in the same transaction; a job reports the end to its bank. A repeat has the same result, whichever
 * side ended it.
 * @throws {DomainError} CONSENT_NOT_FOUND, CONSENT_NOT_REVOCABLE
 */
export async function endConsent(app: App, { merchantId, consentId, by }: EndConsentInput): Promise<void> {
  if (!isUuid(consentId)) throw consentNotFound()
  const key = { merchantId, id: consentId }
  const isFirst = await app.pool.transaction(async (tx) => {
    const consent = await lockConsent(tx, key)
    if (consent === null) throw consentNotFound()
    if (consent.status === 'REVOKED') return false
    checkActive(consent)
    if (!(await revokeConsentRow(tx, { ...key, by })))
      throw new Error('an active mandate whose row is locked did not end')
    const mandate = await findMandate(tx, key)
    if (mandate === null) throw new Error('a mandate that was ended is missing')
    const data = consentEventData(mandate, { isTest: app.config.mode === 'sandbox' })
    const about = { payment: null, subjectId: consentId }
    await enqueueWebhook(app, tx, { merchantId, eventType: 'consent.revoked', ...about, data })
    return true
  })
  if (!isFirst) return
  app.log.info({ consent_id: consentId, by }, 'a mandate was ended')
  app.wake.notify('deliver-webhooks')
  app.wake.notify('end-mandates')
}

function checkActive({ consent_type: type, status, is_over: isOver }: LockedConsent): void {
  if (type !== 'VARIABLE_RECURRING') throw notRevocable('the consent is for a single payment and not a mandate')
  if (status === 'AWAITING_AUTHORISATION' && !isOver) {
    throw notRevocable(
      'the payer has not authorised the mandate yet',
      'cancel its first payment: POST /api/v1/payments/{id}/cancel',
    )
  }
  if (status !== 'AUTHORISED' || isOver) throw notRevocable(`the mandate is ${isOver ? 'EXPIRED' : status}`)
}

function notRevocable(message: string, next?: string): DomainError {
  return new DomainError('CONSENT_NOT_REVOCABLE', message, next === undefined ? {} : { next })
}
