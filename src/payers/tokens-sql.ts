import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { UsedToken } from './record.ts'
import type { LinkRequest } from './record.ts'

/** Keeps the hash of a link's token; its ten minutes begin now. */
export async function insertToken(
  tx: DatabaseTransactionConnection,
  { id, request, tokenHash }: { id: string; request: LinkRequest; tokenHash: string },
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    insert into payer_tokens (id, contact_type, contact_normalised, token_hash, request_ip_hash)
    values (
      ${id}, ${request.contact_type}::payer_contact_type, ${request.contact_normalised}, ${tokenHash},
      ${request.request_ip_hash}
    )
  `)
}

/**
 * Uses a token up, and with it every other that its contact has: the one guarded statement that a link's working once
 * rests on. They are held in one order, so that two links of one contact can't wait for each other; whoever comes second
 * finds its own used. Null for whatever does not work.
 */
export function useToken(db: CommonQueryMethods, tokenHash: string): Promise<UsedToken | null> {
  return db.maybeOne(sql.type(UsedToken)`
    with held as (
      select t.id, t.token_hash
      from payer_tokens own
      join payer_tokens t
        on t.contact_type = own.contact_type and t.contact_normalised = own.contact_normalised
      where own.token_hash = ${tokenHash} and t.used_at is null and t.expires_at > now()
      order by t.id
      for update of t
    ),
    used as (
      update payer_tokens t
      -- One that was made while this statement began is used no earlier than that.
      set used_at = greatest(now(), t.created_at)
      from held
      where t.id = held.id and exists (select from held h where h.token_hash = ${tokenHash})
      returning t.token_hash, t.contact_type, t.contact_normalised
    )
    select contact_type, contact_normalised from used where token_hash = ${tokenHash}
  `)
}

const Sent = z.object({ hour: z.int(), day: z.int() })

/**
 * How many links a contact was sent within an hour and within a day. Others who would send it one wait until the
 * transaction's end, so that each is counted.
 */
export async function countSent(
  tx: DatabaseTransactionConnection,
  { contact_type: type, contact_normalised: value }: LinkRequest,
): Promise<{ hour: number; day: number }> {
  await tx.query(sql.typeAlias('void')`
    select from pg_advisory_xact_lock(hashtextextended(${`payer links to ${type} ${value}`}, 0))
  `)
  return tx.one(sql.type(Sent)`
    select count(*) filter (where created_at > clock_timestamp() - interval '1 hour')::int as hour, count(*)::int as day
    from payer_tokens
    where contact_type = ${type}::payer_contact_type and contact_normalised = ${value}
      and created_at > clock_timestamp() - interval '1 day'
  `)
}

const Failed = z.object({ count: z.int(), seconds: z.int().nullable() })

/** How many tokens a network has tried within an hour that were none, up to `limit`, and the seconds until it is fewer. */
export async function countFailed(
  db: CommonQueryMethods,
  { requestIpHash, limit }: { requestIpHash: string; limit: number },
): Promise<{ count: number; seconds: number }> {
  const { count, seconds } = await db.one(sql.type(Failed)`
    select count(*)::int as count,
      ceil(extract(epoch from min(created_at) + interval '1 hour' - clock_timestamp()))::int as seconds
    from (
      select created_at
      from payer_failed_verifications
      where request_ip_hash = ${requestIpHash} and created_at > clock_timestamp() - interval '1 hour'
      order by created_at desc
      limit ${limit}
    ) latest
  `)
  return { count, seconds: Math.max(seconds ?? 1, 1) }
}

export async function insertFailed(db: CommonQueryMethods, requestIpHash: string): Promise<void> {
  await db.query(sql.typeAlias('void')`
    insert into payer_failed_verifications (request_ip_hash) values (${requestIpHash})
  `)
}
