/** How a share is written: `20%`, or `0.5%` with up to two decimals; `100%` at most. */
export const PERCENTAGE_PATTERN = /^(?:100(?:\.0{1,2})?|\d{1,2}(?:\.\d{1,2})?)%$/

/** Hundredths of a percent in everything. */
export const FULL_BASIS_POINTS = 10_000

/**
 * Reads `20%` or `0.5%` into hundredths of a percent.
 * @throws {RangeError} when the text is no share, or more than `100%`
 */
export function parsePercentage(text: string): number {
  if (!PERCENTAGE_PATTERN.test(text)) throw new RangeError(`"${text}" is no share; write for example 20%, 0.5% or 100%`)
  const [percent = '', decimals = ''] = text.slice(0, -1).split('.')
  return Number(percent) * 100 + Number(decimals.padEnd(2, '0'))
}

/** Writes hundredths of a percent as they are read: `20%`, `0.5%`. */
export function formatPercentage(share: number): string {
  return `${share / 100}%`
}
