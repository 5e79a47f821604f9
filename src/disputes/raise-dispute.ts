import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { hasMovedMoney } from '../lib/payment-status.ts'
import { paymentNotFound } from '../payments/get-payment.ts'
import { findPaymentById, lockPaymentRow } from '../payments/sql.ts'
import type { DisputeReason, OpenedBy } from '../wire/dispute-fields.ts'
import { announceMove, openDispute } from './move.ts'
import type { DisputeRecord } from './record.ts'
import { countDisputes, isWithinWindow } from './sql.ts'

/**
 * The maximum of disputes of one payment that one side opens, one after the other: more than that is abuse. Each side has
 * its own, so that a merchant can't use up its payer's.
 */
export const DISPUTES_MAX = 20

export type RaiseDisputeInput = {
  /** Undefined where the caller may dispute payments of every merchant: an operator, and a payer that the payer hub matched. */
  merchantId: string | undefined
  paymentId: string
  openedBy: OpenedBy
  reason: DisputeReason
  /** The statement of the side that opens it. */
  statement: string | undefined
  /** The user of the merchant or the platform who opens it; null for a payer. */
  actor: Actor | null
  /** The operator for the audit trail of operators, where one opens it. */
  operator?: Actor | undefined
}

/**
 * Disputes a settled or refunded payment for the payer, the merchant or the platform (decision 22). A payment has one
 * open dispute at a time, whichever side opens it.
 * @throws {DomainError} PAYMENT_NOT_FOUND, PAYMENT_NOT_DISPUTABLE, DISPUTE_ALREADY_OPEN
 */
export async function raiseDispute(app: App, input: RaiseDisputeInput): Promise<DisputeRecord> {
  const merchantId = await merchantOfPayment(app, input)
  const dispute = await app.pool.transaction(async (tx) => {
    const earlierCount = await lockDisputablePayment(tx, app, {
      merchantId,
      id: input.paymentId,
      openedBy: input.openedBy,
    })
    const opened = await openDispute(tx, app, {
      id: app.ids.for('dispute', input.paymentId, String(earlierCount)).uuid(),
      merchantId,
      paymentId: input.paymentId,
      openedBy: input.openedBy,
      reason: input.reason,
      payerStatement: input.openedBy === 'PAYER' ? (input.statement ?? null) : null,
      statement: input.openedBy === 'PAYER' ? null : (input.statement ?? null),
      evidenceSeconds: app.config.disputeEvidenceSeconds,
      by: { changedBy: input.openedBy, actor: input.actor },
      note: input.statement ?? null,
    })
    if (opened === null) throw alreadyOpen()
    if (input.operator !== undefined) await recordRaise(tx, app, { dispute: opened, operator: input.operator })
    return opened
  })
  announceMove(app, dispute)
  return dispute
}

async function merchantOfPayment(app: App, { merchantId, paymentId }: RaiseDisputeInput): Promise<string> {
  if (!isUuid(paymentId)) throw paymentNotFound()
  if (merchantId !== undefined) return merchantId
  const payment = await findPaymentById(app.pool, paymentId)
  if (payment === null) throw paymentNotFound()
  return payment.merchant_id
}

/** Locks the payment, checks that this side can dispute it, and returns the number of its earlier disputes. */
async function lockDisputablePayment(
  tx: DatabaseTransactionConnection,
  app: App,
  { openedBy, ...key }: { merchantId: string; id: string; openedBy: OpenedBy },
): Promise<number> {
  const payment = await lockPaymentRow(tx, key)
  if (payment === null) throw paymentNotFound()
  if (!hasMovedMoney(payment)) {
    throw new DomainError(
      'PAYMENT_NOT_DISPUTABLE',
      `the payment is ${payment.status}; only a Settled or Refunded one can be disputed`,
      { current: { status: payment.status } },
    )
  }
  const days = app.config.disputeWindowDays
  const of = { merchantId: key.merchantId, paymentId: key.id }
  if (!(await isWithinWindow(tx, { ...of, days }))) {
    throw new DomainError(
      'PAYMENT_NOT_DISPUTABLE',
      `the payment was created more than ${days} days ago, and can't be disputed any more`,
    )
  }
  // Counted while the payment is locked, so that one of two simultaneous requests sees the other's dispute.
  const { of_all: count, of_side: ofSide } = await countDisputes(tx, { ...of, openedBy })
  if (ofSide < DISPUTES_MAX) return count
  throw new DomainError(
    'PAYMENT_NOT_DISPUTABLE',
    `the payment was disputed ${DISPUTES_MAX} times from this side, the maximum; it can't be disputed again`,
  )
}

function alreadyOpen(): DomainError {
  return new DomainError('DISPUTE_ALREADY_OPEN', 'the payment has an open dispute', {
    next: 'list its disputes and continue the open one; another can be raised once that is resolved',
  })
}

async function recordRaise(
  tx: DatabaseTransactionConnection,
  app: App,
  { dispute, operator }: { dispute: DisputeRecord; operator: Actor },
): Promise<void> {
  const { id, merchant_id, payment_id, opened_by, reason, status } = dispute
  await recordAction(app, tx, {
    actor: operator,
    action: 'dispute.raise',
    merchantId: merchant_id,
    subjectId: id,
    reason: dispute.statement ?? undefined,
    after: { status, payment_id, opened_by, reason },
  })
}
