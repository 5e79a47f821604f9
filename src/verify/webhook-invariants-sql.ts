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
      cross join lateral (select d.event_type like 'dispute.%' as of_dispute, d.payload::jsonb as body offset 0) w
      where body -> 'data' ->> 'merchantId' is distinct from p.merchant_id::text
        or body -> 'data' ->> case when of_dispute then 'paymentId' else 'id' end is distinct from p.id::text
        or body ->> 'eventId' is distinct from d.event_id
        or body ->> 'eventType' is distinct from d.event_type
        or body -> 'data' ->> 'sequence' is distinct from d.sequence::text
        or body -> 'data' -> case when of_dispute then 'amount' else 'financials' end ->> 'grossAmount'
          is distinct from money_text(p.gross_amount)
        or body -> 'data' -> 'failure' ->> 'code' is distinct from p.failure_code and d.event_type = 'payment.failed'
    `,
  },
  WEBHOOK_FOR_CHANGE: {
    rule: 'every change of a payment or dispute has one webhook, and nothing else has',
    action: 'svc explain <payment>: the merchant has not heard of a change, or has heard of one that never was',
    source,
    query: (part) => sql.fragment`
      with part as materialized (select p.id, p.merchant_id, p.status, p.webhooks_removed from ${rowsOf(source, 'p', part)}),
      -- A row for each that there should be, and one for each that there is: a join of both would compare all with all.
      each_one (id, removed, type, wanted, had) as (
        select p.id, p.webhooks_removed, case e.new_status when 'AwaitingAuthorisation' then 'payment.initiated'
          when 'Authorised' then 'payment.authorized' when 'Settled' then 'payment.settled'
          when 'Failed' then 'payment.failed' when 'Refunded' then 'payment.refunded' end, 1, 0
        from part p
        join payment_events e on e.merchant_id = p.merchant_id and e.payment_intent_id = p.id
        where e.new_status <> 'Initiated'
        union all
        select p.id, p.webhooks_removed, case e.event when 'opening' then 'dispute.opened'
          when 'escalation' then 'dispute.escalated' else 'dispute.resolved' end, 1, 0
        from part p
        join disputes d on d.merchant_id = p.merchant_id and d.payment_intent_id = p.id
        join dispute_events e on e.merchant_id = d.merchant_id and e.dispute_id = d.id
        where e.event not like 'evidence%' and e.event <> 'refund ordered'
        union all
        select p.id, p.webhooks_removed, 'refund.failed', 1, 0 from part p
        join payment_refunds r on r.merchant_id = p.merchant_id and r.payment_intent_id = p.id where r.status = 'FAILED'
        union all
        -- Every refund but the one that completes the payment, which is announced as payment.refunded.
        select r.id, r.webhooks_removed, 'payment.partially_refunded', 1, 0 from (
          select p.id, p.webhooks_removed, p.status, row_number() over w as n, count(*) over w as of_all
          from part p
          join payment_refunds r on r.merchant_id = p.merchant_id and r.payment_intent_id = p.id
          where r.status = 'EXECUTED'
          window w as (partition by p.id)
        ) r where r.status <> 'Refunded' or r.n < r.of_all
        union all
        select p.id, p.webhooks_removed, d.event_type, 0, 1 from part p
        join webhook_deliveries d on d.merchant_id = p.merchant_id and d.payment_intent_id = p.id
      ),
      counted as (
        select id, removed, sum(wanted) as wanted, sum(had) as had from each_one group by id, removed, type
      )
      -- Of webhooks that retention has removed only their number is known.
      select id::text as subject from counted
      group by id, removed
      having case when removed = 0 then bool_or(wanted <> had)
        else bool_or(had > wanted) or sum(wanted) <> sum(had) + removed end
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
    rule: 'a delivery that waits for a time is queued, one that waits for an endpoint is listed as such, and no other is',
    action: 'svc webhooks replay <delivery> sends one that is in neither; one in both would be sent twice',
    source,
    query: (part) => sql.fragment`
      select d.id::text as subject from ${rowsOf(source, 'p', part)}
      join webhook_log d on d.merchant_id = p.merchant_id and d.payment_intent_id = p.id
      left join webhook_queue q on q.merchant_id = d.merchant_id and q.delivery_id = d.id
      left join webhook_waiting k on k.merchant_id = d.merchant_id and k.delivery_id = d.id
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
