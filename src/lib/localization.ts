import type { Texts } from './locales/checkout/en.ts'

/** The texts of a language, and the tag for formatting numbers and dates. */
export type Locale = { tag: string; dir: 'ltr' | 'rtl'; texts: Texts }

type Params = Readonly<Record<string, string>>

/** Texts, amounts, times and counts in the payer's language. */
export type Localization = {
  texts: Texts
  fill(text: string, params: Params): string
  /** Formats an amount without converting it to a float: `Intl` accepts decimal strings. Rounded, it has no more digits
   * than its currency. */
  money(amount: string, currency: string, roundingMode?: 'ceil' | 'floor'): string
  moment(timestamp: string): string
  /** The time of day; with the date where that is not today. */
  time(timestamp: string): string
  found(count: number): string
}

/** A letter of a right-to-left script. */
const RTL = /[\u0590-\u08ff\ufb1d-\ufefc]/

export function makeLocalization({ tag, dir, texts }: Locale): Localization {
  // Browsers without Welsh would use the system's format; British is better.
  const tags = [tag, 'en-GB']
  const plurals = new Intl.PluralRules(tags)
  const numbers = new Intl.NumberFormat(tags)
  const dates = new Intl.DateTimeFormat(tags, { dateStyle: 'long', timeStyle: 'short' })
  const moment = (timestamp: string): string => dates.format(new Date(timestamp))
  // In a sentence of the other direction a name must not reorder the text around it.
  const isolated = (value: string): string => (dir === 'rtl' || RTL.test(value) ? `\u2068${value}\u2069` : value)
  const fill = (text: string, params: Params): string =>
    text.replace(/\{(\w+)\}/g, (whole, name: string) => {
      const value = params[name]
      return value === undefined ? whole : isolated(value)
    })
  return {
    texts,
    fill,
    money: (amount, currency, roundingMode) =>
      new Intl.NumberFormat(tags, { style: 'currency', currency, ...(roundingMode && { roundingMode }) }).format(
        amount as Intl.StringNumericLiteral,
      ),
    moment,
    time: (timestamp) => {
      const date = new Date(timestamp)
      const isToday = date.toDateString() === new Date().toDateString()
      return isToday ? date.toLocaleTimeString(tags, { timeStyle: 'short' }) : moment(timestamp)
    },
    found: (count) => fill(texts.found[plurals.select(count)] ?? texts.found.other, { count: numbers.format(count) }),
  }
}
