/** The form of a percentage: `20%`, or `0.5%` with up to two decimals; `100%` at most. */
export const PERCENTAGE_PATTERN = /^(?:100(?:\.0{1,2})?|\d{1,2}(?:\.\d{1,2})?)%$/

/** 100% in basis points (hundredths of a percent). */
export const FULL_BASIS_POINTS = 10_000

/**
 * Parses `20%` or `0.5%` into basis points.
 * @throws {RangeError} when the text is not a percentage, or more than `100%`
 */
export function parsePercentage(text: string): number {
  if (!PERCENTAGE_PATTERN.test(text))
    throw new RangeError(`"${text}" is not a valid percentage (expected for example 20%, 0.5% or 100%)`)
  const [percent = '', decimals = ''] = text.slice(0, -1).split('.')
  return Number(percent) * 100 + Number(decimals.padEnd(2, '0'))
}

/** Formats basis points as a percentage: `20%`, `0.5%`. */
export function formatPercentage(basisPoints: number): string {
  return `${basisPoints / 100}%`
}
