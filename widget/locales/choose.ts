import { en } from './en.ts'
import type { Texts } from './en.ts'

/** A language of the widget: what a browser's wish must begin with, and where the texts are. */
type Language = { tag: string; dir: 'ltr' | 'rtl'; load(): Promise<Texts> }

const LANGUAGES: readonly Language[] = [
  { tag: 'en', dir: 'ltr', load: () => Promise.resolve(en) },
  { tag: 'cy', dir: 'ltr', load: () => import('./cy.ts').then(({ cy }) => cy) },
  // English is there already: the pseudo-locale is made of it and does not bring it again.
  { tag: 'ar-XB', dir: 'rtl', load: () => import('./ar-xb.ts').then(({ pseudo }) => pseudo(en)) },
]

/** The texts of a language, and how numbers and dates are written in it. */
export type Locale = { tag: string; dir: 'ltr' | 'rtl'; texts: Texts }

/** What is shown before any language was loaded, and where one can't be. */
export const ENGLISH: Locale = { tag: 'en-GB', dir: 'ltr', texts: en }

/**
 * The first of the wishes that there is: the merchant's, then the browser's. A wish's own region stays for numbers and
 * dates; English without one is British.
 */
export async function chooseLocale(preferences: readonly (string | undefined)[]): Promise<Locale> {
  for (const preference of preferences) {
    const found = preference === undefined ? undefined : LANGUAGES.find(({ tag }) => matches(preference, tag))
    if (preference === undefined || found === undefined) continue
    try {
      const [tag = ENGLISH.tag] = Intl.getCanonicalLocales(preference === 'en' ? ENGLISH.tag : preference)
      return { tag, dir: found.dir, texts: await found.load() }
    } catch {
      // It can't be loaded now, or is no language at all.
    }
  }
  return ENGLISH
}

function matches(preference: string, tag: string): boolean {
  return `${preference}-`.toLowerCase().startsWith(`${tag}-`.toLowerCase())
}
