import fc from 'fast-check'
import t from 'tap'
import { parseFrequency, type Frequency } from '../../src/lib/frequency.ts'
import { firstRun, runAfter, type Run, type Schedule } from '../../src/lib/recurrence.ts'
import { bankHolidays } from '../../src/lib/working-days.ts'
import { emptyDatabase } from '../support/database.ts'
import { countRareThings, DAY_MS, drawn, LATEST, type SampledSchedule } from './recurrence-samples.ts'
import { expectedRuns, RUNS_MAX, type Expected } from './recurrence-oracle.ts'

function frequencyOf(text: string): Frequency {
  const frequency = parseFrequency(text)
  if ('refused' in frequency) throw new Error(`${text} ${frequency.message}`)
  return frequency
}

type ScheduleText = { frequency: string; first: string; next?: string; final?: string; extra?: string }

function scheduleOf({ frequency, first, next, final, extra }: ScheduleText): Schedule {
  return {
    frequency: frequencyOf(frequency),
    first: new Date(first),
    next: next === undefined ? null : new Date(next),
    final: final === undefined ? null : new Date(final),
    holidays: bankHolidays(extra),
  }
}

function runsOf(schedule: Schedule, count: number): Run[] {
  const runs: Run[] = []
  for (let run = firstRun(schedule); run !== null && runs.length < count; run = runAfter(schedule, run.day))
    runs.push(run)
  return runs
}

function daysOf(schedule: ScheduleText, count: number): string[] {
  return runsOf(scheduleOf(schedule), count).map(({ day }) => day)
}

t.test('each frequency gives the days that a calendar on the wall gives', async (t) => {
  const cases: [schedule: ScheduleText, days: string][] = [
    [{ frequency: 'EvryDay', first: '2026-12-30T09:00Z' }, '2026-12-30 2026-12-31 2027-01-01 2027-01-02'],
    [
      { frequency: 'EvryWorkgDay', first: '2026-12-23T09:00Z' },
      '2026-12-23 2026-12-24 2026-12-29 2026-12-30 2026-12-31 2027-01-04 2027-01-05',
    ],
    [{ frequency: 'EvryWorkgDay', first: '2026-12-26T09:00Z' }, '2026-12-29 2026-12-30'],
    [
      { frequency: 'EvryWorkgDay', first: '2026-12-23T09:00Z', next: '2026-12-25T09:00Z' },
      '2026-12-23 2026-12-29 2026-12-30',
    ],
    [
      { frequency: 'EvryWorkgDay', first: '2026-11-26T09:00Z', extra: '2026-11-27,2026-12-01' },
      '2026-11-26 2026-11-30 2026-12-02',
    ],
    [{ frequency: 'EvryWorkgDay', first: '2026-12-24T09:00Z', extra: '-2026-12-28' }, '2026-12-24 2026-12-28'],
    [{ frequency: 'IntrvlWkDay:01:07', first: '2026-12-27T09:00Z' }, '2026-12-27 2027-01-03 2027-01-10'],
    [
      { frequency: 'IntrvlWkDay:02:03', first: '2026-11-30T09:00Z' },
      '2026-11-30 2026-12-02 2026-12-16 2026-12-30 2027-01-13',
    ],
    [
      { frequency: 'IntrvlWkDay:02:03', first: '2026-11-30T09:00Z', next: '2026-12-04T09:00Z' },
      '2026-11-30 2026-12-04 2026-12-09 2026-12-23',
    ],
    [{ frequency: 'IntrvlWkDay:09:01', first: '2026-11-02T09:00Z' }, '2026-11-02 2027-01-04 2027-03-08'],
    [
      { frequency: 'IntrvlMnthDay:01:31', first: '2027-01-31T09:00Z' },
      '2027-01-31 2027-02-28 2027-03-31 2027-04-30 2027-05-31',
    ],
    [{ frequency: 'IntrvlMnthDay:01:30', first: '2028-01-31T09:00Z' }, '2028-01-31 2028-02-29 2028-03-30'],
    [{ frequency: 'IntrvlMnthDay:01:-01', first: '2028-01-31T09:00Z' }, '2028-01-31 2028-02-29 2028-03-31'],
    [{ frequency: 'IntrvlMnthDay:01:-05', first: '2028-02-10T09:00Z' }, '2028-02-10 2028-02-25 2028-03-27 2028-04-26'],
    [{ frequency: 'IntrvlMnthDay:03:15', first: '2026-11-20T09:00Z' }, '2026-11-20 2026-12-15 2027-03-15 2027-06-15'],
    [
      { frequency: 'IntrvlMnthDay:03:15', first: '2026-11-20T09:00Z', next: '2027-01-10T09:00Z' },
      '2026-11-20 2027-01-10 2027-01-15 2027-04-15',
    ],
    [{ frequency: 'IntrvlMnthDay:12:25', first: '2026-12-25T09:00Z' }, '2026-12-25 2027-12-25 2028-12-25'],
    [{ frequency: 'IntrvlMnthDay:24:29', first: '2028-02-29T09:00Z' }, '2028-02-29 2030-02-28 2032-02-29'],
  ]
  for (const [schedule, days] of cases) {
    const expected = days.split(' ')
    t.same(daysOf(schedule, expected.length), expected, JSON.stringify(schedule))
  }
})

