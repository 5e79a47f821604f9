import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { PLATFORM_ROLES } from '../lib/permissions.ts'
import { TimelineEntry } from '../wire/explain.ts'
import { ACTIONS } from './phrases.ts'
import { ACTIONS_READ_MAX, held, isLeased, isTest, isWebhookOf, settlementsOf } from './subjects-sql.ts'
import type { Subject } from './subjects-sql.ts'
import { canSeeMoney, canSeeWebhooks } from './viewer.ts'
import type { Viewer } from './viewer.ts'

const TextOrNull = z.string().nullable()

/** What happened, or is due: a row of any event table, with the facts that its phrase needs. */
const TimelineRow = z.object({
  kind: TimelineEntry.shape.kind,
  /** Its name among the phrases of its kind; that of a payment's move is found by its statuses and its actor. */
  what: z.string(),
  at: z.string(),
  /** The record that it happened to, where that is not the subject. */
  ref: TextOrNull,
  from: TextOrNull,
  to: TextOrNull,
  /** The actor; null where the viewer may not see who it was. */
  by: TextOrNull,
  /** What the actor wrote; null where the viewer may not read it. */
  words: TextOrNull,
  /** Counts its source from the newest, 1, so that what is beyond a limit can be left out. */
  nth: z.int(),
  facts: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
})
export type TimelineRow = z.infer<typeof TimelineRow>

/** How many rows of a kind a timeline shows; attempts are counted for each webhook. */
export type TimelineLimits = Readonly<Partial<Record<TimelineEntry['kind'], number>>>

/** A payment has a handful of moves. Twelve attempts are two rounds of them, where the webhook was replayed. */
const LIMITS = { payment: 50, bank: 50, refund: 50, dispute: 100, payout: 50, webhook: 50, merchant: 50, operator: 50 }
export const limitsOf = ({ kind }: Subject) => ({ ...LIMITS, attempt: kind === 'delivery' ? 100 : 12 })

export type TimelineQuery = {
  subject: Subject
  /** Only operators read the names and words of operators, and not every role sees webhooks. */
  viewer: Viewer
  /** The times between which actions on the merchant concern the subject. */
  since: string | null
  until: string | null
}

/** The event tables that the timeline of each kind of subject is the union of. */
const SOURCES: Readonly<Record<Subject['kind'], readonly ((query: TimelineQuery) => FragmentSqlToken)[]>> = {
  payment: [paymentMoves, bankCalls, refunds, disputes, settlements, payouts, webhooks, actions],
  delivery: [webhooks, actions],
  dispute: [refunds, disputes, webhooks],
  settlement: [settlements, payouts],
  payout: [settlements, payouts, webhooks, actions],
  merchant: [registration, actions],
}

/** The rows of a subject's timeline: of each source the oldest first, and one more than its limit where there are more. */
export function listTimeline(tx: CommonQueryMethods, query: TimelineQuery): Promise<readonly TimelineRow[]> {
  const sources = SOURCES[query.subject.kind].map((source) => source(query))
  return tx.any(sql.type(TimelineRow)`
    select kind, what, at, ref, "from", "to", by, words, nth::int4 as nth, facts
    from (${sql.join(sources, sql.fragment` union all `)}) as timeline
      (kind, what, at, ref, "from", "to", by, words, nth, facts)
    order by nth desc, "from" nulls first
  `)
}

/** The condition that a row belongs to the subject, whose id is in this column. */
function isOf({ merchant_id: merchantId, id }: Subject, column: string): FragmentSqlToken {
  return sql.fragment`merchant_id = ${merchantId} and ${sql.identifier([column])} = ${id}`
}

/** The newest rows of a table, numbered from 1, and one more than the limit where there are more. */
function newest(table: string, condition: FragmentSqlToken, order: FragmentSqlToken, limit: number): FragmentSqlToken {
  return sql.fragment`(
    select *, row_number() over (order by ${order}) as nth
    from ${sql.identifier([table])}
    where ${condition}
    order by ${order}
    limit ${limit + 1}
  )`
}

/** The payloads of the moves are not read, except to distinguish jobs and payers' browsers. */
function paymentMoves({ subject }: TimelineQuery): FragmentSqlToken {
  const moves = newest('payment_events', isOf(subject, 'payment_intent_id'), sql.fragment`ordinal desc`, LIMITS.payment)
  return sql.fragment`
    select 'payment', 'move', created_at, null::uuid, previous_status::text, new_status::text, changed_by::text, null, nth,
      jsonb_build_object(
        'job', case when changed_by = 'BATCH_JOB' then raw_payload ->> 'job' end,
        'by_browser', changed_by = 'BANK_CALLBACK'
          and (raw_payload ->> 'code' is not null or raw_payload ->> 'error' is not null)
      )
    from ${moves} e`
}

