const FORMATS = new Map<string, Intl.NumberFormat>()

/**
 * An amount in British format: `£1,234.50`, and `£0.2725` where a fee has more digits than its currency.
 * @param amount a decimal string, which `Intl` reads exactly
 */
export function moneyText(amount: string, currency: string): string {
  return formatIn(currency).format(amount as Intl.StringNumericLiteral)
}

function formatIn(currency: string): Intl.NumberFormat {
  const known = FORMATS.get(currency)
  if (known !== undefined) return known
  const made = new Intl.NumberFormat('en-GB', { style: 'currency', currency, maximumFractionDigits: 4 })
  FORMATS.set(currency, made)
  return made
}
