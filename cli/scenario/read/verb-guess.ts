import { VERBS, VERB_NAMES, isVerb } from '../language.ts'
import { STRUCTURES, STRUCTURE_NAMES, isStructure } from '../language/structure.ts'
import { nearestWord } from '../../base/nearest-word.ts'

const STEP_WORDS: readonly string[] = [...VERB_NAMES, ...STRUCTURE_NAMES]

/** The line that shows how a verb is written. */
export function exampleOf(verb: string): string | undefined {
  if (isVerb(verb)) return `- ${VERBS[verb].examples[0]}`
  return isStructure(verb) ? `- ${STRUCTURES[verb].examples[0]}` : undefined
}

/** The verb that a word was probably meant to be: the first that ends in it, as payments.refund in refund, or a near one. */
export function guessVerb(word: string, beside: readonly string[] = []): string | undefined {
  return STEP_WORDS.find((verb) => verb.endsWith(`.${word}`)) ?? nearestWord(word, [...STEP_WORDS, ...beside])
}

const READ_ACCOUNTS = '- http: { get: "/open-banking/v1/accounts/$c1.account_id/balances", by: $c1 }'
/** What is written in place of verbs that there are no more. */
export const FORMER_VERBS: ReadonlyMap<string, string> = new Map([
  ['accounts', '- http: { get: /open-banking/v1/accounts, by: $c1 }'],
  ['balances', READ_ACCOUNTS],
  ['transactions', READ_ACCOUNTS.replace('balances', 'transactions')],
])

/** The verbs that most steps have, and where the others are listed. */
export const COMMON_VERBS = `one of pay, bank, await, expect, payments.refund, webhooks, receiver, clock, dispute, http; svc sandbox scenarios schema has all ${STEP_WORDS.length}`
