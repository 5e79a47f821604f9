import type { CommonQueryMethods } from 'slonik'
import { sql } from '../db/sql.ts'
import { wasRejected } from './actions-sql.ts'
import { DeliveryFacts, DisputeFacts, MerchantFacts, PaymentFacts, Subject } from './record.ts'

/** How far what is open at a merchant is counted. */
const COUNTED_MAX = 1_000

/** Makes the transaction one read: every statement after it sees the same moment, and none of them can write. */
export async function beginRead(tx: CommonQueryMethods): Promise<void> {
  await tx.query(sql.typeAlias('void')`set transaction isolation level repeatable read read only`)
}

/** `merchantId` is the only merchant whose records there are; null for an operator, who sees all. */
type Search = { merchantId: string | null; id: string }

/** A payment, dispute or merchant by its id. */
export function findSubject(tx: CommonQueryMethods, { merchantId, id }: Search): Promise<Subject | null> {
  return tx.maybeOne(sql.type(Subject)`
    with found as (
      select 'payment' as kind, id, merchant_id from payment_intents where id = ${id}
      union all
      select 'dispute', id, merchant_id from disputes where id = ${id}
      union all
      select 'merchant', id, id from merchants where id = ${id}
    )
    select kind, id, merchant_id from found where merchant_id = coalesce(${merchantId}::uuid, merchant_id) limit 1
  `)
}

/**
 * A delivery by its id, or a payment by its refund's. They have no index by their id alone: each merchant is asked, one
 * probe of the primary key for each. The limit inside keeps the planner from turning that into a scan of all rows.
 */
export function findSubjectByMerchant(tx: CommonQueryMethods, { merchantId, id }: Search): Promise<Subject | null> {
  return tx.maybeOne(sql.type(Subject)`
    select found.kind, found.id, m.id as merchant_id
    from merchants m
    cross join lateral (
      (select 'delivery' as kind, d.id from webhook_deliveries d where d.merchant_id = m.id and d.id = ${id} limit 1)
      union all
      (select 'payment', r.payment_intent_id from payment_refunds r where r.merchant_id = m.id and r.id = ${id} limit 1)
    ) found
    where m.id = coalesce(${merchantId}::uuid, m.id)
    limit 1
  `)
}

/** A payment by its end-to-end id, as bank statements name it, or a delivery by its event id, as receivers log it. */
export function findSubjectByName(tx: CommonQueryMethods, { merchantId, id }: Search): Promise<Subject | null> {
  return tx.maybeOne(sql.type(Subject)`
    with found as (
      select 'payment' as kind, id, merchant_id from payment_intents where end_to_end_id = ${id}
      union all
      select 'delivery', id, merchant_id from webhook_deliveries where event_id = ${id}
    )
    select kind, id, merchant_id from found where merchant_id = coalesce(${merchantId}::uuid, merchant_id) limit 1
  `)
}

const endpoint = sql.fragment`
  case when m.paused_webhook_url is not null then 'paused' when m.webhook_url is null then 'none' else 'set' end
`

/** Of a delivery `d` of the merchant `m`, with its row `q` of the queue. */
export const isLeased = sql.fragment`coalesce(q.locked_until > now(), false)`
export const isTest = sql.fragment`
  d.payment_intent_id is null and d.event_type not like 'consent.%'
    and coalesce(d.payload #>> '{data,test}' = 'true', false)
`
export const held = sql.fragment`
  case
    when d.status not in ('PENDING', 'FAILED') or ${isLeased} then null
    when m.paused_webhook_url is not null then 'paused'
    when m.webhook_url is null then 'none'
    when d.next_retry_at = 'infinity' then 'too old'
  end
`

