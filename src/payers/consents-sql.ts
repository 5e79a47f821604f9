import type { CommonQueryMethods } from 'slonik'
import { sql } from '../db/sql.ts'
import { ofContact } from './payments-sql.ts'
import { OwnConsent } from './record.ts'
import type { Contact } from './record.ts'

/** Whose merchant's a consent of the contact's own is; null for an unknown one and for another payer's alike. */
export function findConsentOf(
  db: CommonQueryMethods,
  { contact, id }: { contact: Contact; id: string },
): Promise<OwnConsent | null> {
  return db.maybeOne(sql.type(OwnConsent)`
    select c.merchant_id from payment_consents c where ${ofContact(contact)} and c.id = ${id}
  `)
}
