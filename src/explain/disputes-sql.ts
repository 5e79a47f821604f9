import type { CommonQueryMethods } from 'slonik'
import { sql } from '../db/sql.ts'
import { ToldDispute, ToldDisputeEvent } from './record.ts'

const columns = sql.fragment`
  d.id, d.merchant_id, d.payment_intent_id as payment_id, d.status, d.opened_by, d.reason, d.evidence_due_at,
  d.merchant_evidence is not null as has_evidence, d.assignee, d.escalation_reason is not null as was_escalated,
  d.refund_id, d.created_at, d.resolved_at, p.gross_amount, p.refunded_amount, p.refund_reserved_amount, p.currency, now() as now
`

const tables = sql.fragment`
  disputes d join payment_intents p on p.merchant_id = d.merchant_id and p.id = d.payment_intent_id
`

export function findDispute(
  tx: CommonQueryMethods,
  { merchantId, id }: { merchantId: string; id: string },
): Promise<ToldDispute | null> {
  return tx.maybeOne(sql.type(ToldDispute)`
    select ${columns} from ${tables} where d.merchant_id = ${merchantId} and d.id = ${id}
  `)
}

/** A payment's disputes, the newest first. */
export function listDisputes(
  tx: CommonQueryMethods,
  { merchantId, paymentId, limit }: { merchantId: string; paymentId: string; limit: number },
): Promise<readonly ToldDispute[]> {
  return tx.any(sql.type(ToldDispute)`
    select ${columns}
    from ${tables}
    where d.merchant_id = ${merchantId} and d.payment_intent_id = ${paymentId}
    order by d.created_at desc, d.id desc
    limit ${limit}
  `)
}

/** What happened to these disputes, the newest first. Statements and evidence stay where they are. */
export function listDisputeEvents(
  tx: CommonQueryMethods,
  { merchantId, disputeIds, limit }: { merchantId: string; disputeIds: readonly string[]; limit: number },
): Promise<readonly ToldDisputeEvent[]> {
  return tx.any(sql.type(ToldDisputeEvent)`
    select dispute_id, previous_status, new_status, event, changed_by, actor_name,
      case when changed_by = 'PLATFORM' and previous_status is not null then note end as operator_note, created_at
    from dispute_events
    where merchant_id = ${merchantId} and dispute_id = any(${sql.array([...disputeIds], 'uuid')})
    order by ordinal desc
    limit ${limit}
  `)
}
