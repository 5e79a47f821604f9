import type { Bank } from '../src/wire/banks.ts'
import type { Checkout } from '../src/wire/checkout.ts'
import type { CreatedPayment, PayerView } from '../src/wire/payments.ts'

/** The screens of the contract, and what comes before, instead and after. */
export type ScreenName = 'START' | 'ERROR' | 'ST-01' | 'ST-02' | 'ST-03' | 'ST-04' | 'ST-05' | 'END'

/** Where each phase of the flow is shown. */
export const SCREENS = {
  start: 'START',
  unusable: 'ERROR',
  consent: 'ST-01',
  banks: 'ST-02',
  creating: 'ST-03',
  handover: 'ST-03',
  cancelling: 'ST-03',
  processing: 'ST-04',
  waiting: 'ST-04',
  paid: 'ST-05',
  paidBefore: 'ST-05',
  failed: 'ST-05',
  left: 'END',
} as const satisfies Record<string, ScreenName>
export type Phase = keyof typeof SCREENS

/** What a screen or the service says, with what came with it. */
export type FlowEvent =
  | { type: 'OPENED'; checkout: Checkout; banks: Bank[] }
  | { type: 'OPENED_FAST'; checkout: Checkout; banks: Bank[]; bank: Bank }
  | { type: 'PAID_BEFORE'; checkout?: Checkout }
  | { type: 'UNUSABLE'; problem: Problem }
  | { type: 'RELOAD' | 'CONTINUE' | 'HAND_OVER' | 'TIMED_OUT' | 'CHECK_AGAIN' }
  | { type: 'CHOOSE'; bank: Bank }
  | { type: 'CREATED'; payment: CreatedPayment }
  | { type: 'REFUSED'; failure: string }
  | { type: 'AUTHORISED' | 'SETTLED'; seen: PayerView }
  | { type: 'FAILED'; seen: PayerView; failure: string }
  | { type: 'CANCEL' | 'CANCELLED' | 'TOO_LATE' | 'RETRY' | 'RETURN' }

/** Why there is no checkout. `message` is for the shop's developer; `again` tells whether another try may help. */
export type Problem = { code: string; message: string; again: boolean }

export type State = {
  phase: Phase
  checkout?: Checkout
  banks?: Bank[]
  bank?: Bank
  payment?: CreatedPayment
  /** The payment as it was seen last. */
  seen?: PayerView
  /** The code of a failed or refused payment. */
  failure?: string
  problem?: Problem
}

export const START: State = { phase: 'start' }

type Row = { readonly [Type in FlowEvent['type']]?: Phase }

/**
 * The flow (contract §Widget screens): from each phase, what leads where. What is not here does not happen. From ST-03
 * on nothing leads back, but for RETRY: a failed payment's payer chooses a bank again, and a new payment is made.
 */
export const FLOW: Readonly<Record<Phase, Row>> = {
  start: { OPENED: 'consent', OPENED_FAST: 'creating', PAID_BEFORE: 'paidBefore', UNUSABLE: 'unusable' },
  unusable: { RELOAD: 'start' },
  consent: { CONTINUE: 'banks', CANCEL: 'left' },
  banks: { CHOOSE: 'creating', CANCEL: 'left' },
  creating: { CREATED: 'handover', REFUSED: 'failed', PAID_BEFORE: 'paidBefore' },
  handover: {
    HAND_OVER: 'processing',
    AUTHORISED: 'processing',
    SETTLED: 'paid',
    FAILED: 'failed',
    CANCEL: 'cancelling',
  },
  // The bank may have been faster than the payer who cancels.
  cancelling: { CANCELLED: 'left', TOO_LATE: 'processing' },
  processing: { AUTHORISED: 'processing', SETTLED: 'paid', FAILED: 'failed', TIMED_OUT: 'waiting' },
  waiting: { CHECK_AGAIN: 'processing', AUTHORISED: 'waiting', SETTLED: 'paid', FAILED: 'failed', RETURN: 'left' },
  paid: { RETURN: 'left' },
  // The order was paid by another attempt: no failure, and nothing more to pay.
  paidBefore: { RETURN: 'left' },
  failed: { RETRY: 'banks', CANCEL: 'left', RETURN: 'left' },
  left: {},
}

/** The state after an event; the very same one where the event means nothing in it. */
export function next(state: State, event: FlowEvent): State {
  const phase = FLOW[state.phase][event.type]
  if (phase === undefined) return state
  const { type, ...said } = event
  // A new attempt knows nothing of the one before.
  return { ...(type === 'RETRY' ? withoutAttempt(state) : state), ...said, phase }
}

function withoutAttempt({ checkout, banks }: State): Partial<State> {
  return { ...(checkout && { checkout }), ...(banks && { banks }) }
}
