import type { App } from '../app.ts'
import { invalidField } from '../lib/errors.ts'
import { findSubjects } from './clock-subjects.ts'
import type { NamedSubjects } from './clock-subjects.ts'
import { findClockReading } from './sql.ts'
import type { ClockReading, ClockSubjects } from './sql.ts'

/**
 * How far the time of one merchant, or of one customer, is ahead of the real one.
 * @throws {DomainError} MERCHANT_NOT_FOUND; VALIDATION_FAILED where not one of the two is named
 */
export async function readSandboxClock(app: Pick<App, 'pool'>, named: NamedSubjects): Promise<ClockReading> {
  const subjects = await findSubjects(app, named, () => 'customer_id')
  const [subject, ...others] = idsOf(subjects)
  if (subject === undefined || others.length > 0)
    throw invalidField('customer_id', 'CONTRADICTORY', 'name a merchant or a customer: each has a time of its own')
  return findClockReading(app.pool, subject)
}

/** The merchant first. */
export function idsOf({ merchantId, customerIds }: ClockSubjects): string[] {
  return [...(merchantId === null ? [] : [merchantId]), ...customerIds]
}
