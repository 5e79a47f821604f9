import t from 'tap'
import { BANK_HOLIDAYS, LAST_HOLIDAY_YEAR } from '../../src/lib/bank-holidays.ts'
import { frequencyText, parseFrequency } from '../../src/lib/frequency.ts'
import { parseDay } from '../../src/lib/london-time.ts'
import { bankHolidays, isWorkingDay, workingDayFrom } from '../../src/lib/working-days.ts'

t.test('the four forms are parsed, and formatted in words', async (t) => {
  const cases: [text: string, read: object, words: string][] = [
    ['EvryDay', { kind: 'every-day' }, 'every day'],
    ['EvryWorkgDay', { kind: 'every-working-day' }, 'every working day'],
    ['IntrvlWkDay:01:01', { kind: 'weeks', interval: 1, weekday: 1 }, 'every week on Monday'],
    ['IntrvlWkDay:02:03', { kind: 'weeks', interval: 2, weekday: 3 }, 'every 2 weeks on Wednesday'],
    ['IntrvlWkDay:09:07', { kind: 'weeks', interval: 9, weekday: 7 }, 'every 9 weeks on Sunday'],
    ['IntrvlMnthDay:01:01', { kind: 'months', interval: 1, day: 1 }, 'every month on the 1st'],
    ['IntrvlMnthDay:06:02', { kind: 'months', interval: 6, day: 2 }, 'every 6 months on the 2nd'],
    ['IntrvlMnthDay:12:11', { kind: 'months', interval: 12, day: 11 }, 'every 12 months on the 11th'],
    ['IntrvlMnthDay:24:23', { kind: 'months', interval: 24, day: 23 }, 'every 24 months on the 23rd'],
    ['IntrvlMnthDay:01:28', { kind: 'months', interval: 1, day: 28 }, 'every month on the 28th'],
    [
      'IntrvlMnthDay:01:29',
      { kind: 'months', interval: 1, day: 29 },
      "every month on the 29th (or the month's last day)",
    ],
    [
      'IntrvlMnthDay:01:31',
      { kind: 'months', interval: 1, day: 31 },
      "every month on the 31st (or the month's last day)",
    ],
    ['IntrvlMnthDay:01:-01', { kind: 'months', interval: 1, day: -1 }, 'every month on the last day'],
    ['IntrvlMnthDay:03:-02', { kind: 'months', interval: 3, day: -2 }, 'every 3 months on the last day but one'],
    ['IntrvlMnthDay:03:-05', { kind: 'months', interval: 3, day: -5 }, 'every 3 months on the last day but four'],
  ]
  for (const [text, read, words] of cases) {
    const frequency = parseFrequency(text)
    t.strictSame(frequency, { text, ...read }, text)
    if (!('refused' in frequency)) t.equal(frequencyText(frequency), words)
  }
})

t.test('of all texts with two digits for each number, those are read that the rule allows', async (t) => {
  const numbers = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'))
  const days = [...numbers, ...numbers.map((number) => `-${number}`)]
  const read = (name: string, second: string[]): number =>
    numbers.flatMap((one) => second.filter((two) => !('refused' in parseFrequency(`${name}:${one}:${two}`)))).length
  t.equal(read('IntrvlWkDay', days), 9 * 7)
  t.equal(read('IntrvlMnthDay', days), 8 * (31 + 5))
})

t.test("OBIE's other forms are not supported, but only where they are right", async (t) => {
  const forms = {
    IntrvlDay: ['IntrvlDay:02', 'IntrvlDay:31'],
    WkInMnthDay: ['WkInMnthDay:01:01', 'WkInMnthDay:05:07'],
    QtrDay: ['QtrDay:ENGLISH', 'QtrDay:SCOTTISH', 'QtrDay:RECEIVED'],
  }
  for (const [name, texts] of Object.entries(forms)) {
    for (const text of texts) {
      const refusal = parseFrequency(text)
      t.match(refusal, { refused: 'unsupported', message: new RegExp(`form ${name}, which is not supported; it must`) })
    }
  }
  const wrong = ['IntrvlDay:01', 'IntrvlDay:32', 'WkInMnthDay:06:01', 'WkInMnthDay:01:08', 'QtrDay:WELSH', 'QtrDay']
  for (const text of wrong)
    t.match(parseFrequency(text), { refused: 'invalid', message: /^has an unknown form; / }, text)
})

