import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { Holidays } from '../lib/working-days.ts'
import { InboxKind } from '../wire/console.ts'
import { disputeDue, inStatusSince } from '../disputes/deadline-sql.ts'
import { DEAD_DUE, REGISTRATION_DUE, kybDue } from './inbox-deadlines-sql.ts'
import { ownMatters } from './merchant-inbox-sql.ts'

/** How many of each kind are looked at, the most urgent ones, and how far the deliveries of one merchant are counted. */
const OF_EACH_MAX = 500
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

/** The last item of the page before. */
export type InboxPlace = { us: string; kind: string; id: string }

export type InboxFilter = {
  /** Undefined for operators. */
  merchantId: string | undefined
  kinds: readonly InboxKind[]
  after: InboxPlace | undefined
  limit: number
  holidays: Holidays
}

const columns = sql.fragment`item.kind, item.id, item.merchant_id, m.realm_slug, m.trading_name, item.count, item.since, item.due_at`

/** What waits for a person, the most urgent first. Each kind is found by an index of its own. */
export function listInboxRows(db: CommonQueryMethods, filter: InboxFilter): Promise<readonly InboxRecord[]> {
  const { merchantId, after, limit, holidays } = filter
  const parts = merchantId === undefined ? ofOperators(holidays) : ofMerchant(merchantId, holidays)
  const behind =
    after === undefined
      ? sql.fragment`true`
      : sql.fragment`(item.due_at, item.kind, item.id) >
          ('epoch'::timestamptz + ${after.us}::bigint * interval '1 microsecond', ${after.kind}::text, ${after.id}::uuid)`
  return db.any(sql.type(InboxRecord)`
    select item.*, (extract(epoch from item.due_at) * 1000000)::bigint::text as due_us, item.due_at < now() as overdue
    from (${sql.join(parts, sql.fragment` union all `)}) item
    where item.kind = any (${sql.array([...filter.kinds], 'text')}) and ${behind}
    order by item.due_at, item.kind, item.id
    limit ${limit}
  `)
}

function ofOperators(holidays: Holidays): FragmentSqlToken[] {
  const all = sql.fragment`true`
  return [
    withMerchant(pending(holidays)),
    registrations(),
    withMerchant(evidence(all)),
    withMerchant(contested('UNDER_REVIEW', 'dispute_under_review')),
    withMerchant(contested('ESCALATED', 'dispute_escalated')),
    withMerchant(dead(all)),
  ]
}

function ofMerchant(id: string, holidays: Holidays): FragmentSqlToken[] {
  return [
    withMerchant(evidence(sql.fragment`d.merchant_id = ${id}::uuid`)),
    withMerchant(dead(sql.fragment`o.id = ${id}::uuid`)),
    ...ownMatters(id, holidays).map((part) => withMerchant(part)),
  ]
}

function withMerchant(items: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`select ${columns} from (${items}) item join merchants m on m.id = item.merchant_id`
}

function pending(holidays: Holidays): FragmentSqlToken {
  return sql.fragment`
    select 'kyb_pending' as kind, w.id, w.id as merchant_id, 1 as count, w.created_at as since,
      ${kybDue(sql.fragment`w.created_at`, holidays)} as due_at
    from (select id, created_at from merchants where kyb_status = 'PENDING' order by created_at limit ${OF_EACH_MAX}) w`
}

/** Those that need a hand (registrations/sql.ts); one that failed has freed its name, and nobody waits for it. */
function registrations(): FragmentSqlToken {
  return sql.fragment`
    (
      select 'registration_stuck' as kind, r.id, r.merchant_id, r.slug as realm_slug, r.trading_name, 1 as count,
        r.created_at as since, r.created_at + ${REGISTRATION_DUE} as due_at
      from registration r
      where (r.status = 'PROVISIONING' and r.locked_until <= now())
        or (r.status = 'COMPLETE' and r.warnings <> '{}')
        or (r.status = 'COMPLETE' and r.invited_at is null
          and (r.invite_attempts > 0 or r.invite_due_at < now() - interval '1 minute'))
      order by r.created_at
      limit ${OF_EACH_MAX}
    )`
}

function evidence(whose: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`
    select 'dispute_evidence_due' as kind, d.id, d.merchant_id, 1 as count, d.created_at as since,
      d.evidence_due_at as due_at
    from disputes d
    where d.status = 'OPEN' and ${whose}
    order by d.evidence_due_at
    limit ${OF_EACH_MAX}`
}

function contested(status: string, kind: InboxKind): FragmentSqlToken {
  return sql.fragment`
    select ${kind}::text as kind, d.id, d.merchant_id, 1 as count, ${inStatusSince} as since, ${disputeDue} as due_at
    from (
      select id, merchant_id, status, evidence_due_at from disputes where status = ${status}::dispute_status order by created_at limit ${OF_EACH_MAX}
    ) d`
}

/** The DEAD deliveries of a merchant, as one. */
function dead(whose: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`
    select 'deliveries_dead' as kind, o.id, o.id as merchant_id, lost.count, lost.since, lost.since + ${DEAD_DUE} as due_at
    from merchants o
    cross join lateral (
      select count(*)::int4 as count, min(f.created_at) as since
      from (
        select d.created_at from webhook_deliveries d
        where d.merchant_id = o.id and d.last_error is not null and d.status = 'DEAD'
        order by d.created_at, d.id
        limit ${COUNTED_MAX}
      ) f
    ) lost
    where lost.count > 0 and ${whose}
    order by lost.since
    limit ${OF_EACH_MAX}`
}
