import type { CommonQueryMethods } from 'slonik'
import { mustMove } from '../../lib/machine.ts'
import type { RecurringStatus } from '../../wire/recurring.ts'
import type { RecurringKey } from './read.ts'
import { updateStatus } from './sql.ts'
import { RECURRING_TRANSITIONS } from './states.ts'
import type { RecurringTransition, RecurringTrigger } from './states.ts'

/**
 * Moves a recurring payment by a guarded update, which waits for a run that is just being made. This module alone writes
 * its status, and the transition table is its only rule.
 * @returns false where it is not this customer's, or no longer in `from`: nothing changed
 * @throws when the table has no such move, which is a programmer's error
 */
export function moveRecurring(
  db: CommonQueryMethods,
  { from, on, ...key }: RecurringKey & { from: RecurringStatus; on: RecurringTrigger },
): Promise<boolean> {
  const { to } = mustMove<RecurringTransition>(RECURRING_TRANSITIONS, from, on)
  return updateStatus(db, { ...key, from, to })
}

/** The status of a recurring payment that is stored as soon as it is ordered. */
export function initialStatus(): RecurringStatus {
  return mustMove<RecurringTransition>(RECURRING_TRANSITIONS, null, 'order').to
}
