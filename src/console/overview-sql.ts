import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { hasNoWorker } from '../db/late-webhooks-sql.ts'
import { sql } from '../db/sql.ts'
import { PaymentStatus } from '../wire/payments.ts'

/** Counts stop here: a larger number would change no decision, and would cost time. */
const COUNTED_MAX = 10_000
const PAYMENTS_MAX = 20_000
const MINUTES_MAX = 100_000

/** One merchant; undefined means all of them. */
export type MerchantScope = { merchantId: string | undefined }

function merchantsOf({ merchantId }: MerchantScope): FragmentSqlToken {
  return merchantId === undefined
    ? sql.fragment`(select id from merchants) m`
    : sql.fragment`(select ${merchantId}::uuid as id) m`
}

/** A condition on the merchant of a table that has few rows for all merchants together. */
function ofMerchant(column: FragmentSqlToken, { merchantId }: MerchantScope): FragmentSqlToken {
  return merchantId === undefined ? sql.fragment`true` : sql.fragment`${column} = ${merchantId}::uuid`
}

const CountedStatus = z.strictObject({ status: PaymentStatus, count: z.int() })

/** Payments of the last 24 hours by their status: each merchant's newest, by its own index. */
export function countByStatus(
  tx: CommonQueryMethods,
  scope: MerchantScope,
): Promise<readonly z.infer<typeof CountedStatus>[]> {
  return tx.any(sql.type(CountedStatus)`
    select status, count(*)::int4 as count
    from (
      select p.status
      from ${merchantsOf(scope)}
      cross join lateral (
        select o.status
        from payment_intents o
        where o.merchant_id = m.id and o.created_at > now() - interval '24 hours'
        order by o.created_at desc
        limit ${PAYMENTS_MAX}
      ) p
      limit ${PAYMENTS_MAX}
    ) counted
    group by status
  `)
}

const CountedMinute = z.strictObject({ minutes_ago: z.int(), count: z.int() })

/** Payments of the last 60 minutes, by how many whole minutes ago they were created. */
export function countByMinute(
  tx: CommonQueryMethods,
  scope: MerchantScope,
): Promise<readonly z.infer<typeof CountedMinute>[]> {
  return tx.any(sql.type(CountedMinute)`
    select least(greatest(floor(extract(epoch from now() - created_at) / 60), 0), 59)::int4 as minutes_ago,
      count(*)::int4 as count
    from (
      select p.created_at
      from ${merchantsOf(scope)}
      cross join lateral (
        select o.created_at
        from payment_intents o
        where o.merchant_id = m.id and o.created_at > now() - interval '60 minutes'
        order by o.created_at desc
        limit ${MINUTES_MAX}
      ) p
      limit ${MINUTES_MAX}
    ) counted
    group by 1
  `)
}

/** Amounts are numeric text. */
const SettledMoney = z.strictObject({
  currency: z.string(),
  count: z.int(),
  gross_amount: z.string(),
  fee_amount: z.string(),
  net_amount: z.string(),
})

/** What was settled since midnight UTC, by currency: each merchant's last, by the index of their events. */
export function sumSettledToday(
  tx: CommonQueryMethods,
  scope: MerchantScope,
): Promise<readonly z.infer<typeof SettledMoney>[]> {
  return tx.any(sql.type(SettledMoney)`
    select p.currency, count(*)::int4 as count, sum(p.gross_amount)::text as gross_amount,
      sum(p.fee_amount)::text as fee_amount, sum(p.net_amount)::text as net_amount
    from (
      select e.merchant_id, e.payment_intent_id
      from ${merchantsOf(scope)}
      cross join lateral (
        select s.merchant_id, s.payment_intent_id
        from payment_events s
        where s.merchant_id = m.id and s.new_status = 'Settled'
          and s.created_at >= date_trunc('day', now(), 'UTC')
        order by s.created_at desc
        limit ${PAYMENTS_MAX}
      ) e
      limit ${PAYMENTS_MAX}
    ) settled
    join payment_intents p on p.merchant_id = settled.merchant_id and p.id = settled.payment_intent_id
    group by p.currency
    order by p.currency
  `)
}

