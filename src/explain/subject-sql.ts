import type { CommonQueryMethods } from 'slonik'
import { sql } from '../db/sql.ts'
import { Subject } from './record.ts'

/** What a merchant's own id means; nothing for what is another's. */
export function findOwnSubject(
  db: CommonQueryMethods,
  { merchantId, id }: { merchantId: string; id: string },
): Promise<Subject | null> {
  return db.maybeOne(sql.type(Subject)`
    select 'payment' as kind, id, merchant_id from payment_intents where merchant_id = ${merchantId} and id = ${id}
    union all
    select 'delivery', id, merchant_id from webhook_deliveries where merchant_id = ${merchantId} and id = ${id}
    union all
    select 'dispute', id, merchant_id from disputes where merchant_id = ${merchantId} and id = ${id}
    union all
    select 'payment', payment_intent_id, merchant_id from payment_refunds where merchant_id = ${merchantId} and id = ${id}
    union all
    select 'merchant', id, id from merchants where id = ${merchantId} and id = ${id}
    limit 1
  `)
}

/** What an id means, whoever's it is. */
export function findSubject(db: CommonQueryMethods, id: string): Promise<Subject | null> {
  return db.maybeOne(sql.type(Subject)`
    select 'payment' as kind, id, merchant_id from payment_intents where id = ${id}
    union all
    select 'dispute', id, merchant_id from disputes where id = ${id}
    union all
    select 'merchant', id, id from merchants where id = ${id}
    limit 1
  `)
}

/**
 * The same for what has no index by its id alone: each merchant is asked for it, one probe of the primary key for each.
 * The limit inside keeps the planner from turning that into a scan of everything there is.
 */
export function findSubjectAmongMerchants(db: CommonQueryMethods, id: string): Promise<Subject | null> {
  return db.maybeOne(sql.type(Subject)`
    select found.kind, found.id, m.id as merchant_id
    from merchants m
    cross join lateral (
      (select 'delivery' as kind, d.id from webhook_deliveries d where d.merchant_id = m.id and d.id = ${id} limit 1)
      union all
      (
        select 'payment', r.payment_intent_id
        from payment_refunds r
        where r.merchant_id = m.id and r.id = ${id}
        limit 1
      )
    ) found
    limit 1
  `)
}

/** A payment by its end-to-end id, as bank statements name it; of one merchant, or of any. */
export function findByEndToEndId(
  db: CommonQueryMethods,
  { merchantId, endToEndId }: { merchantId: string | undefined; endToEndId: string },
): Promise<Subject | null> {
  return db.maybeOne(sql.type(Subject)`
    select 'payment' as kind, id, merchant_id
    from payment_intents
    where end_to_end_id = ${endToEndId} and merchant_id = coalesce(${merchantId ?? null}::uuid, merchant_id)
  `)
}

/** A delivery by its event id, as receivers log it; of one merchant, or of any. */
export function findByEventId(
  db: CommonQueryMethods,
  { merchantId, eventId }: { merchantId: string | undefined; eventId: string },
): Promise<Subject | null> {
  return db.maybeOne(sql.type(Subject)`
    select 'delivery' as kind, id, merchant_id
    from webhook_deliveries
    where event_id = ${eventId} and merchant_id = coalesce(${merchantId ?? null}::uuid, merchant_id)
  `)
}
