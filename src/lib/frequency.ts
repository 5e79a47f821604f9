/** A parsed frequency. */
export type Frequency = { text: string } & (
  | { kind: 'every-day' }
  | { kind: 'every-working-day' }
  /** `weekday` is 1 for Monday to 7 for Sunday. */
  | { kind: 'weeks'; interval: number; weekday: number }
  /** `day` is 1 to 31, or -1 (the month's last) to -5. */
  | { kind: 'months'; interval: number; day: number }
)

/**
 * Why a text is not a frequency. `unsupported` is a form of OBIE's standing orders that this service does not accept;
 * everything else is `invalid`. The message names the problem and the valid forms, to be printed after the field's
 * name; it repeats nothing of the input.
 */
export type FrequencyError = { refused: 'unsupported' | 'invalid'; message: string }

/** OBIE's own limit (Max35Text); the longest accepted form has 20 characters. */
const TEXT_MAX = 35

const NAMES = ['EvryDay', 'EvryWorkgDay', 'IntrvlWkDay', 'IntrvlMnthDay']
const WEEKS = /^IntrvlWkDay:0([1-9]):0([1-7])$/
const MONTHS = /^IntrvlMnthDay:(0[1-6]|12|24):(-0[1-5]|0[1-9]|[12]\d|3[01])$/
const UNSUPPORTED =
  /^(?:(IntrvlDay):(?:0[2-9]|[12]\d|3[01])|(WkInMnthDay):0[1-5]:0[1-7]|(QtrDay):(?:ENGLISH|SCOTTISH|RECEIVED))$/

const FORMS =
  'must be EvryDay, EvryWorkgDay, IntrvlWkDay:<weeks 01 to 09>:<weekday 01 (Monday) to 07>' +
  ' or IntrvlMnthDay:<months 01 to 06, 12 or 24>:<day 01 to 31, or -01 (the last) to -05>'

/**
 * Parses a standing order's frequency, strictly in the four forms that the contract names (decision 4): `EvryDay`,
 * `EvryWorkgDay`, `IntrvlWkDay:02:03` (every two weeks on Wednesday), `IntrvlMnthDay:01:-01` (the last day of every
 * month).
 */
export function parseFrequency(text: string): Frequency | FrequencyError {
  if (text.length > TEXT_MAX) return frequencyError('invalid', `is longer than ${TEXT_MAX} characters`)
  if (text === 'EvryDay') return { text, kind: 'every-day' }
  if (text === 'EvryWorkgDay') return { text, kind: 'every-working-day' }
  const weeks = WEEKS.exec(text)
  if (weeks) return { text, kind: 'weeks', interval: Number(weeks[1]), weekday: Number(weeks[2]) }
  const months = MONTHS.exec(text)
  if (months) return { text, kind: 'months', interval: Number(months[1]), day: Number(months[2]) }
  const unsupported = UNSUPPORTED.exec(text)?.slice(1).find(Boolean)
  if (unsupported !== undefined)
    return frequencyError('unsupported', `has the form ${unsupported}, which is not supported`)
  return frequencyError('invalid', problemOf(text))
}

function frequencyError(refused: FrequencyError['refused'], what: string): FrequencyError {
  return { refused, message: `${what}; it ${FORMS}` }
}

function problemOf(text: string): string {
  const [written = ''] = text.split(':', 1)
  const name = NAMES.find((each) => each.toLowerCase() === written.toLowerCase())
  if (name === undefined) return 'has an unknown form'
  return name === written ? `has parameters that ${name} does not take` : `has the wrong case: write ${name}`
}

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const FROM_THE_END = ['last day', 'last day but one', 'last day but two', 'last day but three', 'last day but four']
const SUFFIXES: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd', other: 'th' }
/** Every month has at least this many days. */
const SHORTEST_MONTH = 28

/** A frequency for people, in one line: `every 2 weeks on Wednesday`, `every month on the last day`. */
export function frequencyText(frequency: Frequency): string {
  switch (frequency.kind) {
    case 'every-day':
      return 'every day'
    case 'every-working-day':
      return 'every working day'
    case 'weeks':
      return `${every(frequency.interval, 'week')} on ${WEEKDAYS[frequency.weekday - 1] ?? ''}`
    case 'months':
      return `${every(frequency.interval, 'month')} on the ${dayOfMonthText(frequency.day)}`
    default:
      return frequency satisfies never
  }
}

function every(interval: number, unit: string): string {
  return interval === 1 ? `every ${unit}` : `every ${interval} ${unit}s`
}

function dayOfMonthText(day: number): string {
  if (day < 0) return FROM_THE_END[-day - 1] ?? ''
  const ordinal = `${day}${SUFFIXES[new Intl.PluralRules('en-GB', { type: 'ordinal' }).select(day)] ?? ''}`
  return day > SHORTEST_MONTH ? `${ordinal} (or the month's last day)` : ordinal
}
