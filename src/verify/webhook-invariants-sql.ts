import { sql } from '../db/sql.ts'
import type { Invariant } from './invariant.ts'
import { rowsOf } from './part-sql.ts'

const source = 'payments'

/** What holds of the outbox, beside the payments, refunds and disputes that it announces. */
export const WEBHOOK_INVARIANTS = {
  WEBHOOK_CONTENT: {
    rule: 'a webhook names its own merchant, payment, number and amount',
    action:
      'hold the endpoint (svc webhooks endpoint pause) and compare the delivery with its payment: svc explain <delivery>',
    source,
    query: (part) => sql.fragment`
      select d.id::text as subject from ${rowsOf(source, 'p', part)}
      join webhook_deliveries d on d.merchant_id = p.merchant_id and d.payment_intent_id = p.id
      cross join lateral (select d.event_type like 'dispute.%' as of_dispute, d.payload -> 'data' as data) w
      where data ->> 'merchantId' is distinct from p.merchant_id::text
        or data ->> case when of_dispute then 'paymentId' else 'id' end is distinct from p.id::text
        or d.payload ->> 'eventId' is distinct from d.event_id
        or d.payload ->> 'eventType' is distinct from d.event_type
        or data ->> 'sequence' is distinct from d.sequence::text
        or data -> case when of_dispute then 'amount' else 'financials' end ->> 'grossAmount'
          is distinct from money_text(p.gross_amount)
        or data -> 'failure' ->> 'code' is distinct from p.failure_code and d.event_type = 'payment.failed'
    `,
  },
  WEBHOOK_FOR_CHANGE: {
    rule: 'every change of a payment or dispute has one webhook, and nothing else has',
    action: 'svc explain <payment>: the merchant has not heard of a change, or has heard of one that never was',
    source,
    query: (part) => sql.fragment`
      with part as materialized (select p.id, p.merchant_id, p.status, p.webhooks_removed from ${rowsOf(source, 'p', part)}),
      announced (status, type) as (values
        ('AwaitingAuthorisation'::payment_status, 'payment.initiated'), ('Authorised', 'payment.authorized'),
        ('Settled', 'payment.settled'), ('Failed', 'payment.failed'), ('Refunded', 'payment.refunded')
      ),
      want as (
        select id, type, count(*) as n
        from (
          select p.id, a.type from part p
          join payment_events e on e.merchant_id = p.merchant_id and e.payment_intent_id = p.id
          join announced a on a.status = e.new_status
          union all
          select p.id, case e.event when 'opening' then 'dispute.opened' when 'escalation' then 'dispute.escalated'
            else 'dispute.resolved' end
          from part p
          join disputes d on d.merchant_id = p.merchant_id and d.payment_intent_id = p.id
          join dispute_events e on e.merchant_id = d.merchant_id and e.dispute_id = d.id
          where e.event not like 'evidence%' and e.event <> 'refund ordered'
          union all
          select p.id, 'refund.failed' from part p
          join payment_refunds r on r.merchant_id = p.merchant_id and r.payment_intent_id = p.id where r.status = 'FAILED'
          union all
          -- Every refund but the one that completes the payment, which is announced as payment.refunded.
          select r.id, 'payment.partially_refunded' from (
            select p.id, p.status, row_number() over (partition by p.id) as n, count(*) over (partition by p.id) as of_all
            from part p
            join payment_refunds r on r.merchant_id = p.merchant_id and r.payment_intent_id = p.id
            where r.status = 'EXECUTED'
          ) r where r.status <> 'Refunded' or r.n < r.of_all
        ) each_one
        group by 1, 2
      ),
      have as (
        select p.id, d.event_type as type, count(*) as n from part p
        join webhook_deliveries d on d.merchant_id = p.merchant_id and d.payment_intent_id = p.id
        group by 1, 2
      )
      -- Of webhooks that retention has removed only their number is known.
      select p.id::text as subject from part p
      join (select * from want full join have using (id, type)) both_of (id, type, wanted, had) on both_of.id = p.id
      group by p.id, p.webhooks_removed
      having case when p.webhooks_removed = 0 then bool_or(wanted is distinct from had)
        else bool_or(wanted is null or had > wanted) or sum(wanted) <> sum(coalesce(had, 0)) + p.webhooks_removed end
    `,
  },
  WEBHOOK_SEQUENCE: {
    rule: 'the webhooks of a payment are numbered without a gap, from 1 or the first that retention has left',
    action: 'svc explain <payment>: a delivery was inserted or removed behind the service',
    source,
    query: (part) => sql.fragment`
      select p.id::text as subject from ${rowsOf(source, 'p', part)}
      cross join lateral (
        select count(*) as n, count(distinct d.sequence) as different, min(d.sequence) as first, max(d.sequence) as last
        from webhook_deliveries d where d.merchant_id = p.merchant_id and d.payment_intent_id = p.id
      ) d
      where d.n <> p.webhook_sequence - p.webhooks_removed
        or (d.n > 0 and (d.first <> p.webhooks_removed + 1 or d.last <> p.webhook_sequence or d.different <> d.n))
    `,
  },
  WEBHOOK_QUEUE: {
    rule: 'a delivery that waits for a time is queued, one that waits for an endpoint is parked, and no other is',
    action: 'svc webhooks replay <delivery> sends one that is in neither; one in both would be sent twice',
    source,
    query: (part) => sql.fragment`
      select d.id::text as subject from ${rowsOf(source, 'p', part)}
      join webhook_log d on d.merchant_id = p.merchant_id and d.payment_intent_id = p.id
      left join webhook_queue q on q.merchant_id = d.merchant_id and q.delivery_id = d.id
      left join webhook_parked k on k.merchant_id = d.merchant_id and k.delivery_id = d.id
      where (q.delivery_id is not null) <> (d.status in ('PENDING', 'FAILED') and d.next_retry_at < 'infinity')
        or (k.delivery_id is not null) <> (d.status in ('PENDING', 'FAILED') and d.next_retry_at = 'infinity')
        or k.created_at <> d.created_at
    `,
  },
  WEBHOOK_ATTEMPT: {
    rule: 'every attempt is of a delivery',
    action: 'a delivery was removed behind the service: restore it, or remove its attempts as well',
    source: 'attempts',
    query: (part) => sql.fragment`
      select a.id::text as subject from ${rowsOf('attempts', 'a', part)}
      left join webhook_deliveries d on d.merchant_id = a.merchant_id and d.id = a.delivery_id
      where d.id is null
    `,
  },
  WEBHOOK_LEASE: {
    rule: 'the lease of a lane ends within minutes',
    action:
      'no worker can take over this merchant’s webhooks: check the clock of the database, then restart the workers',
    query: () => sql.fragment`
      select merchant_id::text as subject from webhook_lanes where locked_until > now() + interval '10 minutes'
    `,
  },
} as const satisfies Record<string, Invariant>
