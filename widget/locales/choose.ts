import { en } from '../../src/lib/locales/checkout/en.ts'
import type { Locale } from '../../src/lib/localization.ts'
import type { AllTexts, Texts } from '../../src/lib/locales/checkout/en.ts'

/** English has the texts of the receipt with the receipt, and those of failures with the failure. */
export type LoadedTexts = Texts | AllTexts

/** A language of the widget: the tag that a preference must start with, and its texts. */
type Language = { tag: string; isRtl?: true; load(): Promise<{ texts: LoadedTexts }> }

const LANGUAGES: readonly Language[] = [
  { tag: 'en', load: async () => ({ texts: en }) },
  { tag: 'cy', load: () => import('../../src/lib/locales/checkout/cy.ts') },
  { tag: 'de', load: () => import('../../src/lib/locales/checkout/de.ts') },
  { tag: 'fr', load: () => import('../../src/lib/locales/checkout/fr.ts') },
  { tag: 'es', load: () => import('../../src/lib/locales/checkout/es.ts') },
  // The pseudo-locale is generated from English, which is already loaded.
  { tag: 'ar-XB', isRtl: true, load: () => import('./ar-xb.ts').then(({ load }) => load(en)) },
]

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
      const { texts } = await found.load()
      return { tag, dir: found.isRtl ? 'rtl' : 'ltr', texts }
    } catch {
      // It can't be loaded, or is not a valid language.
    }
  }
  return ENGLISH
}

function matches(preference: string, tag: string): boolean {
  return `${preference}-`.toLowerCase().startsWith(`${tag}-`.toLowerCase())
}