/** The calls of a real bank and the returns that were refused, each with the id that the bank knows it by. */
function bankCalls({ subject, viewer }: TimelineQuery): FragmentSqlToken {
  return sql.fragment`(
    select 'bank', case when c.verdict is null then 'call' else 'problem' end, c.at, null::uuid, null, null, null, null,
      row_number() over (order by c.id desc),
      jsonb_build_object(
        'bank', c.bank, 'step', c.step, 'http_status', c.http_status, 'verdict', c.verdict, 'interaction_id', c.interaction_id
      )
    from payment_intents p
    join obie.calls c on c.state = p.bank_consent_id
    where p.merchant_id = ${subject.merchant_id} and p.id = ${subject.id} and ${viewer.side === 'operator'}
    order by c.id desc
    limit ${LIMITS.bank + 1}
  )`
}

/**
 * A refund is requested, and may go to the bank in a file, and then has an end, after which it can come back,
 * or the time at which the bank is asked again.
 */
function refunds({ subject }: TimelineQuery): FragmentSqlToken {
  const isOfSubject = isOf(subject, subject.kind === 'dispute' ? 'dispute_id' : 'payment_intent_id')
  return sql.fragment`
    select e.kind, e.what, e.at, r.id, e.old, e.new, null, null, r.nth,
      jsonb_build_object(
        'amount', r.amount::text, 'currency', p.currency, 'failure_code', r.failure_code, 'attempt_count', r.attempt_count
      )
    from ${newest('payment_refunds', isOfSubject, sql.fragment`created_at desc, id desc`, LIMITS.refund)} r
    join payment_intents p on p.merchant_id = r.merchant_id and p.id = r.payment_intent_id
    cross join lateral (
      select 'refund', case when r.dispute_id is null then 'requested' else 'ordered' end, r.created_at, null, 'PENDING'
      union all
      select 'refund', 'sent', r.sent_at, 'PENDING', 'PENDING' where r.sent_at is not null
      union all
      select 'refund', r.status::text, r.updated_at, 'PENDING', r.status::text where r.status <> 'PENDING'
      union all
      select 'refund', 'returned', l.matched_at, 'EXECUTED', 'EXECUTED'
      from bank_statement_lines l
      where l.merchant_id = r.merchant_id and l.refund_id = r.id and l.direction = 'CREDIT'
      union all
      select 'due', 'refund', r.resume_at, 'PENDING', null where r.status = 'PENDING' and r.resume_at is not null and r.nth <= ${LIMITS.refund}
    ) e (kind, what, at, old, new)`
}

/** Statements and evidence are not read; the only words are those of operators. */
function disputes({ subject, viewer }: TimelineQuery): FragmentSqlToken {
  const isOperator = viewer.side === 'operator'
  const isOfSubject = isOf(subject, subject.kind === 'dispute' ? 'id' : 'payment_intent_id')
  const isOfDispute = sql.fragment`
    merchant_id = ${subject.merchant_id} and dispute_id in (select id from disputes where ${isOfSubject})`
  return sql.fragment`
    select 'dispute', e.event, e.created_at, e.dispute_id, e.previous_status::text, e.new_status::text,
      case when e.changed_by <> 'PLATFORM' then e.changed_by when ${isOperator} then e.actor_name end,
      case when e.changed_by = 'PLATFORM' and e.previous_status is not null and ${isOperator} then e.note end, e.nth,
      jsonb_build_object(
        'changed_by', e.changed_by, 'reason', d.reason, 'amount', p.gross_amount::text, 'currency', p.currency,
        'is_first', e.previous_status = 'OPEN'
      )
    from ${newest('dispute_events', isOfDispute, sql.fragment`ordinal desc`, LIMITS.dispute)} e
    join disputes d on d.merchant_id = e.merchant_id and d.id = e.dispute_id
    join payment_intents p on p.merchant_id = d.merchant_id and p.id = d.payment_intent_id
    union all
    select 'due', 'evidence', evidence_due_at, id, null, null, null, null, 1, '{}'
    from disputes where ${isOfSubject} and status = 'OPEN'`
}

/** Settlements when they were closed, and the end of the period that a payment's lines are still in. */
function settlements({ subject, viewer }: TimelineQuery): FragmentSqlToken {
  return sql.fragment`(
    select 'settlement', 'closed', s.closed_at, s.id, null, null::text, null, null, 1::bigint,
      jsonb_build_object('amount', s.net_amount::text, 'currency', s.currency)
    from settlements s
    where ${settlementsOf(subject)} and ${canSeeMoney(viewer)}
    order by s.closed_at desc
    limit ${LIMITS.payout}
  )
  union all
  select 'due', 'settlement', o.due_at, null, null, null, null, null, 1, '{}'
  from ledger_entries e
  join open_settlements o on o.merchant_id = e.merchant_id and o.currency = e.currency and o.due_at is not null
  left join settlement_lines l on l.merchant_id = e.merchant_id and l.ordinal = e.ordinal
  where e.merchant_id = ${subject.merchant_id} and e.subject_id = ${subject.id} and e.movement = 'payment_settled'
    and l.settlement_id is null and ${canSeeMoney(viewer)}`
}

