import { en } from './en.ts'
import type { Texts } from './en.ts'

/** A language of the widget: the tag that a preference must start with, and its texts. */
type Language = { tag: string; dir: 'ltr' | 'rtl'; load(): Promise<Texts> }

const LANGUAGES: readonly Language[] = [
  { tag: 'en', dir: 'ltr', load: () => Promise.resolve(en) },
  { tag: 'cy', dir: 'ltr', load: () => import('./cy.ts').then(({ cy }) => cy) },
  // The pseudo-locale is generated from English, which is already loaded.
  { tag: 'ar-XB', dir: 'rtl', load: () => import('./ar-xb.ts').then(({ pseudo }) => pseudo(en)) },
]

/** The texts of a language, and the tag for formatting numbers and dates. */
export type Locale = { tag: string; dir: 'ltr' | 'rtl'; texts: Texts }

/** Used before a language is loaded, and if none can be loaded. */
export const ENGLISH: Locale = { tag: 'en-GB', dir: 'ltr', texts: en }

/**
 * Chooses the first available preference: the merchant's, then the browser's. A preference's region is kept for numbers
 * and dates; English without a region is British.
 */
export async function chooseLocale(preferences: readonly (string | undefined)[]): Promise<Locale> {
  for (const preference of preferences) {
    const found = preference === undefined ? undefined : LANGUAGES.find(({ tag }) => matches(preference, tag))
    if (preference === undefined || found === undefined) continue
    try {
      const [tag = ENGLISH.tag] = Intl.getCanonicalLocales(preference === 'en' ? ENGLISH.tag : preference)
      return { tag, dir: found.dir, texts: await found.load() }
    } catch {
      // It can't be loaded, or is not a valid language.
    }
  }
  return ENGLISH
}

function matches(preference: string, tag: string): boolean {
  return `${preference}-`.toLowerCase().startsWith(`${tag}-`.toLowerCase())
}
