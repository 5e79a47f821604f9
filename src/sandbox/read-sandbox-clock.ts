import type { App } from '../app.ts'
import { invalidField } from '../lib/errors.ts'
import { findSubjects } from './clock-subjects.ts'
import type { NamedSubjects } from './clock-subjects.ts'
import { findClockReading } from './sql.ts'
import type { ClockReading, ClockSubjects } from './sql.ts'

/**
 * Reads how far the sandbox clock of one merchant, or of one customer, is ahead of real time.
 * @throws {DomainError} MERCHANT_NOT_FOUND; VALIDATION_FAILED unless exactly one of the two is given
 */
export async function readSandboxClock(app: Pick<App, 'pool'>, named: NamedSubjects): Promise<ClockReading> {
  const subjects = await findSubjects(app, named, () => 'customer_id')
  const [subject, ...others] = idsOf(subjects)
  if (subject === undefined || others.length > 0)
    throw invalidField('customer_id', 'CONTRADICTORY', 'give either a merchant or a customer: each has its own clock')
  return findClockReading(app.pool, subject)
}

/** The merchant first. */
export function idsOf({ merchantId, customerIds }: ClockSubjects): string[] {
  return [...(merchantId === null ? [] : [merchantId]), ...customerIds]
}
