export type Format = {
  /** Formats a decimal string with all its decimals (decision 50). */
  money(amount: string, currency: string): string
  day(timestamp: string): string
  moment(timestamp: string): string
  month(timestamp: string): string
  count(value: number): string
}

export function makeFormat(tag: string): Format {
  // Browsers without Welsh would use the system's format; British is better.
  const locale = [tag, 'en-GB']
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })
  const moment = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
  const month = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric' })
  const count = new Intl.NumberFormat(locale)
  const currencies = new Map<string, Intl.NumberFormat>()
  const inCurrency = (currency: string): Intl.NumberFormat => {
    const known = currencies.get(currency)
    if (known !== undefined) return known
    // Fees have up to four decimals; rounded amounts would not add up.
    const made = new Intl.NumberFormat(locale, { style: 'currency', currency, maximumFractionDigits: 4 })
    currencies.set(currency, made)
    return made
  }
  return {
    // `format` accepts decimal strings exactly; its type is older.
    money: (amount, currency) => inCurrency(currency).format(amount as unknown as bigint),
    day: (timestamp) => day.format(new Date(timestamp)),
    moment: (timestamp) => moment.format(new Date(timestamp)),
    month: (timestamp) => month.format(new Date(timestamp)),
    count: (value) => count.format(value),
  }
}
