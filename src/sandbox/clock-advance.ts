import type { App } from '../app.ts'
import { parseDuration } from '../lib/duration.ts'
import type { DomainError } from '../lib/errors.ts'
import { invalidField } from '../lib/errors.ts'
import { idsOf } from './read-sandbox-clock.ts'
import { findClockReading } from './sql.ts'
import type { ClockSubjects } from './sql.ts'

/** How far to advance a clock: by a duration such as `11h`, or to a time of the subjects' own clock (ISO 8601). */
export type ClockAdvance = { by?: string | undefined; to?: string | undefined }

/** Longer than the time to any due time. */
const DAYS_MAX = 400
const DAY_MS = 86_400_000

/**
 * The number of milliseconds to advance.
 * @throws {DomainError} VALIDATION_FAILED at `by` or `to`; the clock never goes back
 */
export async function clockAdvanceMs(
  app: Pick<App, 'pool'>,
  subjects: ClockSubjects,
  { by, to }: ClockAdvance,
): Promise<number> {
  if (by !== undefined && to !== undefined)
    throw invalidField('to', 'CONTRADICTORY', 'give either a duration or a time, not both')
  if (by !== undefined) return durationOf(by)
  if (to !== undefined) return untilMoment(app, subjects, to)
  throw invalidField('by', 'REQUIRED', 'give a duration such as 11h')
}

function durationOf(by: string): number {
  const ms = parsed(by)
  if (ms > 0 && ms <= DAYS_MAX * DAY_MS) return ms
  throw tooFar('by', `must be greater than 0 and at most ${DAYS_MAX}d`)
}

function parsed(by: string): number {
  try {
    return parseDuration(by)
  } catch (error) {
    throw invalidField('by', 'INVALID', error instanceof Error ? error.message : 'is not a valid duration')
  }
}

async function untilMoment(app: Pick<App, 'pool'>, subjects: ClockSubjects, to: string): Promise<number> {
  const clocks = await Promise.all(idsOf(subjects).map((id) => findClockReading(app.pool, id)))
  const [clock] = clocks
  if (clock === undefined) throw new Error('a clock without subjects')
  if (clocks.some(({ ahead_ms }) => ahead_ms !== clock.ahead_ms))
    throw invalidField('to', 'CONTRADICTORY', 'the given subjects are at different times: advance them `by` a duration')
  const ms = Date.parse(to) - Date.parse(clock.now)
  if (ms <= 0) {
    const message = `is in the past: the clock is at ${clock.now} and can't go back`
    throw invalidField('to', 'IN_THE_PAST', message)
  }
  if (ms > DAYS_MAX * DAY_MS) throw tooFar('to', `is more than ${DAYS_MAX}d ahead; the clock is at ${clock.now}`)
  return ms
}

function tooFar(path: string, message: string): DomainError {
  return invalidField(path, 'OUT_OF_RANGE', message)
}
