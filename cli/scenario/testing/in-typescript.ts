import { VERBS, isVerb } from '../language.ts'
import type { Verb } from '../language.ts'
import { MADE_BY } from '../read/check-references.ts'
import type { Explained } from '../read/explain.ts'
import { referenceFieldsOf } from '../language/parts.ts'
import type { ReferenceKind } from '../language/parts.ts'
import { stepHint } from '../play/step-hints.ts'
import { functionName } from './verbs.ts'

/** What files say in YAML, as a program writes it. */

/** What is wrong with what a program gave where an answer has to be: an id, or a promise of one. */
export function handleMistakes(verb: Verb, given: unknown): Explained[] {
  const fields = referenceFieldsOf(VERBS[verb].schema)
  return Object.entries(Object(given)).flatMap(([name, value]: [string, unknown]) => {
    const mistake =
      value instanceof Promise ? MISSING_AWAIT : wordMistake(verb, { name, value, kinds: fields.get(name) })
    return mistake === undefined ? [] : [{ path: [name], what: 'value' as const, ...mistake }]
  })
}

type Words = Pick<Explained, 'message' | 'hint'>

const MISSING_AWAIT: Words = {
  message: 'this is a promise: "await" is missing before the verb that makes it',
  hint: 'const payment = await shop.pay(…), then { payment }',
}

type Field = { name: string; value: unknown; kinds: readonly ReferenceKind[] | undefined }

/** A text where an answer has to be. Some fields take words as well, as whoever sends a request: those are left alone. */
function wordMistake(verb: Verb, { name, value, kinds = [] }: Field): Words | undefined {
  if (typeof value !== 'string' || kinds.length === 0 || takesWord(verb, name, value)) return undefined
  const makers = [...new Set(kinds.map((kind) => `${functionName(MADE_BY[kind])}()`))].join(' or ')
  return { message: `give what ${makers} answered, not its id or its name`, hint: undefined }
}

function takesWord(verb: Verb, name: string, value: string): boolean {
  const whole = VERBS[verb].schema.safeParse({ [name]: value })
  return whole.error?.issues.every(({ path }) => path[0] !== name) ?? true
}

/** What to do about a refusal: `kyb.approve: { reason: checked }` is `shop.kybApprove({ reason: 'checked' })` here. */
export function callHint(code: string, hint: string | undefined): string | undefined {
  return stepHint(code, hint)?.replaceAll(/([a-z][a-z_.]*): (\{[^{}…]*\})/g, (step, verb: string, input: string) =>
    isVerb(verb) ? `shop.${functionName(verb)}(${literal(input)})` : step,
  )
}

function literal(input: string): string {
  return input
    .replaceAll(/\$[a-z]1\b/g, 'payment')
    .replaceAll(/: ([A-Za-z0-9]+)(?=[,\s}])/g, (all, word: string) =>
      /^(true|false|payment)$/.test(word) ? all : `: '${word}'`,
    )
}