export const OverviewCounts = z.strictObject({
  as_of: z.string(),
  kyb_pending: z.int(),
  oldest_pending_at: z.string().nullable(),
  deliveries_pending: z.int(),
  deliveries_dead: z.int(),
  oldest_due_at: z.string().nullable(),
  disputes_open: z.int(),
  disputes_under_review: z.int(),
  disputes_escalated: z.int(),
  oldest_open_at: z.string().nullable(),
  next_evidence_due_at: z.string().nullable(),
  lag_ms: z.int(),
})
export type OverviewCounts = z.infer<typeof OverviewCounts>

/** Counts beside payments: merchants to decide on, deliveries, disputes, and how late the worker is. */
export function findOverviewCounts(tx: CommonQueryMethods, scope: MerchantScope): Promise<OverviewCounts> {
  return tx.one(sql.type(OverviewCounts)`
    select now() as as_of,
      (
        select count(*)::int4 from (select from merchants w where w.kyb_status = 'PENDING' limit ${COUNTED_MAX}) waiting
      ) as kyb_pending,
      (select min(created_at) from merchants w where w.kyb_status = 'PENDING') as oldest_pending_at,
      (${countRows(sql.fragment`select from ${merchantsOf(scope)} join webhook_queue q on q.merchant_id = m.id`)})
        as deliveries_pending,
      (${countRows(deadDeliveries(scope))}) as deliveries_dead,
      (${firstDueDelivery(scope, sql.fragment`true`)}) as oldest_due_at,
      disputes.*,
      least(2147483647, greatest(0, extract(epoch from now() - least(
        (${firstDueDelivery(scope, hasNoWorker)}), ${firstDueAtBank(scope)}
      )) * 1000))::int4 as lag_ms
    from (
      select count(*) filter (where d.status = 'OPEN')::int4 as disputes_open,
        count(*) filter (where d.status = 'UNDER_REVIEW')::int4 as disputes_under_review,
        count(*) filter (where d.status = 'ESCALATED')::int4 as disputes_escalated,
        min(d.created_at) as oldest_open_at,
        min(d.evidence_due_at) filter (where d.status = 'OPEN') as next_evidence_due_at
      from (
        select d.status, d.created_at, d.evidence_due_at
        from disputes d
        where d.status in ('OPEN', 'UNDER_REVIEW', 'ESCALATED') and ${ofMerchant(sql.fragment`d.merchant_id`, scope)}
        limit ${COUNTED_MAX}
      ) d
    ) disputes
  `)
}

function countRows(rows: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`select count(*)::int4 from (${rows} limit ${COUNTED_MAX}) counted`
}

function deadDeliveries(scope: MerchantScope): FragmentSqlToken {
  return sql.fragment`
    select
    from ${merchantsOf(scope)}
    cross join lateral (
      select from webhook_deliveries d
      where d.merchant_id = m.id and d.status = 'DEAD'
      limit ${COUNTED_MAX}
    ) dead`
}

/** The earliest due time in the queue under the condition: one index probe for each merchant. */
function firstDueDelivery(scope: MerchantScope, condition: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`
    select min(first.due_at)
    from ${merchantsOf(scope)}
    cross join lateral (
      select q.due_at from webhook_queue q where q.merchant_id = m.id and ${condition}
      order by q.due_at, q.sequence
      limit 1
    ) first`
}

/** The earliest due execution and refund that no worker has claimed. */
function firstDueAtBank(scope: MerchantScope): FragmentSqlToken {
  return sql.fragment`
    (
      select min(p.settle_at) from payment_intents p
      where p.status = 'Authorised' and (p.locked_until is null or p.locked_until <= now())
        and ${ofMerchant(sql.fragment`p.merchant_id`, scope)}
    ),
    (
      select min(r.resume_at) from payment_refunds r
      where r.status = 'PENDING' and ${ofMerchant(sql.fragment`r.merchant_id`, scope)}
    )`
}
