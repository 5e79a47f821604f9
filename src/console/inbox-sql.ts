import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { Holidays } from '../lib/working-days.ts'
import { InboxKind } from '../wire/console.ts'
import { disputeDue, inStatusSince } from '../disputes/deadline-sql.ts'
import { knownOf } from '../statements/known-sql.ts'
import {
  API_ANSWER_TIME,
  DEAD_DELIVERY_TIME,
  FILE_ANSWER_TIME,
  LINE_OF_FAILED_TIME,
  OWED_REFUND_SHOWN,
  OWED_REFUND_TIME,
  RECONCILIATION_TIME,
  REGISTRATION_TIME,
  UNANSWERED_PAYMENT_TIME,
  UNANSWERED_PAYOUT_TIME,
  UNEXPECTED_RETURN_SHOWN,
  UNEXPECTED_RETURN_TIME,
  kybDeadline,
} from './inbox-deadlines-sql.ts'
import { unansweredPayments } from '../payments/unanswered-sql.ts'
import { merchantInboxItems } from './merchant-inbox-sql.ts'

/** How many of each kind are read, the most urgent first, and how far the deliveries of one merchant are counted. */
const EACH_KIND_MAX = 500
const COUNTED_MAX = 10_000

export const InboxRecord = z.strictObject({
  kind: InboxKind,
  id: z.string(),
  merchant_id: z.string().nullable(),
  realm_slug: z.string().nullable(),
  trading_name: z.string(),
  count: z.int(),
  since: z.string(),
  due_at: z.string(),
  /** The deadline in microseconds since 1970, for the cursor. */
  due_us: z.string(),
  overdue: z.boolean(),
})
export type InboxRecord = z.infer<typeof InboxRecord>

/** The position of the previous page's last item. */
export type InboxPosition = { us: string; kind: string; id: string }

export type InboxFilter = {
  /** Undefined for operators. */
  merchantId: string | undefined
  kinds: readonly InboxKind[]
  after: InboxPosition | undefined
  limit: number
  holidays: Holidays
}

const columns = sql.fragment`item.kind, item.id, item.merchant_id, m.realm_slug, m.trading_name, item.count, item.since, item.due_at`

/** Tasks that need action, the most urgent first. Each kind has an index of its own. */
export function listInboxRows(tx: CommonQueryMethods, filter: InboxFilter): Promise<readonly InboxRecord[]> {
  const { merchantId, after, limit, holidays } = filter
  const parts = merchantId === undefined ? operatorItems(holidays) : merchantItems(merchantId, holidays)
  const behind =
    after === undefined
      ? sql.fragment`true`
      : sql.fragment`(item.due_at, item.kind, item.id) >
          ('epoch'::timestamptz + ${after.us}::bigint * interval '1 microsecond', ${after.kind}::text, ${after.id}::uuid)`
  return tx.any(sql.type(InboxRecord)`
    select item.*, (extract(epoch from item.due_at) * 1000000)::bigint::text as due_us, item.due_at < now() as overdue
    from (${sql.join(parts, sql.fragment` union all `)}) item
    where item.kind = any (${sql.array([...filter.kinds], 'text')}) and ${behind}
    order by item.due_at, item.kind, item.id
    limit ${limit}
  `)
}

function operatorItems(holidays: Holidays): FragmentSqlToken[] {
  const all = sql.fragment`true`
  return [
    withMerchant(pendingKyb(holidays)),
    stuckRegistrations(),
    withMerchant(awaitedEvidence(all)),
    withMerchant(disputesIn('UNDER_REVIEW', 'dispute_under_review')),
    withMerchant(disputesIn('ESCALATED', 'dispute_escalated')),
    withMerchant(rejectedRefunds()),
    withMerchant(deadDeliveries(all)),
    withMerchant(unansweredPayouts()),
    withMerchant(waitingPayouts()),
    withMerchant(unexpectedReturns()),
    withMerchant(unansweredPayments({ time: UNANSWERED_PAYMENT_TIME, limit: EACH_KIND_MAX })),
    withMerchant(unansweredRefunds()),
    withMerchant(waitingRefunds()),
    withMerchant(returnedRefunds()),
    withMerchant(linesOfFailed()),
    lastReconciliation(),
  ]
}

function merchantItems(id: string, holidays: Holidays): FragmentSqlToken[] {
  return [
    withMerchant(awaitedEvidence(sql.fragment`d.merchant_id = ${id}::uuid`)),
    withMerchant(deadDeliveries(sql.fragment`o.id = ${id}::uuid`)),
    ...merchantInboxItems(id, holidays).map((part) => withMerchant(part)),
  ]
}

