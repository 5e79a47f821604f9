import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { FeedPosition } from '../webhooks/feed-sql.ts'

export const StreamedEventRecord = z.strictObject({
  xid: z.string(),
  ordinal: z.string(),
  event_id: z.string(),
  event_type: z.string(),
  payment_id: z.string().nullable(),
  merchant_id: z.string(),
  realm_slug: z.string().nullable(),
  created_at: z.string(),
  /** Whether no running transaction can still write an event before it. */
  is_settled: z.boolean(),
})
export type StreamedEventRecord = z.infer<typeof StreamedEventRecord>

const columns = sql.fragment`
  feed_xid::text as xid, feed_ordinal::text as ordinal, event_id, event_type, payment_intent_id as payment_id, merchant_id,
  created_at, feed_xid < (select feed_horizon()) as is_settled
`

export type StreamQuery = { merchantId: string | undefined; after: FeedPosition; limit: number }

/**
 * Events after a position of the feed (migrations/0023_webhook_deliveries.sql), of one merchant or of all, in the feed's
 * order. Events that are not settled yet are included at the end, so that the caller knows to read again soon.
 */
export function listStreamedEvents(
  tx: CommonQueryMethods,
  query: StreamQuery,
): Promise<readonly StreamedEventRecord[]> {
  return query.merchantId === undefined ? listForOperators(tx, query) : listForMerchant(tx, query, query.merchantId)
}

function listForMerchant(tx: CommonQueryMethods, { after, limit }: StreamQuery, merchantId: string) {
  return tx.any(sql.prepared('list_streamed_of_merchant', StreamedEventRecord)`
    select ${columns}, null as realm_slug
    from webhook_deliveries
    where merchant_id = ${merchantId}
      and (feed_xid, feed_ordinal) > (${after.xid}::text::xid8, ${after.ordinal}::bigint)
    order by feed_xid, feed_ordinal
    limit ${limit}
  `)
}

function listForOperators(tx: CommonQueryMethods, { after, limit }: StreamQuery) {
  return tx.any(sql.prepared('list_streamed', StreamedEventRecord)`
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
