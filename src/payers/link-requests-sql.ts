import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { secondsUntilFewer } from '../db/hourly-limit-sql.ts'
import { sql } from '../db/sql.ts'
import { LinkRequest } from './record.ts'
import type { Contact } from './record.ts'

const Held = z.object({ is_held: z.boolean() })

/**
 * Holds what is counted for a network against others until the transaction's end, so that a burst is counted one by one.
 * False where another holds it: nobody waits.
 */
export async function tryLockCount(tx: DatabaseTransactionConnection, requestIpHash: string): Promise<boolean> {
  const { is_held } = await tx.one(sql.type(Held)`
    select pg_try_advisory_xact_lock(hashtextextended(${`payer link ${requestIpHash}`}, 0)) as is_held
  `)
  return is_held
}

/** How many seconds until a network asked for fewer than `limit` links within an hour; null where it is so now. */
export function secondsToNextRequest(
  tx: DatabaseTransactionConnection,
  requestIpHash: string,
  limit: number,
): Promise<number | null> {
  return secondsUntilFewer(tx, { table: 'payer_link_requests', column: 'request_ip_hash', value: requestIpHash, limit })
}

export async function insertLinkRequest(
  db: CommonQueryMethods,
  { id, contact, requestIpHash }: { id: string; contact: Contact; requestIpHash: string },
): Promise<void> {
  await db.query(sql.typeAlias('void')`
    insert into payer_link_requests (id, contact_type, contact_normalised, request_ip_hash)
    values (${id}, ${contact.type}::payer_contact_type, ${contact.value}, ${requestIpHash})
  `)
}

/** Holds the oldest request that waits and that nobody else holds; null where there is none. */
export function claimLinkRequest(tx: DatabaseTransactionConnection): Promise<LinkRequest | null> {
  return tx.maybeOne(sql.type(LinkRequest)`
    select r.id, r.contact_type, r.contact_normalised, r.request_ip_hash,
      r.created_at > now() - interval '10 minutes' as is_fresh,
      case r.contact_type
        when 'EMAIL' then exists (select from payment_consents c where c.payer_email = r.contact_normalised)
        else exists (select from payment_consents c where c.payer_phone = r.contact_normalised)
      end as is_known
    from payer_link_requests r
    where r.handled_at is null
    order by r.created_at
    limit 1
    for update of r skip locked
  `)
}

export async function markHandled(db: CommonQueryMethods, id: string): Promise<void> {
  await db.query(sql.typeAlias('void')`update payer_link_requests set handled_at = now() where id = ${id}`)
}