function withMerchant(items: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`select ${columns} from (${items}) item join merchants m on m.id = item.merchant_id`
}

function pendingKyb(holidays: Holidays): FragmentSqlToken {
  return sql.fragment`
    select 'kyb_pending' as kind, w.id, w.id as merchant_id, 1 as count, w.created_at as since,
      ${kybDeadline(sql.fragment`w.created_at`, holidays)} as due_at
    from (select id, created_at from merchants where kyb_status = 'PENDING' order by created_at limit ${EACH_KIND_MAX}) w`
}

/** Registrations that need repair (registrations/sql.ts); a failed one has released its slug and needs none. */
function stuckRegistrations(): FragmentSqlToken {
  return sql.fragment`
    (
      select 'registration_stuck' as kind, r.id, r.merchant_id, r.slug as realm_slug, r.trading_name, 1 as count,
        r.created_at as since, r.created_at + ${REGISTRATION_TIME} as due_at
      from registration r
      where (r.status = 'PROVISIONING' and r.locked_until <= now())
        or (r.status = 'COMPLETE' and r.warnings <> '{}')
        or (r.status = 'COMPLETE' and r.invited_at is null
          and (r.invite_attempts > 0 or r.invite_due_at < now() - interval '1 minute'))
      order by r.created_at
      limit ${EACH_KIND_MAX}
    )`
}

/** The last run of the daily reconciliation, unless the books were in order. */
function lastReconciliation(): FragmentSqlToken {
  return sql.fragment`
    select 'reconciliation_' || lower(r.status) as kind, r.id, null::uuid as merchant_id, null as realm_slug,
      'All merchants' as trading_name, r.difference_count as count, r.finished_at as since,
      r.finished_at + ${RECONCILIATION_TIME} as due_at
    from (
      select * from reconciliations where status <> 'RUNNING' and started_at <= now() order by started_at desc, id desc limit 1
    ) r
    where r.status <> 'BALANCED'`
}

function awaitedEvidence(condition: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`
    select 'dispute_evidence_due' as kind, d.id, d.merchant_id, 1 as count, d.created_at as since,
      d.evidence_due_at as due_at
    from disputes d
    where d.status = 'OPEN' and ${condition}
    order by d.evidence_due_at
    limit ${EACH_KIND_MAX}`
}

function disputesIn(status: string, kind: InboxKind): FragmentSqlToken {
  return sql.fragment`
    select ${kind}::text as kind, d.id, d.merchant_id, 1 as count, ${inStatusSince} as since, ${disputeDue} as due_at
    from (
      select id, merchant_id, status, evidence_due_at from disputes where status = ${status}::dispute_status order by created_at limit ${EACH_KIND_MAX}
    ) d`
}

/** Disputes whose refund the bank has rejected, until it is ordered again or nothing is left of the payment. */
function rejectedRefunds(): FragmentSqlToken {
  return sql.fragment`
    (
      select 'dispute_refund_rejected' as kind, d.id, d.merchant_id, 1 as count, r.updated_at as since,
        r.updated_at + ${OWED_REFUND_TIME} as due_at
      from payment_refunds r
      join disputes d on d.merchant_id = r.merchant_id and d.id = r.dispute_id and d.refund_id = r.id
      join payment_intents p on p.merchant_id = r.merchant_id and p.id = r.payment_intent_id
      where r.status = 'FAILED' and r.dispute_id is not null and d.status = 'RESOLVED_PAYER_FAVOUR'
        and p.gross_amount > p.refunded_amount + p.refund_reserved_amount
        and r.updated_at > now() - ${OWED_REFUND_SHOWN}
      order by r.updated_at
      limit ${EACH_KIND_MAX}
    )`
}

/** The DEAD deliveries of a merchant as one item. */
function deadDeliveries(condition: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`
    select 'deliveries_dead' as kind, o.id, o.id as merchant_id, lost.count, lost.since, lost.since + ${DEAD_DELIVERY_TIME} as due_at
    from merchants o
    cross join lateral (
      select count(*)::int4 as count, min(f.created_at) as since
      from (
        select d.created_at from webhook_deliveries d
        where d.merchant_id = o.id and d.status = 'DEAD'
        order by d.created_at, d.id
        limit ${COUNTED_MAX}
      ) f
    ) lost
    where lost.count > 0 and ${condition}
    order by lost.since
    limit ${EACH_KIND_MAX}`
}

