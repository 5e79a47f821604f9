import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { secondsUntilFewerOfNetwork } from '../db/hourly-limit-sql.ts'
import { sql } from '../db/sql.ts'
import type { NetworkHashes } from '../lib/network-hash.ts'
import { ofContact } from './payments-sql.ts'
import { LinkRequest, UsedToken } from './record.ts'
import type { Contact } from './record.ts'

const LockRow = z.object({ is_held: z.boolean() })

/**
 * Locks the request count of a network until the end of the transaction, so that each request of a burst is counted.
 * False where another transaction holds it, without waiting.
 */
export async function tryLockRequestCount(tx: DatabaseTransactionConnection, requestIpHash: string): Promise<boolean> {
  const { is_held } = await tx.one(sql.type(LockRow)`
    select pg_try_advisory_xact_lock(hashtextextended(${`payer link ${requestIpHash}`}, 0)) as is_held
  `)
  return is_held
}

/** Seconds until a network has requested fewer than `limit` links within an hour; null where that is so now. */
export function secondsToNextRequest(
  tx: DatabaseTransactionConnection,
  network: NetworkHashes,
  limit: number,
): Promise<number | null> {
  return secondsUntilFewerOfNetwork(tx, { table: 'payer_link_requests', network, limit })
}

type InsertLinkRequest = { id: string; contact: Contact; sealed: string; network: NetworkHashes; language: string }

export async function insertLinkRequest(
  tx: CommonQueryMethods,
  { id, contact, sealed, network, language }: InsertLinkRequest,
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    insert into payer_link_requests (id, contact_type, contact, contact_hash, request_ip_hash, wide_ip_hash, language)
    values (
      ${id}, ${contact.type}::payer_contact_type, ${sealed}, ${contact.hash}, ${network.own}, ${network.wide},
      ${language}
    )
  `)
}

/** Locks the oldest request that is not handled and not locked by another transaction; null where there is none. */
export function claimLinkRequest(tx: DatabaseTransactionConnection): Promise<LinkRequest | null> {
  return tx.maybeOne(sql.type(LinkRequest)`
    select r.id, r.contact_type, r.contact, r.contact_hash, r.request_ip_hash, r.language,
      r.created_at > now() - interval '10 minutes' as is_fresh,
      case r.contact_type
        when 'EMAIL' then exists (select from payment_consents c where c.payer_email_hash = r.contact_hash)
        else exists (select from payment_consents c where c.payer_phone_hash = r.contact_hash)
      end as is_known
    from payer_link_requests r
    where r.handled_at is null
    order by r.created_at
    limit 1
    for update of r skip locked
  `)
}

export async function markRequestHandled(tx: CommonQueryMethods, id: string): Promise<void> {
  await tx.query(sql.typeAlias('void')`update payer_link_requests set handled_at = now() where id = ${id}`)
}

/** Stores the hash of a link's token, which is valid for ten minutes from now. */
export async function insertToken(
  tx: DatabaseTransactionConnection,
  { id, request, sealed, tokenHash }: { id: string; request: LinkRequest; sealed: string; tokenHash: string },
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    insert into payer_tokens (id, contact_type, contact, contact_hash, token_hash, request_ip_hash)
    values (
      ${id}, ${request.contact_type}::payer_contact_type, ${sealed}, ${request.contact_hash}, ${tokenHash},
      ${request.request_ip_hash}
    )
  `)
}

/**
 * Uses a token, and with it all other tokens of its contact: this guarded update is the reason that a link works once. The
 * rows are locked in one order, so that two links of a contact can't deadlock; the second one finds its token used. Null
 * for a token that is unknown, used or expired.
 */
export function useToken(tx: CommonQueryMethods, tokenHash: string): Promise<UsedToken | null> {
  return tx.maybeOne(sql.type(UsedToken)`
    with held as (
      select t.id, t.token_hash
      from payer_tokens own
      join payer_tokens t
        on t.contact_type = own.contact_type and t.contact_hash = own.contact_hash
      where own.token_hash = ${tokenHash} and t.used_at is null and t.expires_at > now()
      order by t.id
      for update of t
    ),
    used as (
      update payer_tokens t
      -- A token that was inserted after this statement began must not be used before it was created.
      set used_at = greatest(now(), t.created_at)
      from held
      where t.id = held.id and exists (select from held h where h.token_hash = ${tokenHash})
      returning t.id, t.token_hash, t.contact_type, t.contact, t.contact_hash
    )
    select id, contact_type, contact, contact_hash from used where token_hash = ${tokenHash}
  `)
}

