import type { App } from '../app.ts'
import { parseDuration } from '../lib/duration.ts'
import type { DomainError } from '../lib/errors.ts'
import { invalidField } from '../lib/errors.ts'
import { idsOf } from './read-sandbox-clock.ts'
import { findClockReading } from './sql.ts'
import type { ClockSubjects } from './sql.ts'

/** How far time is to pass: by a duration such as `11h`, or up to a moment of the subjects' own time (ISO 8601). */
export type ClockAdvance = { by?: string | undefined; to?: string | undefined }

/** More than any due time is away. */
const DAYS_MAX = 400
const DAY_MS = 86_400_000

/**
 * Milliseconds that are to pass.
 * @throws {DomainError} VALIDATION_FAILED at `by` or `to`; time does not go back
 */
export async function clockAdvanceMs(
  app: Pick<App, 'pool'>,
  subjects: ClockSubjects,
  { by, to }: ClockAdvance,
): Promise<number> {
  if (by !== undefined && to !== undefined)
    throw invalidField('to', 'CONTRADICTORY', 'say how long time is to pass, or up to when, and not both')
  if (by !== undefined) return durationOf(by)
  if (to !== undefined) return untilMoment(app, subjects, to)
  throw invalidField('by', 'REQUIRED', 'say how long time is to pass, such as 11h')
}

function durationOf(by: string): number {
  const ms = parsed(by)
  if (ms > 0 && ms <= DAYS_MAX * DAY_MS) return ms
  throw tooFar('by', `must be more than nothing and at most ${DAYS_MAX}d`)
}

function parsed(by: string): number {
  try {
    return parseDuration(by)
  } catch (error) {
    throw invalidField('by', 'INVALID', error instanceof Error ? error.message : 'is no duration')
  }
}

async function untilMoment(app: Pick<App, 'pool'>, subjects: ClockSubjects, to: string): Promise<number> {
  const clocks = await Promise.all(idsOf(subjects).map((id) => findClockReading(app.pool, id)))
  const [clock] = clocks
  if (clock === undefined) throw new Error('a clock of nobody')
  if (clocks.some(({ ahead_ms }) => ahead_ms !== clock.ahead_ms))
    throw invalidField(
      'to',
      'CONTRADICTORY',
      'those who are named are at different times: let time pass `by` a duration',
    )
  const ms = Date.parse(to) - Date.parse(clock.now)
  if (ms <= 0) {
    const message = `is in the past: it is ${clock.now} there already, and what has happened does not unhappen`
    throw invalidField('to', 'IN_THE_PAST', message)
  }
  if (ms > DAYS_MAX * DAY_MS) throw tooFar('to', `is more than ${DAYS_MAX}d ahead; it is ${clock.now} there`)
  return ms
}

function tooFar(path: string, message: string): DomainError {
  return invalidField(path, 'OUT_OF_RANGE', message)
}
