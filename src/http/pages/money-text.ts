/** How amounts are written: by default as in Britain, with every digit. */
type MoneyFormat = { roundingMode?: 'ceil' | 'floor' | undefined; tag?: string }

const BRITISH = 'en-GB'
const FORMATS = new Map<string, Intl.NumberFormat>()

/**
 * An amount: `£1,234.50`, and `£0.2725` where a fee has more digits than its currency, unless it is rounded.
 * @param amount a decimal string, which `Intl` reads exactly
 */
export function moneyText(amount: string, currency: string, { roundingMode, tag = BRITISH }: MoneyFormat = {}): string {
  return formatIn(currency, roundingMode, tag).format(amount as Intl.StringNumericLiteral)
}

/** Only British formats are kept: a browser may name any region. */
function formatIn(currency: string, roundingMode: 'ceil' | 'floor' | undefined, tag: string): Intl.NumberFormat {
  const key = `${currency} ${roundingMode}`
  const known = FORMATS.get(key)
  if (tag === BRITISH && known !== undefined) return known
  const digits = roundingMode === undefined ? { maximumFractionDigits: 4 } : { roundingMode }
  const made = new Intl.NumberFormat(tag, { style: 'currency', currency, ...digits })
  if (tag === BRITISH) FORMATS.set(key, made)
  return made
}
