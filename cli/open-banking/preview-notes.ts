import { DateTime } from 'luxon'
import { BANK_HOLIDAYS } from '../../src/lib/bank-holidays.ts'
import { londonDayOf, parseDay } from '../../src/lib/london-time.ts'
import type { Run, Schedule } from '../../src/lib/recurrence.ts'

type Row = { day: string; weekday: string; time: string; at: string; note: string }

/** Each run with its time in London, and what is unusual about it. */
export function noted(schedule: Schedule, runs: readonly Run[]): Row[] {
  const first = inLondon(schedule.first)
  return runs.map((run, index) => {
    const local = inLondon(run.at)
    const before = runs[index - 1]
    const notes = [
      workingDayNote(schedule, run, before),
      monthNote(schedule, run),
      ...clockNotes({ local, first, before: before && inLondon(before.at) }),
    ]
    return {
      day: run.day,
      weekday: local.setLocale('en-GB').toFormat('ccc'),
      time: `${local.toFormat('HH:mm')} ${local.offset === 0 ? 'GMT' : 'BST'}`,
      at: run.at.toISOString(),
      note: notes.filter((each) => each !== '').join('; '),
    }
  })
}

function inLondon(at: Date): DateTime {
  return DateTime.fromJSDate(at, { zone: 'Europe/London' })
}

/** The holidays that were passed over since the run before, or since the day on which it was to begin. */
function workingDayNote({ frequency, first, holidays }: Schedule, run: Run, before: Run | undefined): string {
  if (frequency.kind !== 'every-working-day') return ''
  const asked = londonDayOf(first)
  const day = parseDay(run.day)
  const skipped: string[] = []
  let passed = before === undefined ? asked : parseDay(before.day).plus({ days: 1 })
  for (; passed < day; passed = passed.plus({ days: 1 })) {
    const text = passed.toISODate()
    if (holidays.has(text)) skipped.push(BANK_HOLIDAYS[text] ?? `the holiday of ${text}`)
  }
  const after = skipped.length === 0 ? '' : `after ${skipped.join(' and ')}`
  if (before !== undefined || day.equals(asked)) return after
  return `moved from ${asked.setLocale('en-GB').toFormat('ccc d LLLL')}${after === '' ? '' : `, ${after}`}`
}

function monthNote({ frequency, first, next }: Schedule, { day: text }: Run): string {
  if (frequency.kind !== 'months' && frequency.kind !== 'weeks') return ''
  const day = parseDay(text)
  const given = [first, ...(next === null ? [] : [next])].some((each) => londonDayOf(each).equals(day))
  const fits =
    frequency.kind === 'weeks'
      ? day.weekday === frequency.weekday
      : day.day === (frequency.day < 0 ? (day.daysInMonth ?? 0) + 1 + frequency.day : frequency.day)
  if (fits) return ''
  if (frequency.kind === 'months' && frequency.day > 0 && day.day === day.daysInMonth && day.day < frequency.day)
    return `no day ${frequency.day} in this month`
  return given ? 'the day that was given' : ''
}

type Clocks = { local: DateTime; first: DateTime; before: DateTime | undefined }

function clockNotes({ local, first, before }: Clocks): string[] {
  const clock = first.toFormat('HH:mm')
  const changed = before !== undefined && before.offset !== local.offset
  const isSkipped = local.toFormat('HH:mm') !== clock
  const isTwice = !isSkipped && local.getPossibleOffsets().length > 1
  return [
    changed ? (local.offset === 0 ? 'from here on winter time' : 'from here on summer time') : '',
    isSkipped ? `no ${clock} on this day: clocks go forward` : '',
    isTwice ? `${clock} comes twice: ${local.offset === 0 ? 'the second' : 'the first'}` : '',
  ]
}
