const FACTORS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/**
 * Reads `90s`, `5m`, `2h`, `250ms` or `1d` into milliseconds.
 * @throws {RangeError} when the text is not a valid duration
 */
export function parseDuration(text: string): number {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text.trim())
  const unit = match?.[2]
  if (!match || !(unit === 'ms' || unit === 's' || unit === 'm' || unit === 'h' || unit === 'd')) {
    throw new RangeError(`"${text}" is not a valid duration (expected for example 90s, 5m or 2h)`)
  }
  return Number(match[1]) * FACTORS_MS[unit]
}

/** Formats milliseconds as a duration, in the largest unit without a remainder: `2s`, `1500ms`, `7d`. */
export function durationText(ms: number): string {
  const units = (['d', 'h', 'm', 's'] as const).filter((unit) => ms % FACTORS_MS[unit] === 0)
  const [unit = 'ms'] = ms === 0 ? ['s' as const] : units
  return `${ms / FACTORS_MS[unit]}${unit}`
}

const LONG_UNITS = [
  { name: 'day', ms: FACTORS_MS.d },
  { name: 'hour', ms: FACTORS_MS.h },
  { name: 'minute', ms: FACTORS_MS.m },
  { name: 'second', ms: FACTORS_MS.s },
] as const

/**
 * Formats milliseconds in words, in the two largest units: `2 days 3 hours`, `14 minutes`; empty below a second. Rounded
 * down, so that a deadline is never said to be later than it is.
 */
export function longDurationText(ms: number): string {
  const first = LONG_UNITS.findIndex((unit) => ms >= unit.ms)
  if (first === -1) return ''
  let rest = ms
  const parts = LONG_UNITS.slice(first, first + 2).map(({ name, ms: size }) => {
    const count = Math.floor(rest / size)
    rest %= size
    return count === 0 ? '' : `${count} ${name}${count === 1 ? '' : 's'}`
  })
  return parts.filter((part) => part !== '').join(' ')
}
