import type { CommonQueryMethods, DatabaseTransactionConnection, FragmentSqlToken } from 'slonik'
import { sql } from '../db/sql.ts'
import type { DisputeStatus } from '../wire/dispute-fields.ts'
import { disputeDue } from './deadline-sql.ts'
import { DisputeEventRecord, DisputeRecord, DisputeSummaryRecord } from './record.ts'

export const disputeSummaryColumns = sql.fragment`
  d.id, d.merchant_id, d.payment_intent_id as payment_id, p.end_to_end_id, p.gross_amount,
  p.gross_amount - p.refunded_amount - p.refund_reserved_amount as refundable_amount, p.currency, d.opened_by, d.reason,
  d.status, d.payer_statement, d.statement, d.merchant_evidence is not null as has_evidence, d.evidence_due_at,
  d.evidence_missing, ${disputeDue} as due_at, d.assignee, d.escalation_reason, d.resolution_note, d.resolved_by, d.refund_id, r.status as refund_status,
  r.amount as refund_amount, m.trading_name, m.realm_slug, d.created_at as opened_at, d.updated_at, d.resolved_at
`

const disputeColumns = sql.fragment`${disputeSummaryColumns}, d.merchant_evidence`

export const disputeTables = sql.fragment`
  disputes d
  join payment_intents p on p.merchant_id = d.merchant_id and p.id = d.payment_intent_id
  join merchants m on m.id = d.merchant_id
  left join payment_refunds r on r.merchant_id = d.merchant_id and r.id = d.refund_id
`

export type DisputeKey = { merchantId: string; id: string }

export function findDispute(tx: CommonQueryMethods, { merchantId, id }: DisputeKey): Promise<DisputeRecord | null> {
  return tx.maybeOne(sql.type(DisputeRecord)`
    select ${disputeColumns} from ${disputeTables} where d.merchant_id = ${merchantId} and d.id = ${id}
  `)
}

/** A dispute of any merchant, for operators. */
export function findDisputeById(tx: CommonQueryMethods, id: string): Promise<DisputeRecord | null> {
  return tx.maybeOne(sql.type(DisputeRecord)`select ${disputeColumns} from ${disputeTables} where d.id = ${id}`)
}

/** Locks a dispute's row until the end of the transaction, and reads it. */
export function lockDisputeRow(
  tx: DatabaseTransactionConnection,
  { merchantId, id }: DisputeKey,
): Promise<DisputeRecord> {
  return tx.one(sql.type(DisputeRecord)`
    select ${disputeColumns} from ${disputeTables} where d.merchant_id = ${merchantId} and d.id = ${id} for update of d
  `)
}

/** The events of a dispute, the oldest first. */
export function listDisputeEventRows(
  tx: CommonQueryMethods,
  { merchantId, id }: DisputeKey,
): Promise<readonly DisputeEventRecord[]> {
  return tx.any(sql.type(DisputeEventRecord)`
    select e.ordinal::text as ordinal, e.previous_status, e.new_status, e.event, e.changed_by, e.actor_id, e.actor_name,
      e.note, e.created_at
    from dispute_events e
    where e.merchant_id = ${merchantId} and e.dispute_id = ${id}
    order by e.ordinal
  `)
}

export type DisputeFilter = {
  /** Undefined only for operators, who list disputes of all merchants. */
  merchantId: string | undefined
  status?: DisputeStatus | undefined
  paymentId?: string | undefined
  /** Opened then or later, and before `to`. */
  from?: string | undefined
  to?: string | undefined
  order: 'newest' | 'oldest'
  /** The last dispute of the page before. */
  afterId?: string | undefined
  limit: number
}

/** Disputes, the newest or the oldest first. */
export function listDisputeRows(
  tx: CommonQueryMethods,
  filter: DisputeFilter,
): Promise<readonly DisputeSummaryRecord[]> {
  const isNewest = filter.order === 'newest'
  return tx.any(sql.type(DisputeSummaryRecord)`
    select ${disputeSummaryColumns}
    from ${disputeTables}
    where ${sql.join(pageConditions(filter), sql.fragment` and `)}
    order by ${isNewest ? sql.fragment`d.created_at desc, d.id desc` : sql.fragment`d.created_at, d.id`}
    limit ${filter.limit}
  `)
}

/** The conditions of the filters over dispute `d`, for any order. */
export function filterConditions({
  merchantId,
  status,
  paymentId,
  from,
  to,
}: Omit<DisputeFilter, 'order' | 'afterId' | 'limit'>): FragmentSqlToken[] {
  const conditions = [merchantId === undefined ? sql.fragment`true` : sql.fragment`d.merchant_id = ${merchantId}`]
  if (status !== undefined) conditions.push(sql.fragment`d.status = ${status}::dispute_status`)
  if (paymentId !== undefined) conditions.push(sql.fragment`d.payment_intent_id = ${paymentId}`)
  if (from !== undefined) conditions.push(sql.fragment`d.created_at >= ${from}::timestamptz`)
  if (to !== undefined) conditions.push(sql.fragment`d.created_at < ${to}::timestamptz`)
  return conditions
}

function pageConditions(filter: DisputeFilter): FragmentSqlToken[] {
  const { merchantId, order, afterId } = filter
  const ofMerchant = merchantId === undefined ? sql.fragment`true` : sql.fragment`merchant_id = ${merchantId}`
  const conditions = filterConditions(filter)
  if (afterId !== undefined) {
    const position = sql.fragment`(select created_at, id from disputes where id = ${afterId} and ${ofMerchant})`
    conditions.push(
      order === 'newest'
        ? sql.fragment`(d.created_at, d.id) < ${position}`
        : sql.fragment`(d.created_at, d.id) > ${position}`,
    )
  }
  return conditions
}