t.test("runs keep London's time, through a time that is skipped and one that comes twice", async (t) => {
  const cases: [first: string, instants: string[]][] = [
    ['2026-03-28T01:30:00.000Z', ['2026-03-28T01:30:00.000Z', '2026-03-29T01:30:00.000Z', '2026-03-30T00:30:00.000Z']],
    ['2026-03-28T02:30:00.001Z', ['2026-03-28T02:30:00.001Z', '2026-03-29T01:30:00.001Z', '2026-03-30T01:30:00.001Z']],
    ['2026-10-24T00:30:00.000Z', ['2026-10-24T00:30:00.000Z', '2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z']],
    ['2026-10-25T01:30:00.000Z', ['2026-10-25T01:30:00.000Z', '2026-10-26T01:30:00.000Z', '2026-10-27T01:30:00.000Z']],
    ['2026-10-24T23:30:00.000Z', ['2026-10-24T23:30:00.000Z', '2026-10-26T00:30:00.000Z', '2026-10-27T00:30:00.000Z']],
  ]
  for (const [first, instants] of cases) {
    const runs = runsOf(scheduleOf({ frequency: 'EvryDay', first }), 3)
    t.same(
      runs.map(({ at }) => at.toISOString()),
      instants,
      first,
    )
  }
  const winterClock = runsOf(scheduleOf({ frequency: 'IntrvlMnthDay:03:25', first: '2026-01-25T01:30Z' }), 4)
  t.equal(winterClock.at(-1)?.at.toISOString(), '2026-10-25T00:30:00.000Z', 'the first of two, also from winter')
  const lateInJuly = { frequency: 'IntrvlMnthDay:01:01', first: '2026-07-31T23:30Z', next: '2026-08-31T23:59Z' }
  const runs = runsOf(scheduleOf(lateInJuly), 4)
  t.same(
    runs.map(({ day, at }) => `${day} ${at.toISOString()}`),
    [
      '2026-08-01 2026-07-31T23:30:00.000Z',
      '2026-09-01 2026-08-31T23:30:00.000Z',
      '2026-10-01 2026-09-30T23:30:00.000Z',
      '2026-11-01 2026-11-01T00:30:00.000Z',
    ],
    'half past midnight in London is the day before in UTC, and of `next` only the day counts',
  )
})

t.test('the final day is the last that can have a run, whatever its time', async (t) => {
  const first = '2026-11-30T23:00Z'
  t.same(daysOf({ frequency: 'EvryDay', first, final: '2026-12-01T00:00Z' }, 9), ['2026-11-30', '2026-12-01'])
  t.same(daysOf({ frequency: 'EvryDay', first, final: '2026-11-30T00:00Z' }, 9), ['2026-11-30'])
  t.same(daysOf({ frequency: 'EvryDay', first, final: '2026-11-29T23:59Z' }, 9), [])
  t.same(daysOf({ frequency: 'EvryDay', first, next: '2026-12-03T00:00Z', final: '2026-12-02T00:00Z' }, 9), [
    '2026-11-30',
  ])
  t.same(
    daysOf({ frequency: 'EvryDay', first: '2026-07-01T09:00Z', final: '2026-07-02T23:30Z' }, 9).at(-1),
    '2026-07-03',
    "it is London's day",
  )
  t.same(
    daysOf({ frequency: 'EvryWorkgDay', first: '2026-12-26T09:00Z', final: '2026-12-28T09:00Z' }, 9),
    [],
    'a first run that moves beyond it is none',
  )
})

t.test('a next that is on no later day than the first run changes nothing', async (t) => {
  const first = '2026-11-30T09:00Z'
  for (const next of ['2026-11-30T23:00Z', '2026-11-30T00:00Z', '2026-11-08T09:00Z']) {
    t.same(daysOf({ frequency: 'IntrvlWkDay:02:03', first, next }, 3), ['2026-11-30', '2026-12-02', '2026-12-16'])
  }
  t.same(
    daysOf({ frequency: 'EvryWorkgDay', first: '2026-12-26T09:00Z', next: '2026-12-27T09:00Z' }, 2),
    ['2026-12-29', '2026-12-30'],
    'both moved to one day',
  )
})

