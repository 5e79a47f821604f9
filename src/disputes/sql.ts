import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { DisputeChangedBy, DisputeReason, DisputeStatus, OpenedBy } from '../wire/dispute-fields.ts'
import { OverdueDispute } from './record.ts'

/** Whether a payment was created within the last `days`, by the database's clock and the advances of the sandbox clock. */
export async function isWithinWindow(
  tx: CommonQueryMethods,
  { merchantId, paymentId, days }: { merchantId: string; paymentId: string; days: number },
): Promise<boolean> {
  const { exists } = await tx.one(sql.typeAlias('exists')`
    select exists (
      select
      from payment_intents
      where merchant_id = ${merchantId} and id = ${paymentId}
        and sandbox_moved_moment(merchant_id, created_at) > now() - make_interval(days => ${days})
    ) as exists
  `)
  return exists
}

export type NewDispute = {
  id: string
  merchantId: string
  paymentId: string
  openedBy: OpenedBy
  reason: DisputeReason
  payerStatement: string | null
  statement: string | null
  evidenceSeconds: number
}

/** Records an OPEN dispute; false where the payment has an open one. */
export async function insertDispute(tx: DatabaseTransactionConnection, dispute: NewDispute): Promise<boolean> {
  const inserted = await tx.query(sql.type(z.object({}))`
    insert into disputes (
      id, merchant_id, payment_intent_id, opened_by, reason, payer_statement, statement, evidence_due_at
    )
    values (
      ${dispute.id}, ${dispute.merchantId}, ${dispute.paymentId}, ${dispute.openedBy}::dispute_opened_by,
      ${dispute.reason}::dispute_reason, ${dispute.payerStatement}, ${dispute.statement},
      now() + make_interval(secs => ${dispute.evidenceSeconds})
    )
    on conflict (merchant_id, payment_intent_id) where status in ('OPEN', 'UNDER_REVIEW', 'ESCALATED') do nothing
  `)
  return inserted.rowCount === 1
}

/** Columns that a step changes beside the status; undefined members stay unchanged. */
export type DisputeChanges = {
  merchantEvidence?: string | undefined
  evidenceMissing?: boolean | undefined
  assignee?: string | undefined
  escalationReason?: string | undefined
  resolutionNote?: string | undefined
  resolvedBy?: string | undefined
  refundId?: string | undefined
}

/** Changes a dispute that is still in `from`; false where it is not. A resolution sets its time. */
export async function updateDispute(
  tx: DatabaseTransactionConnection,
  update: { merchantId: string; id: string; from: DisputeStatus; to: DisputeStatus; changes: DisputeChanges },
): Promise<boolean> {
  const { changes, to } = update
  const updated = await tx.query(sql.type(z.object({}))`
    update disputes
    set status = ${to}::dispute_status,
      merchant_evidence = coalesce(${changes.merchantEvidence ?? null}, merchant_evidence),
      evidence_missing = coalesce(${changes.evidenceMissing ?? null}, evidence_missing),
      assignee = coalesce(${changes.assignee ?? null}, assignee),
      escalation_reason = coalesce(${changes.escalationReason ?? null}, escalation_reason),
      resolution_note = coalesce(${changes.resolutionNote ?? null}, resolution_note),
      resolved_by = coalesce(${changes.resolvedBy ?? null}, resolved_by),
      refund_id = coalesce(${changes.refundId ?? null}::uuid, refund_id),
      resolved_at = case when ${to.startsWith('RESOLVED')} then coalesce(resolved_at, now()) end,
      updated_at = now()
    where merchant_id = ${update.merchantId} and id = ${update.id} and status = ${update.from}::dispute_status
  `)
  return updated.rowCount === 1
}

export type NewDisputeEvent = {
  id: string
  merchantId: string
  disputeId: string
  previousStatus: DisputeStatus | null
  newStatus: DisputeStatus
  event: string
  changedBy: DisputeChangedBy
  actorId: string | null
  actorName: string | null
  note: string | null
}

/** Appends an event; a trigger sets its ordinal and hashes in the dispute's chain. */
export async function insertDisputeEvent(tx: DatabaseTransactionConnection, event: NewDisputeEvent): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    insert into dispute_events (
      id, merchant_id, dispute_id, previous_status, new_status, event, changed_by, actor_id, actor_name, note, prev_hash,
      event_hash
    )
    values (
      ${event.id}, ${event.merchantId}, ${event.disputeId}, ${event.previousStatus}::dispute_status,
      ${event.newStatus}::dispute_status, ${event.event}, ${event.changedBy}, ${event.actorId}, ${event.actorName},
      ${event.note}, '', ''
    )
  `)
}

const DisputeCounts = z.object({ of_all: z.int(), of_side: z.int() })

/** The number of disputes of a payment, including an open one, and of those that one side has opened. */
export function countDisputes(
  tx: CommonQueryMethods,
  { merchantId, paymentId, openedBy }: { merchantId: string; paymentId: string; openedBy: OpenedBy },
): Promise<z.infer<typeof DisputeCounts>> {
  return tx.one(sql.type(DisputeCounts)`
    select count(*)::integer as of_all, count(*) filter (where opened_by = ${openedBy}::dispute_opened_by)::integer as of_side
    from disputes
    where merchant_id = ${merchantId} and payment_intent_id = ${paymentId}
  `)
}

/** Open disputes whose deadline has passed, the longest overdue first. */
export function listOverdueDisputes(
  tx: CommonQueryMethods,
  limit: number,
  after: Pick<OverdueDispute, 'evidence_due_at' | 'id'> = {
    evidence_due_at: '-infinity',
    id: '00000000-0000-0000-0000-000000000000',
  },
): Promise<readonly OverdueDispute[]> {
  return tx.any(sql.type(OverdueDispute)`
    select id, merchant_id, evidence_due_at::text
    from disputes d
    where status = 'OPEN' and evidence_due_at <= now()
      and evidence_due_at >= ${after.evidence_due_at}::timestamptz
      and (d.evidence_due_at, id) > (${after.evidence_due_at}::timestamptz, ${after.id}::uuid)
    order by d.evidence_due_at, id
    limit ${limit}
  `)
}

/** Locks a dispute if it is still open and overdue; false also where another transaction holds it. */
export async function lockOverdueDispute(
  tx: DatabaseTransactionConnection,
  dispute: Pick<OverdueDispute, 'merchant_id' | 'id'>,
): Promise<boolean> {
  const claimed = await tx.maybeOne(sql.type(OverdueDispute.pick({ id: true }))`
    select id
    from disputes
    where merchant_id = ${dispute.merchant_id} and id = ${dispute.id}
      and status = 'OPEN' and evidence_due_at <= now()
    for update skip locked
  `)
  return claimed !== null
}
