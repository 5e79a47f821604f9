import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { FeedPosition } from '../webhooks/feed-sql.ts'

export const StreamedRecord = z.strictObject({
  xid: z.string(),
  ordinal: z.string(),
  event_id: z.string(),
  event_type: z.string(),
  payment_id: z.string().nullable(),
  merchant_id: z.string(),
  realm_slug: z.string().nullable(),
  created_at: z.string(),
  /** Whether no transaction runs any more that could write an event before it. */
  is_settled: z.boolean(),
})
export type StreamedRecord = z.infer<typeof StreamedRecord>

const columns = sql.fragment`
  feed_xid::text as xid, feed_ordinal::text as ordinal, event_id, event_type, payment_intent_id as payment_id, merchant_id,
  created_at, feed_xid < pg_snapshot_xmin(pg_current_snapshot()) as is_settled
`

export type Behind = { merchantId: string | undefined; after: FeedPosition; limit: number }

/**
 * Events behind a place of the feed (migrations/0018_webhook_deliveries.sql), of one merchant or of all, in the feed's order. What
 * is not settled yet comes along, so that its reader knows to look again soon: it stands at the end.
 */
export function listStreamed(db: CommonQueryMethods, behind: Behind): Promise<readonly StreamedRecord[]> {
  return behind.merchantId === undefined ? listOfAll(db, behind) : listOfOne(db, behind, behind.merchantId)
}

function listOfOne(db: CommonQueryMethods, { after, limit }: Behind, merchantId: string) {
  return db.any(sql.prepared('list_streamed_of_merchant', StreamedRecord)`
    select ${columns}, null as realm_slug
    from webhook_deliveries
    where merchant_id = ${merchantId}
      and (feed_xid, feed_ordinal) > (${after.xid}::text::xid8, ${after.ordinal}::bigint)
    order by feed_xid, feed_ordinal
    limit ${limit}
  `)
}

function listOfAll(db: CommonQueryMethods, { after, limit }: Behind) {
  return db.any(sql.prepared('list_streamed', StreamedRecord)`
    select page.*, m.realm_slug
    from (
      select ${columns}
      from webhook_deliveries
      where (feed_xid, feed_ordinal) > (${after.xid}::text::xid8, ${after.ordinal}::bigint)
      order by feed_xid, feed_ordinal
      limit ${limit}
    ) page
    join merchants m on m.id = page.merchant_id
    order by page.xid::xid8, page.ordinal::bigint
  `)
}
