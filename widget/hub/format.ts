import type { Texts } from './texts.ts'

/** The reader's own English where the browser names one, for dates and amounts; the texts are the same in all. */
export function localeOf(languages: readonly string[], { lang }: Pick<Texts, 'lang'>): string {
  return languages.find((tag) => (tag === lang || tag.startsWith(`${lang}-`)) && isLocale(tag)) ?? 'en-GB'
}

/** Browsers pass on what the system is set to, and that can be no language tag at all (`en-US@posix`). */
function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1
  } catch {
    return false
  }
}

export type Format = {
  /** An amount from its decimal string, with every decimal that it has (decision 50). */
  money(amount: string, currency: string): string
  day(timestamp: string): string
  moment(timestamp: string): string
  month(timestamp: string): string
  count(value: number): string
}

export function makeFormat(locale: string): Format {
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' })
  const moment = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
  const month = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric' })
  const count = new Intl.NumberFormat(locale)
  const currencies = new Map<string, Intl.NumberFormat>()
  const inCurrency = (currency: string): Intl.NumberFormat => {
    const known = currencies.get(currency)
    if (known !== undefined) return known
    // Fees have up to four decimals, and rounded they would not add up.
    const made = new Intl.NumberFormat(locale, { style: 'currency', currency, maximumFractionDigits: 4 })
    currencies.set(currency, made)
    return made
  }
  return {
    // `format` reads decimal strings exactly; the type is from before it did.
    money: (amount, currency) => inCurrency(currency).format(amount as unknown as bigint),
    day: (timestamp) => day.format(new Date(timestamp)),
    moment: (timestamp) => moment.format(new Date(timestamp)),
    month: (timestamp) => month.format(new Date(timestamp)),
    count: (value) => count.format(value),
  }
}

/** Whether an amount is more than nothing. */
export function isPositive(amount: string): boolean {
  return /[1-9]/.test(amount)
}
