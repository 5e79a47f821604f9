import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

/** A position in the feed: the transaction that wrote an event, and the event's number within it. */
export type FeedPosition = { xid: string; ordinal: string }

export const FeedRecord = z.strictObject({
  xid: z.string(),
  ordinal: z.string(),
  event_id: z.string(),
  event_type: z.string(),
  created_at: z.string(),
  /** The bytes that are signed, as they are stored. */
  payload: z.string(),
})
export type FeedRecord = z.infer<typeof FeedRecord>

/**
 * Events after a position, up to the oldest running transaction (migrations/0023_webhook_deliveries.sql). Events of one payment
 * are in order: the writer of the next one has waited for the payment's row, and a transaction gets its xid only with
 * its first write, after such a wait.
 */
export function listFeed(
  tx: CommonQueryMethods,
  { merchantId, after, limit }: { merchantId: string; after: FeedPosition; limit: number },
): Promise<readonly FeedRecord[]> {
  return tx.any(sql.prepared('list_feed', FeedRecord)`
    select feed_xid::text as xid, feed_ordinal::text as ordinal, event_id, event_type, created_at, payload::text as payload
    from webhook_deliveries
    where merchant_id = ${merchantId}
      and (feed_xid, feed_ordinal) > (${after.xid}::text::xid8, ${after.ordinal}::bigint)
      and feed_xid < (select feed_horizon())
    order by feed_xid, feed_ordinal
    limit ${limit}
  `)
}

const Position = z.strictObject({ xid: z.string(), ordinal: z.string() })

/**
 * Whether a position can't have been given out: only those before the horizon are, which never moves back. The database was
 * restored to a time before it, or another service gave it out.
 */
export function isAheadOfFeed(tx: CommonQueryMethods, { xid }: FeedPosition): Promise<boolean> {
  return tx.oneFirst(sql.typeAlias('exists')`select ${xid}::text::xid8 >= feed_horizon() as exists`)
}

/** The current end of the feed: later commits come after it. */
export function findFeedEnd(tx: CommonQueryMethods): Promise<FeedPosition> {
  return tx.one(sql.type(Position)`
    select (feed_horizon()::text::numeric - 1)::text as xid, '9223372036854775807' as ordinal
  `)
}