t.test('a schedule ends with the year 9999, and an invalid day or date is rejected', async (t) => {
  const last = '9999-12-31T23:30Z'
  t.same(daysOf({ frequency: 'EvryDay', first: '9999-12-30T23:30Z' }, 9), ['9999-12-30', '9999-12-31'])
  for (const frequency of ['EvryDay', 'EvryWorkgDay', 'IntrvlWkDay:09:05', 'IntrvlMnthDay:24:-01']) {
    t.same(daysOf({ frequency, first: last }, 9), ['9999-12-31'], frequency)
  }
  const moved = scheduleOf({ frequency: 'EvryWorkgDay', first: last, extra: '9999-12-31' })
  t.equal(firstRun(moved), null)
  const schedule = scheduleOf({ frequency: 'EvryDay', first: '2026-11-30T09:00Z' })
  for (const day of [
    '',
    '2026-02-30',
    '2026-1-1',
    '2026-11-30T09:00Z',
    '+010000-01-01',
    '2026-W01-1',
    'x'.repeat(1e6),
  ]) {
    t.throws(() => runAfter(schedule, day), RangeError, day.slice(0, 20))
  }
  const invalid = new Date(Number.NaN)
  t.throws(() => firstRun({ ...schedule, first: invalid }), RangeError)
  t.throws(() => firstRun({ ...schedule, final: invalid }), RangeError)
  t.throws(() => runAfter({ ...schedule, next: invalid }, '2026-11-30'), RangeError)
})

t.test('the cost of a run does not depend on the number of earlier runs', async (t) => {
  for (const frequency of ['EvryDay', 'EvryWorkgDay', 'IntrvlWkDay:01:07', 'IntrvlMnthDay:01:31']) {
    const schedule = scheduleOf({ frequency, first: '2024-01-31T09:00Z' })
    const before = process.cpuUsage()
    for (let count = 0; count < 100; count += 1) runAfter(schedule, '9998-11-30')
    const { user, system } = process.cpuUsage(before)
    t.ok(user + system < 500_000, `${frequency}: ${Math.round((user + system) / 100)} µs after 8,000 years`)
  }
})

t.test('the runs are those that PostgreSQL finds in the set of all days', async (t) => {
  const { url } = await emptyDatabase(t)
  const seen = new Map<string, number>()
  const extra = '2026-11-27,2030-01-02,-2027-12-28,9999-12-31'
  const holidays = bankHolidays(extra)
  await fc.assert(
    fc.asyncProperty(fc.array(drawn, { minLength: 150, maxLength: 150 }), async (batch) => {
      const found = await expectedRuns(
        url,
        batch.map(({ asked }) => asked),
        [...holidays],
      )
      const bySchedule = Map.groupBy(found, ({ asked }) => asked)
      for (const [index, each] of batch.entries()) {
        const expected = bySchedule.get(index) ?? []
        checkAgainst(expected, each, { ...each.asked, frequency: frequencyOf(each.text), holidays })
        countRareThings(seen, each, expected)
      }
    }),
    // A schedule that differs is named, with all that makes it: there is nothing to shrink.
    { numRuns: 4, endOnFailure: true },
  )
  for (const [thing, count] of seen) t.ok(count >= 3, `${thing}: ${count} of 600 schedules`)
})

function checkAgainst(
  expected: readonly Expected[],
  { text, probe, asked }: SampledSchedule,
  schedule: Schedule,
): void {
  const name = `${text} ${JSON.stringify(asked)}`
  const end = new Date(asked.first.getTime() + (asked.horizonDays - 1) * DAY_MS).toISOString().slice(0, 10)
  const within = ({ day }: { day: string }): boolean => day <= end || end.startsWith('+')
  const write = ({ day, at }: { day: string; at: Date | number }): string => `${day} ${new Date(at).toISOString()}`
  const wanted = expected.filter(within).map(write)
  const actual = runsOf(schedule, Math.min(wanted.length + 1, RUNS_MAX))
    .filter(within)
    .map(write)
  if (actual.join() !== wanted.join()) throw new Error(`${name}\n gives ${actual.join()}\n wants ${wanted.join()}`)
  const probed = new Date(Math.min(asked.first.getTime() + probe * DAY_MS, LATEST)).toISOString().slice(0, 10)
  const after = expected.filter(within).find(({ day }) => day > probed)
  if (after === undefined) return
  const run = runAfter(schedule, probed)
  if (run === null || write(run) !== write(after)) throw new Error(`${name}\n after ${probed} wants ${write(after)}`)
}
