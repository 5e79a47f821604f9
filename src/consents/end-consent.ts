import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { enqueueWebhook } from '../webhooks/enqueue.ts'
import { consentEventData } from './event-data.ts'
import { consentNotFound } from './get-consent.ts'
import type { LockedConsent } from './record.ts'
import { findMandate, lockConsent, revokeConsentRow } from './sql.ts'

/** Whose wish it is; a payer's hub has made sure that the consent is the payer's own. */
export type EndConsentInput = { merchantId: string; consentId: string; by: 'PAYER' | 'MERCHANT' }

/**
 * Ends a mandate at once and for good: no payment is made under it any more (decisions 18, 25 and 177). Its merchant is
 * told in the same transaction, its bank by a job. Repeating it gives the same, whoever ended it.
 * @throws {DomainError} CONSENT_NOT_FOUND, CONSENT_NOT_REVOCABLE
 */
export async function endConsent(app: App, { merchantId, consentId, by }: EndConsentInput): Promise<void> {
  if (!isUuid(consentId)) throw consentNotFound()
  const key = { merchantId, id: consentId }
  const isFirst = await app.pool.transaction(async (tx) => {
    const held = await lockConsent(tx, key)
    if (held === null) throw consentNotFound()
    if (held.status === 'REVOKED') return false
    checkActive(held)
    if (!(await revokeConsentRow(tx, { ...key, by })))
      throw new Error('an active mandate whose row is held did not end')
    const mandate = await findMandate(tx, key)
    if (mandate === null) throw new Error('a mandate that was ended is not there')
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
  if (type !== 'VARIABLE_RECURRING') throw notRevocable('the consent is for a single payment, and no mandate')
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
