import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { ofContact } from './payments-sql.ts'
import type { Contact } from './record.ts'

const Ended = z.strictObject({ is_signed_out: z.boolean(), is_over: z.boolean() })

/**
 * Whether a session was signed out of, and whether its time is over by the sandbox's clock: that of the one merchant who
 * knows the contact, where there is but one.
 */
export function findEnd(
  db: CommonQueryMethods,
  { id, contact, issuedAt, expiresAt }: { id: string; contact: Contact; issuedAt: string; expiresAt: string },
): Promise<z.infer<typeof Ended>> {
  return db.one(sql.type(Ended)`
    select exists (select from payer_sessions_ended where id = ${id}) as is_signed_out,
      -- Nobody's clock has moved, where it can't: no more is looked at.
      case when exists (select from sandbox_clock_shifts where made_at > ${issuedAt}::timestamptz) then
        coalesce((
          select ${expiresAt}::timestamptz - sandbox_clock_ahead(min(c.merchant_id::text)::uuid, ${issuedAt}::timestamptz)
          from payment_consents c
          where ${ofContact(contact)}
          having count(distinct c.merchant_id) = 1
        ) <= now(), false)
      else false end as is_over
  `)
}

/** Notes that a session is over, until its token would be past its time anyway. */
export async function insertEnded(
  db: CommonQueryMethods,
  { id, expiresAt }: { id: string; expiresAt: string },
): Promise<void> {
  await db.query(sql.typeAlias('void')`
    insert into payer_sessions_ended (id, expires_at) values (${id}, ${expiresAt}::timestamptz) on conflict do nothing
  `)
}
