import type { App } from '../app.ts'
import { endConsent } from '../consents/end-consent.ts'
import { consentNotFound } from '../consents/get-consent.ts'
import { isUuid } from '../lib/ids.ts'
import { findPayerConsent } from './payments-sql.ts'
import type { Contact } from './record.ts'

/**
 * Ends a payer's own mandate; a repeat has the same result (decision 25).
 * @throws {DomainError} CONSENT_NOT_FOUND for an unknown id and for another payer's alike, CONSENT_NOT_REVOCABLE
 */
export async function revokePayerConsent(app: App, { contact, id }: { contact: Contact; id: string }): Promise<void> {
  const own = isUuid(id) ? await findPayerConsent(app.pool, { contact, id }) : null
  if (own === null) throw consentNotFound()
  await endConsent(app, { merchantId: own.merchant_id, consentId: id, by: 'PAYER' })
}
