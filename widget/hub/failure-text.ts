import { MEANINGS, failureTextName } from '../../src/lib/failure-meaning.ts'
import type { Texts } from './language.ts'

type Failure = { code: string; reason: string; source?: string }

/** The failure's text for the payer; the bank's own text for a code that the page does not know. */
export function failureText({ checkout }: Pick<Texts, 'checkout'>, { code, reason, source }: Failure): string {
  if (!Object.hasOwn(MEANINGS, code)) return `${reason}.`
  const texts: Readonly<Record<string, string>> = checkout.failures
  const text = texts[failureTextName(code, source)] ?? checkout.failures.UNKNOWN
  return MEANINGS[code as keyof typeof MEANINGS].nothingTaken ? `${text} ${checkout.nothingTaken}` : text
}
