const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
]

/**
 * As wide as `ageOf` gets (`59 min`) and `untilText` mostly (`in 59 min`): columns keep so much, and stay while the
 * clock goes.
 */
export const AGE_WIDTH = 6
export const UNTIL_WIDTH = 9

/** A span of time in its largest whole unit: `12 s`, `5 min`, `3 h`, `2 d`. */
export function spanText(ms: number): string {
  const size = Math.max(0, ms)
  const unit = UNITS.find(([, length]) => size >= length)
  return unit === undefined ? '0 s' : `${Math.floor(size / unit[1])} ${unit[0]}`
}

export function ageOf(timestamp: string | null, now: number): string {
  return timestamp === null ? '' : spanText(now - Date.parse(timestamp))
}

/** How long there is until a timestamp: `in 3 h`, or `2 h over` where it has passed. */
export function untilText(timestamp: string | null, now: number): string {
  if (timestamp === null) return ''
  const left = Date.parse(timestamp) - now
  return left >= 0 ? `in ${spanText(left)}` : `${spanText(-left)} over`
}