t.test('all other texts are rejected with the valid forms, and without the text in the message', async (t) => {
  const cases: [what: RegExp, texts: string[]][] = [
    [/^has an unknown form; /, ['', ' ', 'NotKnown', 'Daily', ' EvryDay', 'EvryDay ', 'EvryDay\n', '__proto__', ':']],
    [/^has the wrong case: write EvryDay/, ['evryday', 'EVRYDAY', 'EvryDAY:01']],
    [/^has the wrong case: write IntrvlMnthDay/, ['intrvlMnthDay:01:01', 'INTRVLMNTHDAY:01:01']],
    [/^has parameters that EvryDay does not take; /, ['EvryDay:', 'EvryDay:01']],
    [/^has parameters that EvryWorkgDay does not take; /, ['EvryWorkgDay:01']],
    [
      /^has parameters that IntrvlWkDay does not take; /,
      [
        'IntrvlWkDay',
        'IntrvlWkDay:1:3',
        'IntrvlWkDay:00:01',
        'IntrvlWkDay:10:01',
        'IntrvlWkDay:01:00',
        'IntrvlWkDay:01:08',
        'IntrvlWkDay:01:03:01',
        'IntrvlWkDay:01:03\n',
        'IntrvlWkDay:０1:03',
      ],
    ],
    [
      /^has parameters that IntrvlMnthDay does not take; /,
      [
        'IntrvlMnthDay:01',
        'IntrvlMnthDay:07:01',
        'IntrvlMnthDay:00:01',
        'IntrvlMnthDay:01:00',
        'IntrvlMnthDay:01:32',
        'IntrvlMnthDay:01:-00',
        'IntrvlMnthDay:01:-06',
        'IntrvlMnthDay:01:+01',
        'IntrvlMnthDay:01:1',
      ],
    ],
    [/^is longer than 35 characters; /, ['x'.repeat(36), 'IntrvlMnthDay:01:'.padEnd(1_000_000, '0')]],
  ]
  for (const [what, texts] of cases) {
    for (const text of texts) {
      const refusal = parseFrequency(text)
      t.match(refusal, { refused: 'invalid', message: what }, JSON.stringify(text.slice(0, 40)))
      t.match(refusal, { message: /^[^;]{15,60}; it must be EvryDay, EvryWorkgDay, IntrvlWkDay:.{100,150}$/ })
    }
  }
})

/** Paschal full moons (month and day) by golden number, as the Book of Common Prayer prints them for 1900 to 2199. */
const FULL_MOONS = '4-14 4-3 3-23 4-11 3-31 4-18 4-8 3-28 4-16 4-5 3-25 4-13 4-2 3-22 4-10 3-30 4-17 4-7 3-27'.split(
  ' ',
)

const date = (year: number, month: number, day: number): Date => new Date(Date.UTC(year, month - 1, day))
const after = (from: Date, days: number): Date => new Date(from.getTime() + days * 86_400_000)
const textOf = (day: Date): string => day.toISOString().slice(0, 10)
/** The first such weekday (0 is Sunday) on or after a day. */
const weekdayFrom = (from: Date, weekday: number): Date => after(from, (weekday - from.getUTCDay() + 7) % 7)

function easterSunday(year: number): Date {
  const [month = 0, day = 0] = (FULL_MOONS[year % 19] ?? '').split('-').map(Number)
  return weekdayFrom(after(date(year, month, day), 1), 0)
}

/** The bank holidays by rule: a fixed one that falls on a weekend is kept on the next weekday that is free. */
function holidaysByRule(year: number): Record<string, string> {
  const easter = easterSunday(year)
  const days: Record<string, string> = {
    [textOf(after(easter, -2))]: 'Good Friday',
    [textOf(after(easter, 1))]: 'Easter Monday',
    [textOf(weekdayFrom(date(year, 5, 1), 1))]: 'Early May bank holiday',
    [textOf(weekdayFrom(date(year, 5, 25), 1))]: 'Spring bank holiday',
    [textOf(weekdayFrom(date(year, 8, 25), 1))]: 'Summer bank holiday',
  }
  const fixed: [string, Date][] = [
    ["New Year's Day", date(year, 1, 1)],
    ['Christmas Day', date(year, 12, 25)],
    ['Boxing Day', date(year, 12, 26)],
  ]
  const isWeekend = (day: Date): boolean => day.getUTCDay() % 6 === 0
  for (const [name, day] of fixed.filter((each) => !isWeekend(each[1]))) days[textOf(day)] = name
  for (const [name, day] of fixed.filter((each) => isWeekend(each[1]))) {
    let kept = day
    while (isWeekend(kept) || days[textOf(kept)] !== undefined) kept = after(kept, 1)
    days[textOf(kept)] = `${name} (substitute)`
  }
  return days
}

