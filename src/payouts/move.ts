import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import type { Posting } from '../ledger/movements.ts'
import { postMovements } from '../ledger/sql.ts'
import type { FailureCode } from '../lib/failure-codes.ts'
import { mustMove } from '../lib/machine.ts'
import { enqueueWebhook } from '../webhooks/enqueue.ts'
import { payoutEventData } from './event-data.ts'
import { freeSettlements, updatePayout } from './move-sql.ts'
import type { PayoutRecord } from './record.ts'
import type { PayoutKey } from './sql.ts'
import { PAYOUT_TRANSITIONS, concernsAccount } from './states.ts'
import type { PayoutTransition, PayoutTrigger } from './states.ts'

export type PayoutMove = PayoutKey & {
  from: PayoutRecord['status']
  changedBy: 'BATCH_JOB' | 'OPERATOR'
} & (
    | { on: 'sending' }
    | { on: 'confirmation'; bankReference: string | null }
    | { on: 'rejection'; failureCode: FailureCode }
    | { on: 'return'; failureCode: FailureCode }
  )

/**
 * Moves a payout along PAYOUT_TRANSITIONS, with its entry in the ledger and its webhook; a trigger writes the event. Only
 * this module changes a payout's status. After the commit the caller calls `announcePayout`.
 * @returns the payout, or null where another process has moved it before
 */
export async function movePayout(
  tx: DatabaseTransactionConnection,
  app: Pick<App, 'ids' | 'config'>,
  move: PayoutMove,
): Promise<PayoutRecord | null> {
  const transition = mustMove<PayoutTransition>(PAYOUT_TRANSITIONS, move.from, move.on)
  const failureCode = 'failureCode' in move ? move.failureCode : null
  const moved = await updatePayout(tx, {
    ...move,
    to: transition.to,
    bankReference: 'bankReference' in move ? move.bankReference : null,
    failureCode,
    retry: failureCode === null ? null : retryAfter(failureCode),
  })
  if (moved === null) return null
  if (failureCode !== null) await freeSettlements(tx, move)
  await recordMove(tx, app, { payout: moved, transition })
  return moved
}

function retryAfter(failureCode: FailureCode): 'at once' | 'later' | 'never' {
  if (concernsAccount(failureCode)) return 'never'
  // The merchant has disabled the account: the next payout goes to another one.
  return failureCode === 'CANCELLED_BY_MERCHANT' ? 'at once' : 'later'
}

/** Posts and announces what a transition does beside the status, in its transaction. */
export async function recordMove(
  tx: DatabaseTransactionConnection,
  app: Pick<App, 'ids' | 'config'>,
  { payout, transition }: { payout: PayoutRecord; transition: PayoutTransition },
): Promise<void> {
  const { merchant_id: merchantId, id, amount, currency, debt_deducted: debt } = payout
  const { movement, webhook } = transition
  const of = { merchantId, subjectId: id, currency }
  if (movement !== null) await postMovements(tx, [{ ...of, amount, movement }, ...debtPostings(of, { debt, movement })])
  if (webhook === null) return
  const data = payoutEventData(payout, { previousStatus: transition.from, isTest: app.config.mode === 'sandbox' })
  await enqueueWebhook(app, tx, { merchantId, eventType: webhook, payment: null, subjectId: id, data })
}

/** The money that a payout keeps back for a debt moves with the rest, and back where the payout comes to nothing. */
function debtPostings(
  of: { merchantId: string; subjectId: string; currency: string },
  { debt, movement }: { debt: string; movement: NonNullable<PayoutTransition['movement']> },
): Posting[] {
  if (debt === '0.0000' || movement === 'payout_paid') return []
  return [{ ...of, amount: debt, movement: movement === 'payout_sent' ? 'debt_deducted' : 'debt_restored' }]
}

/** Logs a committed move, and wakes the job that delivers its webhook. */
export function announcePayout(app: Pick<App, 'log' | 'wake'>, payout: PayoutRecord): void {
  app.log.info({ payout_id: payout.id, merchant_id: payout.merchant_id, to: payout.status }, 'a payout has moved')
  app.wake.notify('deliver-webhooks')
}

/** The transition of a new payout, which has no status before. */
export const CREATION = mustMove<PayoutTransition>(PAYOUT_TRANSITIONS, null, 'creation' satisfies PayoutTrigger)