/** @param disputeDays for how many days after its creation a payment can be disputed */
export function findPaymentFacts(
  tx: CommonQueryMethods,
  { merchant_id, id }: Subject,
  disputeDays: number,
): Promise<PaymentFacts> {
  return tx.one(sql.type(PaymentFacts)`
    select p.id, p.status, p.gross_amount, p.fee_amount, p.net_amount, p.fee_percentage, p.fee_flat, p.refunded_amount,
      p.refund_reserved_amount, p.gross_amount - p.refunded_amount - p.refund_reserved_amount as remaining_amount,
      p.currency, p.failure_code, p.failure_source, p.bank_connector, p.under_mandate, c.status as consent_status,
      c.expires_at, p.settle_at,
      sandbox_moved_moment(p.merchant_id, p.created_at) + make_interval(days => ${disputeDays}) as disputable_until,
      refunds.pending_refund_count, refunds.next_refund_at, refunds.newest_refund_at,
      (
        select count(*)::int4 from disputes d where d.merchant_id = p.merchant_id and d.payment_intent_id = p.id
      ) as dispute_count,
      open.id as open_dispute_id, open.status as open_dispute_status, open.reason as open_dispute_reason,
      ${endpoint} as endpoint,
      exists (
        select from webhook_deliveries d
        where d.merchant_id = p.merchant_id and d.payment_intent_id = p.id and d.next_retry_at = 'infinity'
          and d.status in ('PENDING', 'FAILED')
      ) as has_held_webhooks,
      p.created_at as since,
      case when p.status in ('Failed', 'Refunded') then (
        select max(e.created_at) from payment_events e where e.merchant_id = p.merchant_id and e.payment_intent_id = p.id
      ) end as until,
      now() as now
    from payment_intents p
    join merchants m on m.id = p.merchant_id
    join payment_consents c on c.merchant_id = p.merchant_id and c.id = p.consent_id
    left join disputes open on open.merchant_id = p.merchant_id and open.payment_intent_id = p.id
      and open.status in ('OPEN', 'UNDER_REVIEW', 'ESCALATED')
    cross join lateral (
      select count(*)::int4 as pending_refund_count, min(r.resume_at) as next_refund_at,
        (array_agg(r.resume_at order by r.created_at desc, r.id desc))[1] as newest_refund_at
      from payment_refunds r
      where r.merchant_id = p.merchant_id and r.payment_intent_id = p.id and r.status = 'PENDING'
    ) refunds
    where p.merchant_id = ${merchant_id} and p.id = ${id}
  `)
}

export function findDeliveryFacts(tx: CommonQueryMethods, { merchant_id, id }: Subject): Promise<DeliveryFacts> {
  return tx.one(sql.type(DeliveryFacts)`
    select d.id, d.payment_intent_id as payment_id, d.event_type, d.status, d.attempt_count, d.last_error,
      nullif(d.next_retry_at, 'infinity') as next_retry_at, d.delivered_at, ${isTest} as is_test,
      ${isLeased} as is_leased, ${held} as held, ${endpoint} as endpoint,
      case when q.attempted = false then (
        select w.event_type
        from webhook_queue e
        join webhook_deliveries w on w.merchant_id = e.merchant_id and w.id = e.delivery_id
        where e.merchant_id = q.merchant_id and e.payment_intent_id = q.payment_intent_id and e.sequence < q.sequence
          and not e.attempted
        order by e.sequence
        limit 1
      ) end as waits_for,
      d.created_at as since, d.delivered_at as until, now() as now
    from webhook_deliveries d
    join merchants m on m.id = d.merchant_id
    left join webhook_queue q on q.merchant_id = d.merchant_id and q.delivery_id = d.id
    where d.merchant_id = ${merchant_id} and d.id = ${id}
  `)
}

export function findDisputeFacts(tx: CommonQueryMethods, { merchant_id, id }: Subject): Promise<DisputeFacts> {
  return tx.one(sql.type(DisputeFacts)`
    select d.id, d.payment_intent_id as payment_id, d.status, d.reason, d.evidence_due_at,
      d.merchant_evidence is not null as has_evidence, d.assignee, d.escalation_reason is not null as was_escalated,
      d.resolved_at, p.gross_amount, p.gross_amount - p.refunded_amount - p.refund_reserved_amount as remaining_amount,
      p.currency, r.status as refund_status, r.amount as refund_amount, null as since, null as until, now() as now
    from disputes d
    join payment_intents p on p.merchant_id = d.merchant_id and p.id = d.payment_intent_id
    left join payment_refunds r on r.merchant_id = d.merchant_id and r.id = d.refund_id
    where d.merchant_id = ${merchant_id} and d.id = ${id}
  `)
}

export function findMerchantFacts(tx: CommonQueryMethods, { id }: Subject): Promise<MerchantFacts> {
  return tx.one(sql.type(MerchantFacts)`
    select m.id, m.trading_name, m.realm_slug, m.kyb_status as status, ${wasRejected} as was_rejected, m.is_active, m.payout_held, m.payout_held_at, ${endpoint} as endpoint,
      (
        select count(*)::int4
        from (
          select from webhook_deliveries d
          where d.merchant_id = m.id and d.last_error is not null and d.status = 'DEAD'
          limit ${COUNTED_MAX}
        ) dead
      ) as dead_delivery_count,
      (
        select count(*)::int4
        from (
          select from disputes d
          where d.merchant_id = m.id and d.status in ('OPEN', 'UNDER_REVIEW', 'ESCALATED')
          limit ${COUNTED_MAX}
        ) open
      ) as open_dispute_count,
      null as since, null as until, now() as now
    from merchants m
    where m.id = ${id}
  `)
}