/** The payouts of a merchant for which the bank's answer is late, as one item. How long it takes is an age. */
function unansweredPayouts(): FragmentSqlToken {
  const time = sql.fragment`case p.connector when 'file' then ${FILE_ANSWER_TIME} else ${API_ANSWER_TIME} end`
  const rows = sql.fragment`
    select p.merchant_id, sandbox_moved_moment(p.merchant_id, p.sent_at) as sent_at, ${time} as time
    from payouts p
    where p.status = 'SENT'`
  return unanswered('payouts_unanswered', rows)
}

/** The same of its refunds that a file took to the bank. */
function unansweredRefunds(): FragmentSqlToken {
  const rows = sql.fragment`
    select r.merchant_id, sandbox_moved_moment(r.merchant_id, r.sent_at) as sent_at, ${FILE_ANSWER_TIME} as time
    from payment_refunds r
    where r.status = 'PENDING' and r.sent_at is not null`
  return unanswered('refunds_unanswered', rows)
}

/** Its payouts that neither a file nor an API has taken for as long, such as those of a currency without an account of ours. */
function waitingPayouts(): FragmentSqlToken {
  const rows = sql.fragment`
    select p.merchant_id, sandbox_moved_moment(p.merchant_id, p.created_at) as sent_at, ${FILE_ANSWER_TIME} as time
    from payouts p
    where p.status = 'CREATED'`
  return unanswered('payouts_waiting', rows)
}

/**
 * Refunds of a merchant that no file has taken and no API has answered for as long, whatever they wait for, as one item under
 * the id of the oldest.
 */
function waitingRefunds(): FragmentSqlToken {
  return sql.fragment`
    (
      select 'refunds_waiting' as kind, (array_agg(waiting.id order by waiting.since, waiting.id))[1] as id,
        waiting.merchant_id, count(*)::int4 as count, min(waiting.since) as since,
        min(waiting.since) + ${FILE_ANSWER_TIME} + ${UNANSWERED_PAYOUT_TIME} as due_at
      from (
        select r.id, r.merchant_id, sandbox_moved_moment(r.merchant_id, r.created_at) as since
        from payment_refunds r
        where r.status = 'PENDING' and r.sent_at is null
      ) waiting
      where waiting.since + ${FILE_ANSWER_TIME} < now()
      group by waiting.merchant_id
      order by min(waiting.since)
      limit ${EACH_KIND_MAX}
    )`
}

/** Payouts that a bank has returned although they are not PAID here. */
function unexpectedReturns(): FragmentSqlToken {
  return sql.fragment`
    (
      select 'payout_returned_late' as kind, p.id, p.merchant_id, 1 as count, p.unexpected_return_at as since,
        p.unexpected_return_at + ${UNEXPECTED_RETURN_TIME} as due_at
      from payouts p
      where p.unexpected_return_at > now() - ${UNEXPECTED_RETURN_SHOWN}
      order by p.unexpected_return_at
      limit ${EACH_KIND_MAX}
    )`
}

function unanswered(kind: InboxKind, rows: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`
    (
      select ${kind}::text as kind, sent.merchant_id as id, sent.merchant_id, count(*)::int4 as count,
        min(sent.sent_at) as since, min(sent.sent_at + sent.time) + ${UNANSWERED_PAYOUT_TIME} as due_at
      from (${rows}) sent
      where sent.sent_at + sent.time < now()
      group by sent.merchant_id
      order by min(sent.sent_at)
      limit ${EACH_KIND_MAX}
    )`
}

/** What the bank has booked although it has failed here, until an operator has explained the line. */
function linesOfFailed(): FragmentSqlToken {
  return sql.fragment`
    (
      select 'statement_' || lower(l.direction) || '_of_failed' as kind, l.id, known.merchant_id, 1 as count,
        l.created_at as since, l.created_at + ${LINE_OF_FAILED_TIME} as due_at
      from bank_statement_lines l
      cross join lateral ${knownOf}
      where l.matched_by is null and known.is_of_failed
      order by l.created_at
      limit ${EACH_KIND_MAX}
    )`
}

/** Refunds that the bank has returned, until their amount is in the merchant's balance. */
function returnedRefunds(): FragmentSqlToken {
  return sql.fragment`
    (
      select 'refund_returned' as kind, l.id, l.merchant_id, 1 as count, l.matched_at as since,
        l.matched_at + ${OWED_REFUND_TIME} as due_at
      from bank_statement_lines l
      where l.refund_id is not null and l.direction = 'CREDIT'
        and not exists (select from corrections c where c.merchant_id = l.merchant_id and c.refund_id = l.refund_id)
      order by l.matched_at
      limit ${EACH_KIND_MAX}
    )`
}
