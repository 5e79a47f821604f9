import type { App } from '../app.ts'
import { consentNotFound, listMandatesOfPayer } from '../consents/get-consent.ts'
import type { MandateWithAllowances } from '../consents/record.ts'
import { endConsent } from '../consents/end-consent.ts'
import { isUuid } from '../lib/ids.ts'
import { findPayerConsent } from './payments-sql.ts'
import type { Contact } from './record.ts'

/** More mandates than anybody has; the newest are shown. */
const MANDATES_MAX = 200

/** The mandates of whoever the contact is that are active, to whichever merchants, the newest first. */
export function listPayerConsents(app: App, { type, value }: Contact): Promise<readonly MandateWithAllowances[]> {
  return listMandatesOfPayer(app, {
    contact: type === 'EMAIL' ? { email: value } : { phone: value },
    limit: MANDATES_MAX,
  })
}

/**
 * Ends a mandate of the contact's own; a repeat gives the same (decision 25).
 * @throws {DomainError} CONSENT_NOT_FOUND for an unknown id and for another payer's alike, CONSENT_NOT_REVOCABLE
 */
export async function revokePayerConsent(app: App, { contact, id }: { contact: Contact; id: string }): Promise<void> {
  const own = isUuid(id) ? await findPayerConsent(app.pool, { contact, id }) : null
  if (own === null) throw consentNotFound()
  await endConsent(app, { merchantId: own.merchant_id, consentId: id, by: 'PAYER' })
}
