import type { CommonQueryMethods } from 'slonik'
import { mustMove } from '../../lib/machine.ts'
import type { RecurringStatus } from '../../wire/recurring.ts'
import type { RecurringKey } from './get-recurring.ts'
import { updateStatus } from './sql.ts'
import { RECURRING_TRANSITIONS } from './states.ts'
import type { RecurringTransition, RecurringTrigger } from './states.ts'

/**
 * Moves a recurring payment by a guarded update, which waits for a run in progress. Only this module writes its status,
 * and the transition table is its only rule.
 * @returns false if it belongs to another customer, or is no longer in `from`: nothing changed
 * @throws when the table has no such transition, which is a programming error
 */
export function moveRecurring(
  db: CommonQueryMethods,
  { from, on, ...key }: RecurringKey & { from: RecurringStatus; on: RecurringTrigger },
): Promise<boolean> {
  const { to } = mustMove<RecurringTransition>(RECURRING_TRANSITIONS, from, on)
  return updateStatus(db, { ...key, from, to })
}

/** The status of a recurring payment that is stored immediately. */
export function initialStatus(): RecurringStatus {
  return mustMove<RecurringTransition>(RECURRING_TRANSITIONS, null, 'order').to
}
