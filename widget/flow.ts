import type { Bank } from '../src/wire/banks.ts'
import type { Checkout } from '../src/wire/checkout.ts'
import type { CreatedPayment, PayerView } from '../src/wire/payments.ts'

/** The screens of the contract, and those before, instead and after. */
export type ScreenName = 'START' | 'ERROR' | 'ST-01' | 'ST-02' | 'ST-03' | 'ST-04' | 'ST-05' | 'END'

/** The screen of each phase. */
export const SCREENS = {
  start: 'START',
  unusable: 'ERROR',
  consent: 'ST-01',
  banks: 'ST-02',
  creating: 'ST-03',
  handover: 'ST-03',
  cancelling: 'ST-03',
  switching: 'ST-04',
  processing: 'ST-04',
  waiting: 'ST-04',
  paid: 'ST-05',
  paidBefore: 'ST-05',
  failed: 'ST-05',
  left: 'END',
} as const satisfies Record<string, ScreenName>
export type Phase = keyof typeof SCREENS

/** An event of a screen or of the service, with its data. */
export type FlowEvent =
  | { type: 'OPENED' | 'OPENED_ASKING'; checkout: Checkout; banks: Bank[] }
  | { type: 'OPENED_FAST'; checkout: Checkout; banks: Bank[]; bank: Bank }
  | { type: 'PAID_BEFORE'; checkout?: Checkout }
  | { type: 'UNUSABLE'; problem: Problem }
  | { type: 'RELOAD' | 'CONTINUE' | 'HAND_OVER' | 'TIMED_OUT' | 'CHECK_AGAIN' }
  | { type: 'CHOOSE'; bank: Bank }
  | { type: 'CREATED'; payment: CreatedPayment }
  | { type: 'REFUSED'; failure: string }
  | { type: 'CONNECTION'; isOffline: boolean }
  | { type: 'AUTHORISED' | 'SETTLED'; seen: PayerView }
  | { type: 'FAILED'; seen: PayerView; failure: string }
  | { type: 'CANCEL' | 'CANCELLED' | 'TOO_LATE' | 'RETRY' | 'RETURN' | 'OTHER_BANK' }

/** Why the checkout can't be used. `message` is for the shop's developer; `again`: whether a retry may help. */
export type Problem = { code: string; message: string; again: boolean }

export type State = {
  phase: Phase
  checkout?: Checkout
  banks?: Bank[]
  bank?: Bank
  payment?: CreatedPayment
  /** The payment as last received. */
  seen?: PayerView
  /** Whether the last look at the payment got no answer. */
  isOffline?: boolean
  /** The code of a failed or rejected payment. */
  failure?: string
  problem?: Problem
}

export const START: State = { phase: 'start' }

type Row = { readonly [Type in FlowEvent['type']]?: Phase }

/**
 * The flow (contract §Widget screens): the events of each phase and the phase they lead to. Anything else is ignored.
 * From ST-03 on nothing leads back except to a new payment: RETRY after a failed one, and OTHER_BANK, which cancels the
 * payment first unless the bank was faster.
 */
export const FLOW: Readonly<Record<Phase, Row>> = {
  start: {
    OPENED: 'consent',
    OPENED_FAST: 'creating',
    OPENED_ASKING: 'banks',
    PAID_BEFORE: 'paidBefore',
    UNUSABLE: 'unusable',
  },
  unusable: { RELOAD: 'start' },
  consent: { CONTINUE: 'banks', CHOOSE: 'creating', CANCEL: 'left' },
  banks: { CHOOSE: 'creating', CANCEL: 'left' },
  creating: { CREATED: 'handover', REFUSED: 'failed', PAID_BEFORE: 'paidBefore' },
  handover: {
    HAND_OVER: 'processing',
    AUTHORISED: 'processing',
    SETTLED: 'paid',
    FAILED: 'failed',
    CANCEL: 'cancelling',
    OTHER_BANK: 'switching',
    TIMED_OUT: 'waiting',
  },
  // The bank may be faster than a payer who cancels.
  cancelling: { CANCELLED: 'left', TOO_LATE: 'processing' },
  switching: { CANCELLED: 'banks', TOO_LATE: 'processing' },
  processing: {
    AUTHORISED: 'processing',
    SETTLED: 'paid',
    FAILED: 'failed',
    TIMED_OUT: 'waiting',
    OTHER_BANK: 'switching',
    CONNECTION: 'processing',
  },
  waiting: {
    CHECK_AGAIN: 'processing',
    AUTHORISED: 'waiting',
    SETTLED: 'paid',
    FAILED: 'failed',
    RETURN: 'left',
    OTHER_BANK: 'switching',
    CONNECTION: 'waiting',
  },
  paid: { RETURN: 'left' },
  // Another attempt paid the order: not a failure, and nothing left to pay.
  paidBefore: { RETURN: 'left' },
  failed: { RETRY: 'banks', CANCEL: 'left', RETURN: 'left' },
  left: {},
}

/** The state after an event; the same object if the phase ignores the event. */
export function next(state: State, event: FlowEvent): State {
  const phase = FLOW[state.phase][event.type]
  if (phase === undefined) return state
  const { type: _, ...said } = event
  // A new attempt starts without the data of the previous one.
  return { ...(phase === 'banks' ? withoutAttempt(state) : state), ...said, phase }
}

function withoutAttempt({ checkout, banks }: State): Partial<State> {
  return { ...(checkout && { checkout }), ...(banks && { banks }) }
}
