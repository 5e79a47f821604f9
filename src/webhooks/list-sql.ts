import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { sql } from '../db/sql.ts'
import { recordColumns } from './log-sql.ts'
import { DeliveryRecord, OutboxRecord } from './record.ts'
import type { DeliveryStatus } from '../wire/webhooks.ts'

/** The number of deliveries scanned for a filter: in a list of one merchant, and per merchant in a list of all. */
const SCANNED_MAX = 20_000
const SCANNED_MAX_PER_MERCHANT = 1_000

export type DeliveryFilter = {
  status?: DeliveryStatus | undefined
  eventType?: string | undefined
  paymentId?: string | undefined
}

/** The last delivery of the page before: the microseconds of its creation since 1970, and its id. */
export type PagePosition = { us: string; id: string }

type NewestInput = DeliveryFilter & {
  /** The merchant's id as SQL: a value, or a column of the statement around it. */
  merchant: FragmentSqlToken
  before?: PagePosition | undefined
  /** Maximum number of rows to scan. */
  looked: number
  /** Maximum number of rows to return. */
  limit: number
}

const columns = sql.fragment`d.id, d.created_at, d.status, d.event_type`

/**
 * A merchant's newest deliveries that match a filter. For a rare match it would scan a history of possibly millions of
 * rows, so pending deliveries are read from the queue and from webhook_parked, dead ones by their own index, and of all
 * others only the `looked` newest are scanned.
 */
function newestOf(input: NewestInput): FragmentSqlToken {
  const conditions = [sql.fragment`true`]
  if (input.status !== undefined) conditions.push(sql.fragment`d.status = ${input.status}::webhook_delivery_status`)
  if (input.eventType !== undefined) conditions.push(sql.fragment`d.event_type = ${input.eventType}`)
  return sql.fragment`
    select d.id, d.created_at
    from (${candidatesOf(input)}) d
    where ${sql.join(conditions, sql.fragment` and `)}
    order by d.created_at desc, d.id desc
    limit ${input.limit}`
}

function candidatesOf({ merchant, paymentId, status, before, looked }: NewestInput): FragmentSqlToken {
  const own = sql.fragment`d.merchant_id = ${merchant} ${pastPosition(sql.fragment`d.created_at, d.id`, before)}`
  if (paymentId !== undefined) {
    // The few of a payment, by its own index: "offset 0" prevents the planner from choosing an index for the order.
    return sql.fragment`
      select ${columns} from webhook_log d where ${own} and d.payment_intent_id = ${paymentId}::uuid offset 0`
  }
  if (status === 'PENDING' || status === 'FAILED') return waitingOf(merchant, before, looked)
  const failing = status === 'DEAD' ? sql.fragment`and d.last_error is not null` : sql.fragment``
  return sql.fragment`
    select ${columns}
    from webhook_log d
    where ${own} ${failing}
    order by d.created_at desc, d.id desc
    limit ${looked}`
}

/** Every PENDING or FAILED delivery is in one of the two tables. The queue's newest rows are due last. */
function waitingOf(merchant: FragmentSqlToken, before: PagePosition | undefined, looked: number): FragmentSqlToken {
  return sql.fragment`
    select ${columns}
    from (
      (
        select q.delivery_id from webhook_queue q where q.merchant_id = ${merchant}
        order by q.due_at desc, q.sequence desc
        limit ${looked}
      )
      union all
      (
        select p.delivery_id from webhook_parked p
        where p.merchant_id = ${merchant} ${pastPosition(sql.fragment`p.created_at, p.delivery_id`, before)}
        order by p.created_at desc, p.delivery_id desc
        limit ${looked}
      )
    ) w
    join webhook_log d on d.merchant_id = ${merchant} and d.id = w.delivery_id
    where true ${pastPosition(sql.fragment`d.created_at, d.id`, before)}`
}

function pastPosition(place: FragmentSqlToken, before: PagePosition | undefined): FragmentSqlToken {
  if (before === undefined) return sql.fragment``
  return sql.fragment`
    and (${place}) < ('epoch'::timestamptz + ${before.us}::bigint * interval '1 microsecond', ${before.id}::uuid)`
}

/** The merchant's last `limit` deliveries, the newest first. */
export function listDeliveries(
  tx: CommonQueryMethods,
  { merchantId, ...filter }: DeliveryFilter & { merchantId: string },
  limit: number,
): Promise<readonly DeliveryRecord[]> {
  const merchant = sql.fragment`${merchantId}::uuid`
  // Nothing is scanned that is not shown, so each row is read once.
  if (Object.values(filter).every((value) => value === undefined)) return listNewest(tx, merchant, limit)
  return tx.any(sql.type(DeliveryRecord)`
    select ${recordColumns}
    from (${newestOf({ ...filter, merchant, looked: SCANNED_MAX, limit })}) page
    join webhook_log d on d.merchant_id = ${merchant} and d.id = page.id
    order by d.created_at desc, d.id desc`)
}

function listNewest(
  tx: CommonQueryMethods,
  merchant: FragmentSqlToken,
  limit: number,
): Promise<readonly DeliveryRecord[]> {
  return tx.any(sql.prepared('list_deliveries', DeliveryRecord)`
    select ${recordColumns}
    from webhook_log d
    where d.merchant_id = ${merchant}
    order by d.created_at desc, d.id desc
    limit ${limit}`)
}

export type OutboxFilter = DeliveryFilter & {
  merchantId?: string | undefined
  before?: PagePosition | undefined
  limit: number
}

/**
 * The deliveries of all merchants, newest first. Each merchant's own index gives its newest ones, which are then merged
 * into the page: an index on the global order would slow down every insert, for a list that only operators read.
 */
export function listOutboxRows(
  tx: CommonQueryMethods,
  { merchantId, ...filter }: OutboxFilter,
): Promise<readonly OutboxRecord[]> {
  const looked = merchantId === undefined ? SCANNED_MAX_PER_MERCHANT : SCANNED_MAX
  return tx.any(sql.type(OutboxRecord)`
    select ${recordColumns}, d.merchant_id, page.realm_slug, page.trading_name,
      (extract(epoch from d.created_at) * 1000000)::bigint::text as created_us
    from (
      select m.id as merchant_id, m.realm_slug, m.trading_name, newest.id
      from merchants m
      cross join lateral (${newestOf({ ...filter, merchant: sql.fragment`m.id`, looked })}) newest
      where ${merchantCondition(merchantId, filter.paymentId)}
      order by newest.created_at desc, newest.id desc
      limit ${filter.limit}
    ) page
    join webhook_log d on d.merchant_id = page.merchant_id and d.id = page.id
    order by d.created_at desc, d.id desc`)
}

function merchantCondition(merchantId: string | undefined, paymentId: string | undefined): FragmentSqlToken {
  const own = merchantId === undefined ? sql.fragment`true` : sql.fragment`m.id = ${merchantId}::uuid`
  if (paymentId === undefined) return own
  return sql.fragment`${own} and m.id = (select p.merchant_id from payment_intents p where p.id = ${paymentId}::uuid)`
}
