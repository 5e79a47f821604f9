import { decimalText, minorDigits, parseAmount, toNumeric } from './money.ts'

/**
 * Money of the account information model: whole minor units in `bigint`, and the decimal strings of the Open Banking
 * API (contract §CurrencyAmount). Exact or rejected, never rounded.
 */

const FORM = /^\d{1,13}\.\d{1,5}$/

/** Whether a text is an amount of Surface A: 1 to 13 digits, a dot, 1 to 5 decimals. */
export function isCurrencyAmountText(text: string): boolean {
  return FORM.test(text)
}

/**
 * Parses an amount such as `"12.34"` or `"12.34000"` into minor units; undefined where digits below the currency's
 * minor unit are not 0 (decision 33).
 * @throws {RangeError} when the text is not such an amount
 */
export function toMinorUnits(text: string, currency: string): bigint | undefined {
  if (!FORM.test(text)) throw new RangeError('an amount is 1 to 13 digits, a dot and 1 to 5 decimals')
  const digits = minorDigits(currency)
  const [whole = '0', decimals = ''] = text.split('.')
  if (!/^0*$/.test(decimals.slice(digits))) return undefined
  return BigInt(whole + decimals.slice(0, digits).padEnd(digits, '0'))
}

/**
 * The minor units of an amount that the contract has validated to have whole ones.
 * @throws for an amount that was not validated: a programming error
 */
export function minorUnitsOf({ Amount, Currency }: { Amount: string; Currency: string }): bigint {
  const minor = toMinorUnits(Amount, Currency)
  if (minor === undefined) throw new Error('an amount that was parsed has digits below its minor unit')
  return minor
}

/**
 * The minor units of an amount of Surface B, such as `"50"` or `"50.00"`; undefined where it has a fraction of one:
 * accounts hold no tenth of a penny, and a bank does not round.
 * @throws {RangeError} when the text is not such an amount
 */
export function amountToMinorUnits(amount: string, currency: string): bigint | undefined {
  return toMinorUnits(toNumeric(parseAmount(amount)), currency)
}

/**
 * Writes minor units as the Open Banking API does, with at least one decimal: `1234n` GBP is `"12.34"`. Negative amounts
 * have a leading minus.
 */
export function fromMinorUnits(minor: bigint, currency: string): string {
  const scale = minorDigits(currency)
  return decimalText(minor, { scale, minDecimals: Math.max(scale, 1) })
}
