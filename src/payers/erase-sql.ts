import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { PAYER_MAIL_REALM } from './record.ts'
import type { Contact } from './record.ts'

const Erased = z.object({ consents: z.int(), accounts: z.int(), open_consents: z.int(), payments: z.array(z.string()) })

/** Makes the consents of a contact anonymous, and says which payments are theirs (migrations/functions/erase_payer.sql). */
export function eraseConsents(tx: CommonQueryMethods, { type, hash }: Contact): Promise<z.infer<typeof Erased>> {
  return tx.one(sql.type(Erased)`
    select consents, accounts, open_consents, payments from erase_payer(${type}::payer_contact_type, ${hash})
  `)
}

/**
 * Deletes the links of a contact, what was sent to it, and the receipts of these payments, which may have gone to another
 * contact of the same payer. @returns how many rows
 */
export function deleteMessages(
  tx: CommonQueryMethods,
  { contact: { type, hash }, sentTo, payments }: { contact: Contact; sentTo: string; payments: readonly string[] },
): Promise<number> {
  return tx.oneFirst(sql.type(z.object({ count: z.int() }))`
    with requests as (
      delete from payer_link_requests where contact_type = ${type}::payer_contact_type and contact_hash = ${hash} returning 1
    ),
    tokens as (
      delete from payer_tokens where contact_type = ${type}::payer_contact_type and contact_hash = ${hash} returning 1
    ),
    sent as (
      delete from mails
      where realm = ${PAYER_MAIL_REALM}
        and (recipient_hash = ${sentTo} or payment_id = any(${sql.array([...payments], 'uuid')}))
      returning 1
    )
    select ((select count(*) from requests) + (select count(*) from tokens) + (select count(*) from sent))::int4 as count
  `)
}
