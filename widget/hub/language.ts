import { failures } from '../../src/lib/locales/checkout/en-failures.ts'
import { receipt } from '../../src/lib/locales/checkout/en-receipt.ts'
import { en } from '../../src/lib/locales/checkout/en.ts'
import type { AllTexts } from '../../src/lib/locales/checkout/en.ts'
import { hub } from '../../src/lib/locales/hub/en.ts'
import type { HubTexts } from '../../src/lib/locales/hub/en.ts'

/** Every word of the hub; what the checkout says too is in `checkout`. */
export type Texts = HubTexts & { checkout: AllTexts }

export const ENGLISH: Texts = {
  ...hub,
  checkout: { ...en, ...receipt, failures: { ...en.failures, ...failures } },
}

type Loaded = [Promise<{ hub: HubTexts }>, Promise<{ texts: AllTexts }>]

const OTHERS: Readonly<Record<string, () => Loaded>> = {
  cy: () => [import('../../src/lib/locales/hub/cy.ts'), import('../../src/lib/locales/checkout/cy.ts')],
  de: () => [import('../../src/lib/locales/hub/de.ts'), import('../../src/lib/locales/checkout/de.ts')],
  fr: () => [import('../../src/lib/locales/hub/fr.ts'), import('../../src/lib/locales/checkout/fr.ts')],
  es: () => [import('../../src/lib/locales/hub/es.ts'), import('../../src/lib/locales/checkout/es.ts')],
}

/** The texts of the language that the service chose for the page; English if they can't be loaded. */
export async function loadLanguage(tag: string): Promise<{ tag: string; texts: Texts }> {
  const load = OTHERS[tag.slice(0, 2)]
  if (load === undefined) return { tag, texts: ENGLISH }
  try {
    const [{ hub: words }, { texts: checkout }] = await Promise.all(load())
    return { tag, texts: { ...words, checkout } }
  } catch {
    return { tag: 'en-GB', texts: ENGLISH }
  }
}
