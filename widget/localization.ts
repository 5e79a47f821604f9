import type { Texts } from './locales/en.ts'
import type { Locale } from './locales/choose.ts'

type Params = Readonly<Record<string, string>>

/** How the widget speaks: texts with what belongs into them, amounts, moments and counts, all in the payer's language. */
export type Localization = {
  texts: Texts
  fill(text: string, params: Params): string
  /** An amount as the service writes it, never made a float: `Intl` takes decimal strings. */
  money(amount: string, currency: string): string
  moment(timestamp: string): string
  found(count: number): string
}

/** A letter of a script that runs from right to left. */
const RTL = /[\u0590-\u08ff\ufb1d-\ufefc]/

export function makeLocalization({ tag, dir, texts }: Locale): Localization {
  // Some browsers know nothing of Welsh and would write as the payer's system does: better as Britain does.
  const tags = [tag, 'en-GB']
  const plurals = new Intl.PluralRules(tags)
  const numbers = new Intl.NumberFormat(tags)
  const dates = new Intl.DateTimeFormat(tags, { dateStyle: 'long', timeStyle: 'short' })
  // Inside a sentence of the other direction, a name must not reorder what stands around it.
  const isolated = (value: string): string => (dir === 'rtl' || RTL.test(value) ? `\u2068${value}\u2069` : value)
  const fill = (text: string, params: Params): string =>
    text.replace(/\{(\w+)\}/g, (whole, name: string) => {
      const value = params[name]
      return value === undefined ? whole : isolated(value)
    })
  return {
    texts,
    fill,
    money: (amount, currency) =>
      new Intl.NumberFormat(tags, { style: 'currency', currency, maximumFractionDigits: 4 }).format(
        amount as Intl.StringNumericLiteral,
      ),
    moment: (timestamp) => dates.format(new Date(timestamp)),
    found: (count) => fill(texts.found[plurals.select(count)] ?? texts.found.other, { count: numbers.format(count) }),
  }
}
