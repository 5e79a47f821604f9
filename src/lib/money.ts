/**
 * Money inside the service: decimal strings outside, `bigint` ten-thousandths inside (the scale of numeric(19,4)).
 * Never a float.
 */

/** Ten-thousandths of the currency unit: `50.00` is `500000n`. */
export type TenThousandths = bigint

/** ISO 4217 exponents of the currencies the service can carry; a merchant's own list may be narrower (decision 33). */
export const CURRENCY_DIGITS: Readonly<Record<string, number>> = { GBP: 2, EUR: 2 }

const SCALE = 4
const UNIT = 10_000n
const FORM = /^\d{1,13}(\.\d{1,4})?$/

/** Whether `text` is an amount of Surface B: 1 to 13 digits, and at most 4 decimals (decision 33). */
export function isAmountText(text: string): boolean {
  return FORM.test(text)
}

/** Two decimals at most: behind more the comma may divide thousands. */
const WITH_COMMA = /^-?\d{1,13},\d{1,2}$/

/** What to write instead of an amount with a decimal comma; undefined for any other text. */
export function commaProblem(text: unknown): string | undefined {
  if (typeof text !== 'string' || !WITH_COMMA.test(text)) return undefined
  return `invalid amount "${text}": use a decimal point, such as ${text.replace(',', '.')}`
}

/**
 * Parses an amount such as `"50"`, `"50.00"` or `"0.7125"`.
 * @throws {RangeError} when the text is not such an amount
 */
export function parseAmount(text: string): TenThousandths {
  if (!FORM.test(text)) throw new RangeError('an amount is 1 to 13 digits, optionally a dot and 1 to 4 decimals')
  const [whole = '0', decimals = ''] = text.split('.')
  return BigInt(whole) * UNIT + BigInt(decimals.padEnd(SCALE, '0'))
}

/**
 * Writes `value / 10 ** scale` as a decimal: with at least `minDecimals` decimals, and more only where they are not zero.
 * Every amount that the service prints goes through this function, but for the database's text of whole minor units.
 */
export function decimalText(value: bigint, { scale, minDecimals }: { scale: number; minDecimals: number }): string {
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, '0')
  const point = digits.length - scale
  const decimals = digits.slice(point).replace(/0+$/, '').padEnd(minDecimals, '0')
  return `${value < 0n ? '-' : ''}${digits.slice(0, point)}${decimals === '' ? '' : `.${decimals}`}`
}

/** Writes an amount with all four decimals, as numeric(19,4) does: the canonical form for comparing and storing. */
export function toNumeric(amount: TenThousandths): string {
  return decimalText(amount, { scale: SCALE, minDecimals: SCALE })
}

/**
 * Writes an amount for people and programs: the currency's own digits, and more (up to 4) only where they are not
 * zero: `"50.00"`, `"0.7125"` (decision 50). The database's `money_text` writes the same for currencies with two digits.
 */
export function formatAmount(amount: TenThousandths, currency: string): string {
  return decimalText(amount, { scale: SCALE, minDecimals: minorDigits(currency) })
}

/** An amount of whole minor units of two digits, as the database writes it. */
const WHOLE_PENNIES = /^(?:0|[1-9]\d{0,12})\.\d\d00$/

/** `formatAmount` for a numeric(19,4) as the database gives it. */
export function formatNumeric(numeric: string, currency: string): string {
  // Nearly every amount is one: its text is cut, which takes a seventh of the way through a bigint.
  if (WHOLE_PENNIES.test(numeric) && minorDigits(currency) === 2) return numeric.slice(0, -2)
  return formatAmount(parseNumeric(numeric), currency)
}

/** `formatNumeric` with the currency, as sentences have it: `50.00 GBP`. */
export function amountWithCurrency(numeric: string, currency: string): string {
  return `${formatNumeric(numeric, currency)} ${currency}`
}

/** `formatAmount` for the sum of such numerics. */
export function formatSum(numerics: readonly string[], currency: string): string {
  return formatAmount(
    numerics.reduce((sum, numeric) => sum + parseNumeric(numeric), 0n),
    currency,
  )
}

function parseNumeric(numeric: string): TenThousandths {
  return numeric.startsWith('-') ? -parseAmount(numeric.slice(1)) : parseAmount(numeric)
}

/**
 * Formats a fraction such as `0.0125` as a percentage: `1.25%`, without a space so that it is one word of a command
 * line.
 */
export function percentText(fraction: string): string {
  return `${decimalText(parseAmount(fraction) * 100n, { scale: SCALE, minDecimals: 0 })}%`
}

/** Whether the amount has no digits below the currency's minor unit: a payment can't move a tenth of a penny. */
export function fitsCurrency(amount: TenThousandths, currency: string): boolean {
  const digits = minorDigits(currency)
  return amount % 10n ** BigInt(SCALE - digits) === 0n
}

/** The error message for an amount with too many decimals. */
export function tooPreciseText(currency: string): string {
  const digits = minorDigits(currency)
  return `${currency} has ${digits === 2 ? 'two' : digits} decimals; this amount has more`
}

/** The number of decimal digits of a currency's minor unit (ISO 4217). */
export function minorDigits(currency: string): number {
  return CURRENCY_DIGITS[currency] ?? 2
}

/** Whether the code is a currency the service has an exponent for. */
export function isKnownCurrency(code: string): boolean {
  return Object.hasOwn(CURRENCY_DIGITS, code)
}
