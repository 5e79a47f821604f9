import { minorDigits } from './money.ts'

/**
 * Money of the account information model: whole minor units in `bigint`, and the decimal strings of the Open Banking API
 * (contract §CurrencyAmount). Exact or refused, never rounded.
 */

const FORM = /^\d{1,13}\.\d{1,5}$/

/** Whether a text is an amount of Surface A: 1 to 13 digits, a dot, 1 to 5 decimals. */
export function isCurrencyAmountText(text: string): boolean {
  return FORM.test(text)
}

/**
 * Reads an amount such as `"12.34"` or `"12.34000"` into minor units; undefined where it has digits below the currency's
 * minor unit that are not 0 (decision 33).
 * @throws {RangeError} when the text is no such amount
 */
export function toMinorUnits(text: string, currency: string): bigint | undefined {
  if (!FORM.test(text)) throw new RangeError('an amount is 1 to 13 digits, a dot and 1 to 5 decimals')
  const digits = minorDigits(currency)
  const [whole = '0', decimals = ''] = text.split('.')
  if (!/^0*$/.test(decimals.slice(digits))) return undefined
  return BigInt(whole + decimals.slice(0, digits).padEnd(digits, '0'))
}

/**
 * The minor units of an amount of the contract, which lets none through that has not whole ones.
 * @throws a programmer's error
 */
export function minorUnitsOf({ Amount, Currency }: { Amount: string; Currency: string }): bigint {
  const minor = toMinorUnits(Amount, Currency)
  if (minor === undefined) throw new Error('an amount that was parsed has digits below its minor unit')
  return minor
}

/** Writes minor units as the Open Banking API does: `1234n` GBP is `"12.34"`. What is below zero has a minus in front. */
export function fromMinorUnits(minor: bigint, currency: string): string {
  const digits = minorDigits(currency)
  const text = (minor < 0n ? -minor : minor).toString().padStart(digits + 1, '0')
  const at = text.length - digits
  return `${minor < 0n ? '-' : ''}${text.slice(0, at)}.${text.slice(at).padEnd(1, '0')}`
}
