import type { Transition } from '../../lib/machine.ts'
import type { RecurringStatus } from '../../wire/recurring.ts'

export type RecurringTrigger = 'order' | 'order that is not stored at once' | 'storing' | 'rejection' | 'cancellation'
export type RecurringTransition = Transition<RecurringStatus, RecurringTrigger>

/** The transitions of a recurring payment's set-up, not of its runs (decisions 2 and 3). */
export const RECURRING_TRANSITIONS = [
  { from: null, on: 'order', to: 'InitiationCompleted' },
  { from: null, on: 'order that is not stored at once', to: 'InitiationPending' },
  { from: 'InitiationPending', on: 'storing', to: 'InitiationCompleted' },
  { from: 'InitiationPending', on: 'rejection', to: 'InitiationFailed' },
  { from: 'InitiationCompleted', on: 'cancellation', to: 'Cancelled' },
] as const satisfies readonly RecurringTransition[]
