import type { z } from 'zod'
import type { FieldError } from '../../lib/errors.ts'
import { validMembers } from '../../lib/field-errors.ts'
import { parseFrequency } from '../../lib/frequency.ts'
import type { Frequency } from '../../lib/frequency.ts'
import { londonDayOf } from '../../lib/london-time.ts'
import { firstRun } from '../../lib/recurrence.ts'
import type { Run, Schedule } from '../../lib/recurrence.ts'
import type { Holidays } from '../../lib/working-days.ts'
import { RecurringPaymentInitiation } from '../../wire/recurring.ts'
import type { RecurringRecord } from './record.ts'

/** Days have four-digit years; an offset can lead beyond them. */
const YEAR_MAX = 9999

/** The members of an order that define its schedule. */
const ScheduleFields = RecurringPaymentInitiation.pick({
  Frequency: true,
  FirstPaymentDateTime: true,
  NextPaymentDateTime: true,
  FinalPaymentDateTime: true,
})
type ScheduleFields = z.output<typeof ScheduleFields>

/** The result of checking a schedule: its first run, or all of its errors. */
export type PlannedSchedule = { first: Run } | { errors: FieldError[] }

/** The tolerance for time in transit and for the sender's clock. */
const LATE_MAX_MS = 60_000

/**
 * Checks the schedule of a new order (decisions 4 and 59): no start in the past, its times in their order, and at least
 * one run.
 */
export function planSchedule(
  fields: ScheduleFields,
  { holidays, now }: { holidays: Holidays; now: Date },
): PlannedSchedule {
  const errors = scheduleErrors(fields, now)
  if (errors.length > 0) return { errors }
  const first = firstRun({
    frequency: knownFrequency(fields.Frequency),
    first: new Date(fields.FirstPaymentDateTime),
    next: dateOf(fields.NextPaymentDateTime),
    final: dateOf(fields.FinalPaymentDateTime),
    holidays,
  })
  return first === null
    ? { errors: [wrongTime('FinalPaymentDateTime', 'is before the first possible payment')] }
    : { first }
}

/** The schedule errors of an order that is rejected for other reasons as well. */
export function scheduleRules(body: unknown, now: Date): FieldError[] {
  return scheduleErrors(validMembers(ScheduleFields, body), now)
}

function scheduleErrors(fields: Partial<ScheduleFields>, now: Date): FieldError[] {
  return [...frequencyErrors(fields.Frequency), ...timeErrors(fields, now)]
}

function frequencyErrors(text: string | undefined): FieldError[] {
  if (text === undefined) return []
  const frequency = parseFrequency(text)
  if (!('refused' in frequency)) return []
  const code = frequency.refused === 'unsupported' ? 'UNSUPPORTED_FREQUENCY' : 'INVALID'
  return [{ path: 'Frequency', code, message: frequency.message }]
}

function timeErrors(
  { FirstPaymentDateTime, NextPaymentDateTime, FinalPaymentDateTime }: Partial<ScheduleFields>,
  now: Date,
): FieldError[] {
  const times = { FirstPaymentDateTime, NextPaymentDateTime, FinalPaymentDateTime }
  const beyond = Object.entries(times)
    .filter(([, text]) => text !== undefined && londonDayOf(new Date(text)).year > YEAR_MAX)
    .map(([path]) => wrongTime(path, `is after the year ${YEAR_MAX}`))
  if (beyond.length > 0) return beyond
  const first = dateOf(FirstPaymentDateTime)
  const next = dateOf(NextPaymentDateTime)
  const final = dateOf(FinalPaymentDateTime)
  const errors: FieldError[] = []
  if (first !== null && first.getTime() < now.getTime() - LATE_MAX_MS) {
    const message = `is in the past: send a future time; it is now ${now.toISOString()}`
    errors.push(wrongTime('FirstPaymentDateTime', message))
  }
  if (isBefore(next, first) || isBefore(final, next))
    errors.push(wrongTime('NextPaymentDateTime', 'must be between FirstPaymentDateTime and FinalPaymentDateTime'))
  if (isBefore(final, first)) errors.push(wrongTime('FinalPaymentDateTime', 'is before FirstPaymentDateTime'))
  return errors
}

function isBefore(one: Date | null, other: Date | null): boolean {
  return one !== null && other !== null && one < other
}

function wrongTime(path: string, message: string): FieldError {
  return { path, code: 'INVALID_DATE', message }
}

function dateOf(text: string | null | undefined): Date | null {
  return text == null ? null : new Date(text)
}

/**
 * The schedule of a stored recurring payment.
 * @throws when its frequency is invalid, which was checked before
 */
export function scheduleOf(
  recurring: Pick<RecurringRecord, 'frequency' | 'first_payment_at' | 'next_payment_at' | 'final_payment_at'>,
  holidays: Holidays,
): Schedule {
  return {
    frequency: knownFrequency(recurring.frequency),
    first: new Date(recurring.first_payment_at),
    next: dateOf(recurring.next_payment_at),
    final: dateOf(recurring.final_payment_at),
    holidays,
  }
}

function knownFrequency(text: string): Frequency {
  const frequency = parseFrequency(text)
  if ('refused' in frequency) throw new Error(`a stored frequency ${frequency.message}`)
  return frequency
}
