import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { mustMove } from '../lib/machine.ts'
import { takeWebhookSequence } from '../payments/sql.ts'
import { enqueueWebhook } from '../webhooks/enqueue.ts'
import type { DisputeChangedBy, DisputeStatus } from '../wire/dispute-fields.ts'
import { disputeEventData } from './event-data.ts'
import { findDispute } from './read-sql.ts'
import type { DisputeRecord } from './record.ts'
import { insertDispute, insertDisputeEvent, updateDispute } from './sql.ts'
import type { DisputeChanges, NewDispute } from './sql.ts'
import { DISPUTE_TRANSITIONS } from './states.ts'
import type { DisputeStep, DisputeTransition, DisputeTrigger } from './states.ts'

/** The role that takes a step, and the user; jobs and payers have no `actor`. */
export type DisputeStepActor = { changedBy: DisputeChangedBy; actor: { id: string; name: string } | null }

type Step = {
  by: DisputeStepActor
  /** The statement, evidence, reason or note of this step. */
  note: string | null
}

export type DisputeMove = Step & {
  merchantId: string
  id: string
  from: DisputeStatus
  on: DisputeTrigger
  changes: DisputeChanges
}

/**
 * Moves a dispute: guarded update, event and webhook. The caller's transaction has locked the dispute's row and, where the
 * move has a webhook, the payment's row before it. Only this module changes a dispute's status, and only along
 * DISPUTE_TRANSITIONS. After the commit of a move with a webhook the caller calls `announceMove`.
 * @throws when the table has no such transition or the dispute has another status, which is a bug
 */
export async function moveDispute(
  tx: DatabaseTransactionConnection,
  app: App,
  { merchantId, id, from, on, changes, by, note }: DisputeMove,
): Promise<DisputeRecord> {
  const transition = mustMove<DisputeTransition>(DISPUTE_TRANSITIONS, from, on)
  const moved = await updateDispute(tx, { merchantId, id, from, to: transition.to, changes })
  if (!moved) throw new Error('a dispute whose row is locked did not move')
  return recordStep(tx, app, { key: { merchantId, id }, transition, by, note })
}

/** Opens a dispute, the move without a previous status. Null where the payment has an open one. */
export async function openDispute(
  tx: DatabaseTransactionConnection,
  app: App,
  { by, note, ...dispute }: NewDispute & Step,
): Promise<DisputeRecord | null> {
  const transition = mustMove<DisputeTransition>(DISPUTE_TRANSITIONS, null, 'opening')
  const inserted = await insertDispute(tx, dispute)
  if (!inserted) return null
  return recordStep(tx, app, { key: { merchantId: dispute.merchantId, id: dispute.id }, transition, by, note })
}

/** Changes a dispute that stays in its status, and records an event. */
export async function changeDispute(
  tx: DatabaseTransactionConnection,
  app: App,
  { merchantId, id, from, on, changes, by, note }: Omit<DisputeMove, 'on'> & { on: DisputeStep },
): Promise<DisputeRecord> {
  const changed = await updateDispute(tx, { merchantId, id, from, to: from, changes })
  if (!changed) throw new Error('a dispute whose row is locked did not change')
  return recordStep(tx, app, { key: { merchantId, id }, transition: { from, on, to: from, webhook: null }, by, note })
}

/** Logs a committed move, and wakes the jobs that deliver its webhook and execute its refund. */
export function announceMove(app: App, dispute: DisputeRecord): void {
  app.log.info({ dispute_id: dispute.id, payment_id: dispute.payment_id, to: dispute.status }, 'a dispute has moved')
  app.wake.notify('deliver-webhooks')
  if (dispute.refund_id !== null) app.wake.notify('resume-refunds')
}

type RecordStepInput = Step & {
  key: { merchantId: string; id: string }
  transition: Omit<DisputeTransition, 'on'> & { on: DisputeStep }
}

async function recordStep(
  tx: DatabaseTransactionConnection,
  app: App,
  { key, transition, by, note }: RecordStepInput,
): Promise<DisputeRecord> {
  const { merchantId, id } = key
  await insertDisputeEvent(tx, {
    id: app.ids.uuid(),
    merchantId,
    disputeId: id,
    previousStatus: transition.from,
    newStatus: transition.to,
    event: transition.on,
    changedBy: by.changedBy,
    actorId: by.actor?.id ?? null,
    actorName: by.actor?.name ?? null,
    note,
  })
  const dispute = await findDispute(tx, key)
  if (dispute === null) throw new Error('a dispute that was written is missing')
  if (transition.webhook !== null) await enqueueDisputeWebhook(tx, app, { dispute, eventType: transition.webhook })
  return dispute
}

async function enqueueDisputeWebhook(
  tx: DatabaseTransactionConnection,
  app: App,
  { dispute, eventType }: { dispute: DisputeRecord; eventType: NonNullable<DisputeTransition['webhook']> },
): Promise<void> {
  const { merchant_id: merchantId, payment_id: paymentId } = dispute
  const sequence = await takeWebhookSequence(tx, { merchantId, id: paymentId })
  const data = disputeEventData(dispute, { sequence, isTest: app.config.mode === 'sandbox' })
  await enqueueWebhook(app, tx, { merchantId, eventType, payment: { id: paymentId, sequence }, data })
}