/** The moves of the payouts that had the money of those settlements, failed ones too: each takes all that is payable. */
function payouts({ subject, viewer }: TimelineQuery): FragmentSqlToken {
  const ofSettlements = sql.fragment`
    p.id in (
      select t.id
      from settlements s
      left join payouts last on last.merchant_id = s.merchant_id and last.id = s.payout_id
      join payouts t on t.merchant_id = s.merchant_id and t.currency = s.currency and t.created_at >= s.closed_at
        and t.created_at <= coalesce(last.created_at, 'infinity')
      where ${settlementsOf(subject)} and s.payable_amount > 0
    )`
  return sql.fragment`(
    select 'payout', e.new_status::text, e.created_at, p.id, e.previous_status::text, e.new_status::text, e.changed_by,
      null, row_number() over (order by e.ordinal desc),
      jsonb_build_object('amount', p.amount::text, 'currency', p.currency, 'failure_code', p.failure_code)
    from payouts p
    join payout_events e on e.merchant_id = p.merchant_id and e.payout_id = p.id
    where p.merchant_id = ${subject.merchant_id} and ${canSeeMoney(viewer)}
      and ${subject.kind === 'payout' ? sql.fragment`p.id = ${subject.id}` : ofSettlements}
    order by e.ordinal desc
    limit ${LIMITS.payout + 1}
  )`
}

/** Each webhook with its last attempts, and the next one that is due. */
function webhooks({ subject, viewer }: TimelineQuery): FragmentSqlToken {
  const { webhook, attempt } = limitsOf(subject)
  const isShown = sql.fragment`merchant_id = ${subject.merchant_id} and ${isWebhookOf(subject)} and ${canSeeWebhooks(viewer)}`
  const isOfDelivery = sql.fragment`merchant_id = d.merchant_id and delivery_id = d.id and d.nth <= ${webhook}`
  return sql.fragment`
    select e.kind, e.what, e.at, d.id, null, e.status, null, null, e.nth,
      e.facts || jsonb_build_object('event_type', d.event_type)
    from ${newest('webhook_log', isShown, sql.fragment`created_at desc, sequence desc`, webhook)} d
    join merchants m on m.id = d.merchant_id
    left join webhook_queue q on q.merchant_id = d.merchant_id and q.delivery_id = d.id
    cross join lateral (
      select 'webhook', case when ${isTest} then 'test' else 'event' end, d.created_at, d.status::text, d.nth,
        jsonb_build_object('event_id', d.event_id, 'held', ${held})
      union all
      select 'attempt',
        case when lag(a.attempt) over (order by a.id) >= a.attempt then 'replayed' else 'first' end, a.started_at,
        a.outcome, a.nth,
        jsonb_build_object(
          'attempt', a.attempt, 'outcome', a.outcome, 'http_status', a.http_status, 'duration_ms', a.duration_ms
        )
      from ${newest('webhook_attempts', isOfDelivery, sql.fragment`id desc`, attempt)} a
      union all
      select 'due', 'attempt', d.next_retry_at, null, d.nth, jsonb_build_object('attempt', d.attempt_count + 1)
      where d.status in ('PENDING', 'FAILED') and d.next_retry_at < 'infinity' and not ${isLeased} and d.nth <= ${webhook}
    ) e (kind, what, at, status, nth, facts)`
}

function registration({ subject }: TimelineQuery): FragmentSqlToken {
  return sql.fragment`
    select 'merchant', 'registration', created_at, null::uuid, null, null, null::text, null, 1, '{}'::jsonb
    from merchants where id = ${subject.id}`
}

/** The actions of operators and of the merchant's team. */
function actions({ subject, viewer, since, until }: TimelineQuery): FragmentSqlToken {
  const isOperator = viewer.side === 'operator'
  const known = Object.entries(ACTIONS)
  const names = known.flatMap(([name, { on }]) => (on.includes(subject.kind) ? [name] : []))
  const members = JSON.stringify(Object.fromEntries(known.map(([name, { member }]) => [name, member])))
  const member = sql.fragment`(${members}::jsonb ->> a.action)`
  return sql.fragment`
    (
      select case when a.actor_role = any(${sql.array(PLATFORM_ROLES, 'text')}) then 'operator' else 'merchant' end,
        a.action, a.created_at, null::uuid, null, null, case when ${isOperator} then a.actor_name end,
        case when ${isOperator} then a.reason end, row_number() over (order by a.ordinal desc),
        jsonb_build_object(
          'was', a.before ->> ${member}, 'now', a.after ->> ${member},
          'had_endpoint', a.before ->> 'webhook_url' is not null, 'has_endpoint', a.after ->> 'webhook_url' is not null
        )
      from (
        select * from operator_actions
        where merchant_id = ${subject.merchant_id}
        order by ordinal desc
        limit ${ACTIONS_READ_MAX}
      ) a
      where (
          a.action = any(${sql.array(names, 'text')})
          or ${subject.kind} in ('delivery', 'payout') and a.subject_id = ${subject.id}
        )
        and a.created_at >= coalesce(${since}::timestamptz, '-infinity')
        and a.created_at <= coalesce(${until}::timestamptz, 'infinity')
      order by a.ordinal desc
      limit ${LIMITS.operator + 1}
    )`
}