/**
 * Locks the count of links sent to a contact until the transaction's end: another transaction that would send one waits,
 * so that each link is counted.
 */
export async function lockSentLinkCount(
  tx: DatabaseTransactionConnection,
  { contact_type: type, contact_hash: hash }: LinkRequest,
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    select from pg_advisory_xact_lock(hashtextextended(${`payer links to ${type} ${hash}`}, 0))
  `)
}

const SentCount = z.object({ hour: z.int(), day: z.int() })

/** How many links a contact was sent within an hour and within a day; the caller holds `lockSentLinkCount`. */
export function countSentLinks(
  tx: DatabaseTransactionConnection,
  { contact_type: type, contact_hash: hash }: LinkRequest,
): Promise<{ hour: number; day: number }> {
  return tx.one(sql.type(SentCount)`
    select count(*) filter (where created_at > clock_timestamp() - interval '1 hour')::int as hour, count(*)::int as day
    from payer_tokens
    where contact_type = ${type}::payer_contact_type and contact_hash = ${hash}
      and created_at > clock_timestamp() - interval '1 day'
  `)
}

const FailedCount = z.object({ count: z.int(), seconds: z.int().nullable() })

/** The number of invalid tokens that a network tried within an hour, up to `limit`, and the seconds until it is lower. */
export async function countFailedVerifications(
  tx: CommonQueryMethods,
  { requestIpHash, limit }: { requestIpHash: string; limit: number },
): Promise<{ count: number; seconds: number }> {
  const { count, seconds } = await tx.one(sql.type(FailedCount)`
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

export async function insertFailedVerification(tx: CommonQueryMethods, requestIpHash: string): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    insert into payer_failed_verifications (request_ip_hash) values (${requestIpHash})
  `)
}

const SessionEnd = z.strictObject({ is_signed_out: z.boolean(), is_over: z.boolean() })

/**
 * Whether a session was signed out, and whether it has expired by the sandbox clock of its merchant, where exactly one
 * merchant has consents with the contact.
 */
export function findSessionEnd(
  tx: CommonQueryMethods,
  { id, contact, issuedAt, expiresAt }: { id: string; contact: Contact; issuedAt: string; expiresAt: string },
): Promise<z.infer<typeof SessionEnd>> {
  return tx.one(sql.type(SessionEnd)`
    select exists (select from payer_sessions_ended where id = ${id}) as is_signed_out,
      -- Without an advance of a sandbox clock since then, consents are not read.
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

/** Records that a session was signed out, until its token expires anyway. */
export async function insertEndedSession(
  tx: CommonQueryMethods,
  { id, expiresAt }: { id: string; expiresAt: string },
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    insert into payer_sessions_ended (id, expires_at) values (${id}, ${expiresAt}::timestamptz) on conflict do nothing
  `)
}

/** Deletes at most `limit` link requests older than an hour, which the limits no longer count. */
export async function deleteOldLinkRequests(tx: CommonQueryMethods, limit: number): Promise<number> {
  const deleted = await tx.query(sql.typeAlias('void')`
    delete from payer_link_requests
    where id in (select id from payer_link_requests where created_at < now() - interval '1 hour' limit ${limit})
  `)
  return deleted.rowCount
}

/** Deletes at most `limit` failed verifications older than an hour, which the limits no longer count. */
export async function deleteOldFailedVerifications(tx: CommonQueryMethods, limit: number): Promise<number> {
  const deleted = await tx.query(sql.typeAlias('void')`
    delete from payer_failed_verifications
    where ctid in (
      select ctid from payer_failed_verifications where created_at < now() - interval '1 hour' limit ${limit}
    )
  `)
  return deleted.rowCount
}

/** Deletes at most `limit` tokens a day after they expire: until then support can look up what became of a link. */
export async function deleteOldTokens(tx: CommonQueryMethods, limit: number): Promise<number> {
  const deleted = await tx.query(sql.typeAlias('void')`
    delete from payer_tokens
    where id in (select id from payer_tokens where expires_at < now() - interval '1 day' limit ${limit})
  `)
  return deleted.rowCount
}

/** Deletes at most `limit` ended sessions a minute after their tokens expire: clocks of servers differ. */
export async function deleteOldEndedSessions(tx: CommonQueryMethods, limit: number): Promise<number> {
  const deleted = await tx.query(sql.typeAlias('void')`
    delete from payer_sessions_ended
    where id in (select id from payer_sessions_ended where expires_at < now() - interval '1 minute' limit ${limit})
  `)
  return deleted.rowCount
}