t.test('the bank holidays are those of the rules, eight a year, in order', async (t) => {
  const years = Array.from({ length: LAST_HOLIDAY_YEAR - 2023 }, (_, index) => 2024 + index)
  t.same(BANK_HOLIDAYS, Object.assign({}, ...years.map((year) => holidaysByRule(year))))
  const days = Object.keys(BANK_HOLIDAYS)
  t.same(days, days.toSorted())
  t.equal(days.length, 8 * years.length)
  // Published by the government, so that the rule above is held to something as well.
  const published = { '2024-03-29': 'Good Friday', '2026-12-28': 'Boxing Day (substitute)', '2027-05-31': /^Spring/ }
  t.match(BANK_HOLIDAYS, { ...published, '2027-12-27': 'Christmas Day (substitute)' })
})

t.test('a configuration adds holidays and takes some away, and can stay when the data catches up', async (t) => {
  const shipped = bankHolidays()
  t.same([...shipped], Object.keys(BANK_HOLIDAYS))
  t.same(bankHolidays(' '), shipped)
  const changed = bankHolidays('2027-05-07, -2027-05-03,2040-12-25')
  t.same(
    [...changed].filter((day) => !shipped.has(day)),
    ['2027-05-07', '2040-12-25'],
  )
  t.same(
    [...shipped].filter((day) => !changed.has(day)),
    ['2027-05-03'],
  )
  t.same(bankHolidays('2027-12-27,-2027-12-25'), shipped)
  t.same(bankHolidays(), shipped, 'changes of one call do not reach the next')
})

t.test('an invalid configuration is rejected with the entry at fault', async (t) => {
  const wrong = ['x', ',', '2027-05-07,', '2027-02-29', '2027-5-7', '--2027-05-07', '+2027-05-07', '07/05/2027', '2027']
  for (const text of wrong)
    t.throws(() => bankHolidays(text), { name: 'RangeError', message: /is not a valid date/ }, text)
  t.throws(() => bankHolidays('2027-05-07,-2027-05-07'), { name: 'RangeError', message: /^2027-05-07 is listed twice/ })
  t.throws(() => bankHolidays('2027-05-07,'.repeat(100_000)), { name: 'RangeError', message: /at most 500 days/ })
  t.throws(() => bankHolidays('9'.repeat(1_000_000)), {
    message: `"${'9'.repeat(20)}" is not a valid date (expected for example 2026-11-30)`,
  })
})

t.test('working days are Monday to Friday without holidays; after the last known year, without weekends', async (t) => {
  const holidays = bankHolidays()
  const cases: [day: string, works: boolean, next: string][] = [
    ['2026-12-24', true, '2026-12-24'],
    ['2026-12-25', false, '2026-12-29'],
    ['2026-12-27', false, '2026-12-29'],
    ['2027-12-24', true, '2027-12-24'],
    ['2027-12-25', false, '2027-12-29'],
    ['2028-01-01', false, '2028-01-04'],
    ['2027-03-26', false, '2027-03-30'],
    [`${LAST_HOLIDAY_YEAR}-12-26`, false, `${LAST_HOLIDAY_YEAR}-12-27`],
    [`${LAST_HOLIDAY_YEAR + 1}-12-25`, true, `${LAST_HOLIDAY_YEAR + 1}-12-25`],
    [`${LAST_HOLIDAY_YEAR + 1}-12-27`, false, `${LAST_HOLIDAY_YEAR + 1}-12-29`],
  ]
  for (const [day, works, next] of cases) {
    t.equal(isWorkingDay(parseDay(day), holidays), works, day)
    t.equal(workingDayFrom(parseDay(day), holidays).toISODate(), next, day)
  }
})
