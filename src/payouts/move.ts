import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import type { Posting } from '../ledger/movements.ts'
import { postMovements } from '../ledger/sql.ts'
import type { FailureCode } from '../lib/failure-codes.ts'
import { mustMove } from '../lib/machine.ts'
import { enqueueWebhooks } from '../webhooks/enqueue.ts'
import { payoutEventData } from './event-data.ts'
import { freeSettlements, updatePayouts } from './move-sql.ts'
import type { PayoutChange } from './move-sql.ts'
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
 * Moves payouts along PAYOUT_TRANSITIONS, with their entries in the ledger and their webhooks; a trigger writes the events.
 * Only this module changes a payout's status. After the commit the caller calls `announcePayout` for each.
 * @returns those that have moved; another process has moved the others before
 */
export async function movePayouts(
  tx: DatabaseTransactionConnection,
  app: Pick<App, 'ids' | 'config'>,
  moves: readonly PayoutMove[],
): Promise<readonly PayoutRecord[]> {
  if (moves.length === 0) return []
  const transitions = new Map(
    moves.map(({ id, from, on }) => [id, mustMove<PayoutTransition>(PAYOUT_TRANSITIONS, from, on)]),
  )
  const of = (id: string): PayoutTransition => {
    const transition = transitions.get(id)
    if (transition === undefined) throw new Error(`the payout ${id} was not to be moved`)
    return transition
  }
  const moved = await updatePayouts(
    tx,
    moves.map((move) => ({ ...move, ...reasonOf(move), to: of(move.id).to })),
  )
  const back = moved.filter(({ failure_code: failureCode }) => failureCode !== null)
  if (back.length > 0) await freeSettlements(tx, back.map(keyOf))
  await recordMoves(
    tx,
    app,
    moved.map((payout) => ({ payout, transition: of(payout.id) })),
  )
  return moved
}

/** `movePayouts` of one; null where another process has moved it before. */
export async function movePayout(
  tx: DatabaseTransactionConnection,
  app: Pick<App, 'ids' | 'config'>,
  move: PayoutMove,
): Promise<PayoutRecord | null> {
  const [moved = null] = await movePayouts(tx, app, [move])
  return moved
}

function keyOf({ merchant_id: merchantId, id }: PayoutRecord): PayoutKey {
  return { merchantId, id }
}

function reasonOf(move: PayoutMove): Pick<PayoutChange, 'bankReference' | 'failureCode' | 'retry'> {
  const bankReference = 'bankReference' in move ? move.bankReference : null
  if (!('failureCode' in move)) return { bankReference, failureCode: null, retry: null }
  return { bankReference, failureCode: move.failureCode, retry: retryAfter(move.failureCode) }
}

function retryAfter(failureCode: FailureCode): 'at once' | 'later' | 'never' {
  if (concernsAccount(failureCode)) return 'never'
  return CANCELLATIONS.includes(failureCode) ? 'at once' : 'later'
}

/** The merchant has disabled the account, or an operator has stopped the payout: the next one can go as soon as it may. */
const CANCELLATIONS: readonly FailureCode[] = ['CANCELLED_BY_MERCHANT', 'CANCELLED_BY_PLATFORM']

type RecordedMove = { payout: PayoutRecord; transition: PayoutTransition }

/** Posts and announces what transitions do beside the status, in their transaction. */
export async function recordMoves(
  tx: DatabaseTransactionConnection,
  app: Pick<App, 'ids' | 'config'>,
  moves: readonly RecordedMove[],
): Promise<void> {
  const postings = moves.flatMap(postingsOf)
  if (postings.length > 0) await postMovements(tx, postings)
  const isTest = app.config.mode === 'sandbox'
  await enqueueWebhooks(
    app,
    tx,
    moves.flatMap(({ payout, transition: { webhook, from } }) => {
      if (webhook === null) return []
      const data = payoutEventData(payout, { previousStatus: from, isTest })
      return [{ merchantId: payout.merchant_id, eventType: webhook, payment: null, subjectId: payout.id, data }]
    }),
  )
}

function postingsOf({ payout, transition: { movement } }: RecordedMove): Posting[] {
  if (movement === null) return []
  const { merchant_id: merchantId, id: subjectId, amount, currency, debt_deducted: debt } = payout
  const of = { merchantId, subjectId, currency }
  return [{ ...of, amount, movement }, ...debtPostings(of, { debt, movement })]
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
