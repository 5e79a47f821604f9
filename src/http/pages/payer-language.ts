import { failures } from '../../lib/locales/checkout/en-failures.ts'
import { receipt } from '../../lib/locales/checkout/en-receipt.ts'
import { en } from '../../lib/locales/checkout/en.ts'
import type { AllTexts } from '../../lib/locales/checkout/en.ts'
import * as cyCheckout from '../../lib/locales/checkout/cy.ts'
import * as deCheckout from '../../lib/locales/checkout/de.ts'
import * as esCheckout from '../../lib/locales/checkout/es.ts'
import * as frCheckout from '../../lib/locales/checkout/fr.ts'
import * as cyHub from '../../lib/locales/hub/cy.ts'
import * as deHub from '../../lib/locales/hub/de.ts'
import { hub } from '../../lib/locales/hub/en.ts'
import type { HubTexts } from '../../lib/locales/hub/en.ts'
import * as esHub from '../../lib/locales/hub/es.ts'
import * as frHub from '../../lib/locales/hub/fr.ts'
import * as cyPages from '../../lib/locales/pages/cy.ts'
import * as dePages from '../../lib/locales/pages/de.ts'
import { pages } from '../../lib/locales/pages/en.ts'
import type { PageTexts } from '../../lib/locales/pages/en.ts'
import * as esPages from '../../lib/locales/pages/es.ts'
import * as frPages from '../../lib/locales/pages/fr.ts'
import { html } from '../../lib/html.ts'
import type { Html } from '../../lib/html.ts'
import { moneyText } from './money-text.ts'
import { when } from './time-text.ts'

/** The words of the payer's pages: those that only they say, and those that the widget and the hub say too. */
type Words = { checkout: AllTexts; pages: PageTexts; hub: HubTexts }

/** The language of a payer's page. */
export type PayerLanguage = Words & {
  /** For the page's `lang`, amounts and times, such as `de-AT`. */
  tag: string
  /** The language that the address asked for, which its links and forms keep; otherwise the browser's. */
  asked: string | undefined
  fill(text: string, params: Readonly<Record<string, string>>): string
  money(amount: string, currency: string, roundingMode?: 'ceil' | 'floor'): string
  when(instant: string): Html
}

const english: AllTexts = { ...en, ...receipt, failures: { ...en.failures, ...failures } }

/** Every language of the payer's pages; the widget has the same. */
export const LANGUAGES: Readonly<Record<string, Words>> = {
  en: { checkout: english, pages, hub },
  cy: { checkout: cyCheckout.texts, pages: cyPages.pages, hub: cyHub.hub },
  de: { checkout: deCheckout.texts, pages: dePages.pages, hub: deHub.hub },
  fr: { checkout: frCheckout.texts, pages: frPages.pages, hub: frHub.hub },
  es: { checkout: esCheckout.texts, pages: esPages.pages, hub: esHub.hub },
}

/** Maximum length of an Accept-Language that is read; browsers send less than a quarter of it. */
const LENGTH_MAX = 500

/** A language, and perhaps a region, which decides how amounts and times are written. */
const TAG = /^([a-z]{2})(?:-([a-z]{2}))?$/i

/**
 * The first of the payer's languages that the pages have: the one in the address, which the widget or the merchant chose,
 * then those of the browser's Accept-Language; otherwise English. English without a region is British.
 */
export function payerLanguage(asked: string | null | undefined, accepted?: string): PayerLanguage {
  const inAddress = knownTag(asked ?? undefined)
  const tag = inAddress ?? acceptedTags(accepted).map(knownTag).find(Boolean) ?? 'en-GB'
  const words = LANGUAGES[tag.slice(0, 2)] as Words
  return {
    ...words,
    tag,
    asked: inAddress,
    fill: (text, params) => text.replace(/\{(\w+)\}/g, (whole, name: string) => params[name] ?? whole),
    money: (amount, currency, roundingMode) => moneyText(amount, currency, { roundingMode, tag }),
    when: (instant) => when(instant, tag),
  }
}

/** Pages that are not of a payer are in English. */
export const ENGLISH = payerLanguage('en')

/** The field that keeps the language of the address in a form. */
export function languageField({ asked }: PayerLanguage): Html | undefined {
  return asked === undefined
    ? undefined
    : html`<input type="hidden" name="lang" value="${asked}">
`
}

function knownTag(text: string | undefined): string | undefined {
  const [, language = '', region] = TAG.exec(text ?? '') ?? []
  const code = language.toLowerCase()
  if (!Object.hasOwn(LANGUAGES, code)) return undefined
  if (region !== undefined) return `${code}-${region.toUpperCase()}`
  return code === 'en' ? 'en-GB' : code
}

/** The tags of an Accept-Language, the most wanted first. */
function acceptedTags(accepted = ''): string[] {
  return accepted
    .slice(0, LENGTH_MAX)
    .split(',')
    .map((part) => {
      const [tag = '', ...options] = part.split(';').map((each) => each.trim())
      const weight = options.find((option) => /^q=/i.test(option))?.slice(2)
      return { tag, weight: weight === undefined ? 1 : Number.parseFloat(weight) || 0 }
    })
    .filter(({ weight }) => weight > 0)
    .toSorted((one, other) => other.weight - one.weight)
    .map(({ tag }) => tag)
}
