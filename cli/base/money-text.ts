import { formatAmount, minorDigits, parseAmount } from '../../src/lib/money.ts'
import type { TenThousandths } from '../../src/lib/money.ts'

type Sum = { amount: TenThousandths; currency: string }

export function amountLess(amount: string, other: string, currency: string): string {
  return formatAmount(parseAmount(amount) - parseAmount(other), currency)
}

/** What amounts of perhaps several currencies are together: `170.00 GBP and 20.00 EUR`. */
export function sumText(amounts: readonly (readonly [amount: string, currency: string])[]): string {
  const sums = new Map<string, Sum>()
  for (const [amount, currency] of amounts)
    sums.set(currency, { currency, amount: (sums.get(currency)?.amount ?? 0n) + parseAmount(amount) })
  return Array.from(sums.values(), ({ amount, currency }) => `${formatAmount(amount, currency)} ${currency}`).join(
    ' and ',
  )
}

const SCALE = 4

/** A sum with the decimals of its currency, rounded half up: fees have more, which tables need not show. */
export function roundedText(text: string, currency: string): string {
  const unit = 10n ** BigInt(SCALE - minorDigits(currency))
  const isNegative = text.startsWith('-')
  const amount = parseAmount(isNegative ? text.slice(1) : text)
  const rounded = ((amount + unit / 2n) / unit) * unit
  return formatAmount(isNegative ? -rounded : rounded, currency)
}
