import type { AllTexts, Texts } from '../../src/lib/locales/checkout/en.ts'

const ACCENTED: Readonly<Record<string, string>> = {
  a: 'á', c: 'ç', e: 'é', i: 'î', n: 'ñ', o: 'ô', u: 'ü', y: 'ÿ', A: 'Å', B: 'ß', C: 'Ç', E: 'É', O: 'Ø', P: 'Þ', T: 'Ŧ',
} // prettier-ignore

/**
 * A pseudo-locale: English with accents, a third longer and right to left. Untranslated texts and layout mistakes stand
 * out in it.
 */
export function pseudo<Part extends object>(texts: Part): Part {
  const changed = Object.entries(texts).map(([key, text]) => [
    key,
    typeof text === 'string' ? pseudoText(text) : pseudo(text),
  ])
  return Object.fromEntries(changed) as Part
}

/** English is loaded already, but for the texts of the receipt and of failures. */
export async function load(en: Texts): Promise<{ texts: AllTexts }> {
  const { receipt } = await import('../../src/lib/locales/checkout/en-receipt.ts')
  const { failures } = await import('../../src/lib/locales/checkout/en-failures.ts')
  return { texts: pseudo({ ...en, ...receipt, failures: { ...en.failures, ...failures } }) }
}

/** Placeholders in braces stay; U+202E and U+202C reverse the rest. */
function pseudoText(text: string): string {
  const turned = text.split(/(\{\w+\})/).map((part) => {
    if (part.startsWith('{') || part.trim() === '') return part
    return `\u202e${part.replaceAll(/[A-Za-z]/g, (letter) => ACCENTED[letter] ?? letter)}\u202c`
  })
  return `${turned.join('')}${' ·'.repeat(Math.ceil(text.length / 12))}`
}
