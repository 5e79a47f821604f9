import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import type { z } from 'zod'
import { Examined, examinedOfEach, examinedRows } from '../db/examined-sql.ts'
import { sql } from '../db/sql.ts'
import { recordColumns } from './log-sql.ts'
import { DeliveryRecord, OutboxRecord } from './record.ts'
import type { DeliveryStatus } from '../wire/webhooks.ts'

/** How many of a merchant's deliveries a list examines for a filter (decision 389). */
const EXAMINED_MAX = 20_000
/** How many of each merchant's waiting deliveries a list of all has at most. */
const WAITING_OF_EACH_MAX = 1_000

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
  /** How many deliveries it examines at most. */
  examined: number
  /** Maximum number of rows to return. */
  limit: number
}

const columns = sql.fragment`d.id, d.created_at, d.status, d.event_type`

/**
 * A merchant's newest deliveries that match a filter. For a rare match it would scan a history of possibly millions of
 * rows, so waiting deliveries are read from the queue and from webhook_waiting, dead ones by their own index, and of all
 * others only the `examined` newest are compared.
 */
function newestOf(input: NewestInput): FragmentSqlToken {
  const { status, eventType, examined, limit } = input
  const matches: FragmentSqlToken[] = []
  if (status !== undefined && isCompared(status))
    matches.push(sql.fragment`o.status = ${status}::webhook_delivery_status`)
  if (eventType !== undefined) matches.push(sql.fragment`o.event_type = ${eventType}`)
  return examinedRows({ candidates: (count) => candidatesOf({ ...input, examined: count }), matches, examined, limit })
}

/** DEAD has an index. */
function isCompared(status: DeliveryStatus | undefined): boolean {
  return status !== undefined && status !== 'DEAD'
}

/** Those that the queue and webhook_waiting have. */
function isWaiting(status: DeliveryStatus | undefined): boolean {
  return status === 'PENDING' || status === 'FAILED'
}

function candidatesOf({ merchant, paymentId, status, before, examined }: NewestInput): FragmentSqlToken {
  const own = sql.fragment`d.merchant_id = ${merchant} ${pastPosition(sql.fragment`d.created_at, d.id`, before)}`
  if (paymentId !== undefined) {
    // The few of a payment, by its own index: "offset 0" prevents the planner from choosing an index for the order.
    return sql.fragment`
      select ${columns} from webhook_log d where ${own} and d.payment_intent_id = ${paymentId}::uuid offset 0`
  }
  if (isWaiting(status)) return waitingOf(merchant, before, examined)
  // The status of a dead one is its row's own.
  const source = status === 'DEAD' ? sql.fragment`webhook_deliveries` : sql.fragment`webhook_log`
  return sql.fragment`
    select ${columns}
    from ${source} d
    where ${own} ${status === 'DEAD' ? sql.fragment`and d.status = 'DEAD'` : sql.fragment``}
    order by d.created_at desc, d.id desc
    limit ${examined}`
}

/** Every PENDING or FAILED delivery is in one of the two tables. The queue's newest rows are due last. */
function waitingOf(merchant: FragmentSqlToken, before: PagePosition | undefined, examined: number): FragmentSqlToken {
  return sql.fragment`
    select ${columns}
    from (
      (
        select q.delivery_id from webhook_queue q where q.merchant_id = ${merchant}
        order by q.due_at desc, q.sequence desc
        limit ${examined}
      )
      union all
      (
        select p.delivery_id from webhook_waiting p
        where p.merchant_id = ${merchant} ${pastPosition(sql.fragment`p.created_at, p.delivery_id`, before)}
        order by p.created_at desc, p.delivery_id desc
        limit ${examined}
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
    from (${newestOf({ ...filter, merchant, examined: EXAMINED_MAX, limit })}) page
    join webhook_log d on d.merchant_id = ${merchant} and d.id = page.id
    where page.matches
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

const ExaminedDelivery = OutboxRecord.extend(Examined.shape)

/**
 * The deliveries of all merchants, newest first. Each merchant's own index gives its newest ones, which are then merged
 * into the page: an index on the global order would slow down every insert, for a list that only operators read.
 */
export async function listOutboxRows(
  tx: CommonQueryMethods,
  { merchantId, ...filter }: OutboxFilter,
): Promise<readonly z.infer<typeof ExaminedDelivery>[]> {
  const examined = merchantId === undefined ? await examinedOfEveryone(tx, filter) : EXAMINED_MAX
  return tx.any(sql.type(ExaminedDelivery)`
    select ${recordColumns}, d.merchant_id, page.realm_slug, page.trading_name, page.matches, page.is_last_examined,
      (extract(epoch from d.created_at) * 1000000)::bigint::text as created_us
    from (
      select m.id as merchant_id, m.realm_slug, m.trading_name, newest.id, newest.matches, newest.is_last_examined
      from merchants m
      cross join lateral (${newestOf({ ...filter, merchant: sql.fragment`m.id`, examined })}) newest
      where ${merchantCondition(merchantId, filter.paymentId)}
      order by newest.created_at desc, newest.id desc
      limit ${filter.limit}
    ) page
    join webhook_log d on d.merchant_id = page.merchant_id and d.id = page.id
    order by d.created_at desc, d.id desc`)
}

async function examinedOfEveryone(tx: CommonQueryMethods, { status, eventType }: DeliveryFilter): Promise<number> {
  if (isWaiting(status)) return WAITING_OF_EACH_MAX
  return isCompared(status) || eventType !== undefined ? examinedOfEach(tx, EXAMINED_MAX) : EXAMINED_MAX
}

function merchantCondition(merchantId: string | undefined, paymentId: string | undefined): FragmentSqlToken {
  const own = merchantId === undefined ? sql.fragment`true` : sql.fragment`m.id = ${merchantId}::uuid`
  if (paymentId === undefined) return own
  return sql.fragment`${own} and m.id = (select p.merchant_id from payment_intents p where p.id = ${paymentId}::uuid)`
}
