import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { sql } from '../db/sql.ts'
import { TimelineRow } from './record.ts'
import type { Subject, TimelineQuery } from './record.ts'
import { actionRows } from './actions-sql.ts'
import { held, isLeased, isTest } from './subjects-sql.ts'

/** A payment has a handful of moves: its machine has no way back. */
const PAYMENT_MOVES_MAX = 50

/** The event tables that the timeline of each kind of subject is the union of. */
const SOURCES: Readonly<Record<Subject['kind'], (query: TimelineQuery) => readonly FragmentSqlToken[]>> = {
  payment: (query) => {
    const isOfPayment = sql.fragment`payment_intent_id = ${query.subject.id}`
    return [
      paymentMoves(query),
      refunds(query, isOfPayment),
      disputes(query, isOfPayment),
      ...(query.hasWebhooks ? [webhooks(query, isOfPayment)] : []),
      actionRows(query),
    ]
  },
  delivery: (query) => [webhooks(query, sql.fragment`id = ${query.subject.id}`), actionRows(query)],
  dispute: (query) => {
    const { merchant_id: merchantId, id } = query.subject
    const isAboutDispute = sql.fragment`
      event_type like 'dispute.%' and payload #>> '{data,id}' = ${id} and payment_intent_id = (
        select payment_intent_id from disputes where merchant_id = ${merchantId} and id = ${id}
      )`
    return [
      refunds(query, sql.fragment`dispute_id = ${id}`),
      disputes(query, sql.fragment`id = ${id}`),
      ...(query.hasWebhooks ? [webhooks(query, isAboutDispute)] : []),
    ]
  },
  merchant: (query) => [registration(query), actionRows(query)],
}

/** The rows of a subject's timeline: of each source the oldest first, and one more than its limit where there are more. */
export function listTimeline(tx: CommonQueryMethods, query: TimelineQuery): Promise<readonly TimelineRow[]> {
  return tx.any(sql.type(TimelineRow)`
    select source, at, "from", "to", actor, ref, nth::int4 as nth, facts
    from (${sql.join(SOURCES[query.subject.kind](query), sql.fragment` union all `)}) as timeline
      (source, at, "from", "to", actor, ref, nth, facts)
    order by nth desc, "from" nulls first
  `)
}

/** The payloads of the moves are not read, except to distinguish jobs and payers' browsers. */
function paymentMoves({ subject: { merchant_id: merchantId, id } }: TimelineQuery): FragmentSqlToken {
  return sql.fragment`
    select 'payment', created_at, previous_status::text, new_status::text, changed_by::text, null::uuid,
      row_number() over (order by ordinal desc),
      jsonb_build_object(
        'job', case when changed_by = 'BATCH_JOB' then raw_payload ->> 'job' end,
        'by_browser', changed_by = 'BANK_CALLBACK'
          and (raw_payload ->> 'code' is not null or raw_payload ->> 'error' is not null)
      )
    from (
      select * from payment_events
      where merchant_id = ${merchantId} and payment_intent_id = ${id}
      order by ordinal
      limit ${PAYMENT_MOVES_MAX}
    ) e`
}

/** A refund is requested, and then has an end, or the time at which the bank is asked again. */
function refunds({ subject, limits }: TimelineQuery, condition: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`
    select e.source, e.at, e.old, e.new, null, r.id, r.nth,
      jsonb_build_object(
        'amount', r.amount::text, 'currency', p.currency, 'failure_code', r.failure_code,
        'attempt_count', r.attempt_count, 'is_ordered', r.dispute_id is not null
      )
    from (
      select *, row_number() over (order by created_at desc, id desc) as nth
      from payment_refunds
      where merchant_id = ${subject.merchant_id} and ${condition}
      order by created_at desc, id desc
      limit ${limits.refund + 1}
    ) r
    join payment_intents p on p.merchant_id = r.merchant_id and p.id = r.payment_intent_id
    cross join lateral (
      select 'refund', r.created_at, null::text, 'PENDING'
      union all
      select 'refund', r.updated_at, 'PENDING', r.status::text where r.status <> 'PENDING'
      union all
      select 'refund due', r.resume_at, 'PENDING', null where r.status = 'PENDING' and r.nth <= ${limits.refund}
    ) e (source, at, old, new)`
}

/** Statements and evidence are not read; the only free text is the operators' notes. */
function disputes({ subject, limits }: TimelineQuery, condition: FragmentSqlToken): FragmentSqlToken {
  const found = sql.fragment`select * from disputes where merchant_id = ${subject.merchant_id} and ${condition}`
  return sql.fragment`
    (
      select 'dispute', e.created_at, e.previous_status::text, e.new_status::text,
        case when e.changed_by = 'PLATFORM' then e.actor_name else e.changed_by end, e.dispute_id,
        row_number() over (order by e.ordinal desc),
        jsonb_build_object(
          'event', e.event, 'changed_by', e.changed_by, 'reason', d.reason, 'amount', p.gross_amount::text,
          'currency', p.currency,
          'operator_note', case when e.changed_by = 'PLATFORM' and e.previous_status is not null then e.note end
        )
      from (${found}) d
      join dispute_events e on e.merchant_id = d.merchant_id and e.dispute_id = d.id
      join payment_intents p on p.merchant_id = d.merchant_id and p.id = d.payment_intent_id
      order by e.ordinal desc
      limit ${limits.dispute + 1}
    )
    union all
    select 'evidence due', d.evidence_due_at, null, null, null, d.id, 1, '{}' from (${found}) d where d.status = 'OPEN'`
}

/** Each webhook with its last attempts, and the next one that is due. */
function webhooks({ subject, limits }: TimelineQuery, condition: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`
    select e.source, e.at, null, e.status, null, d.id, e.nth, e.facts || jsonb_build_object('event_type', d.event_type)
    from (
      select *, row_number() over (order by created_at desc, sequence desc) as nth
      from webhook_deliveries
      where merchant_id = ${subject.merchant_id} and ${condition}
      order by created_at desc, sequence desc
      limit ${limits.webhook + 1}
    ) d
    join merchants m on m.id = d.merchant_id
    left join webhook_queue q on q.merchant_id = d.merchant_id and q.delivery_id = d.id
    cross join lateral (
      select 'webhook', d.created_at, d.status::text, d.nth,
        jsonb_build_object('event_id', d.event_id, 'is_test', ${isTest}, 'held', ${held})
      union all
      select 'attempt', a.started_at, a.outcome, row_number() over (order by a.id desc),
        jsonb_build_object(
          'attempt', a.attempt, 'http_status', a.http_status, 'duration_ms', a.duration_ms,
          'is_replayed', coalesce(lag(a.attempt) over (order by a.id) >= a.attempt, false)
        )
      from (
        select * from webhook_attempts
        where merchant_id = d.merchant_id and delivery_id = d.id and d.nth <= ${limits.webhook}
        order by id desc
        limit ${limits.attempt + 1}
      ) a
      union all
      select 'attempt due', d.next_retry_at, null, d.nth, jsonb_build_object('attempt', d.attempt_count + 1)
      where d.status in ('PENDING', 'FAILED') and d.next_retry_at < 'infinity' and not ${isLeased}
        and d.nth <= ${limits.webhook}
    ) e (source, at, status, nth, facts)`
}

function registration({ subject }: TimelineQuery): FragmentSqlToken {
  return sql.fragment`
    select 'registration', created_at, null, null, null::text, null::uuid, 1, '{}'::jsonb
    from merchants where id = ${subject.id}`
}
