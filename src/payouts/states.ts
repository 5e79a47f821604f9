import type { Movement } from '../ledger/movements.ts'
import type { Transition } from '../lib/machine.ts'
import type { FailureCode } from '../lib/failure-codes.ts'
import type { PayoutStatus } from '../wire/payouts.ts'
import type { EventType } from '../wire/webhook-events.ts'

export type PayoutTrigger = 'creation' | 'sending' | 'confirmation' | 'rejection' | 'return'

export type PayoutTransition = Transition<PayoutStatus, PayoutTrigger> & {
  /** The webhook that announces it, and the movement of money in the ledger; null without. */
  webhook: Extract<EventType, `payout.${string}`> | null
  movement: Exclude<Movement, 'correction'> | null
}

/** Every allowed change of a payout's status (contract §Payout status). */
export const PAYOUT_TRANSITIONS = [
  { from: null, on: 'creation', to: 'CREATED', webhook: 'payout.created', movement: 'payout_sent' },
  { from: 'CREATED', on: 'sending', to: 'SENT', webhook: null, movement: null },
  { from: 'CREATED', on: 'rejection', to: 'FAILED', webhook: 'payout.failed', movement: 'payout_failed' },
  { from: 'SENT', on: 'confirmation', to: 'PAID', webhook: 'payout.paid', movement: 'payout_paid' },
  { from: 'SENT', on: 'rejection', to: 'FAILED', webhook: 'payout.failed', movement: 'payout_failed' },
  { from: 'PAID', on: 'return', to: 'RETURNED', webhook: 'payout.returned', movement: 'payout_returned' },
] as const satisfies readonly PayoutTransition[]

const ACCOUNT_FAILURES: readonly string[] = [
  'INVALID_CREDITOR_ACCOUNT',
  'ACCOUNT_CLOSED',
  'ACCOUNT_BLOCKED',
] satisfies FailureCode[]

/** Whether a failure concerns the account, so that another payout to it would fail too. */
export function concernsAccount(failureCode: FailureCode): boolean {
  return ACCOUNT_FAILURES.includes(failureCode)
}
