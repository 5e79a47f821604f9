import { captureOf, checkReferences } from '../read/check-references.ts'
import type { Known } from '../read/check-references.ts'
import type { Explained } from '../read/explain.ts'
import { VERBS } from '../language.ts'
import type { Verb } from '../language.ts'
import { MERCHANT } from '../verbs/merchants.ts'
import { formsOf, referenceFieldsOf } from '../language/parts.ts'
import { functionName } from './verbs.ts'

/** The names by which the verbs know what was made, and the answers that stand for them in a program. */
export type Names = {
  /** A name for what this input makes; undefined where it makes nothing. */
  nameFor(verb: Verb, input: unknown): string | undefined
  /** Remembers that the answer stands for what has this name. */
  remember<Answer>(name: string, answer: Answer): Answer
  /** The input as the language has it: references in place of answers. */
  written(value: unknown): unknown
  /** What is wrong with the answers that an input, as written, refers to. */
  mistakesIn(verb: Verb, input: unknown): Explained[]
}

export function makeNames(): Names {
  const names = new WeakMap<object, string>()
  const counts = new Map<Verb, number>()
  const known = new Map<string, Known>([['merchant', MERCHANT]])
  function written(value: unknown): unknown {
    // A dollar sign of a program is itself, and no reference.
    if (typeof value === 'string') return value.replaceAll('$', '$$$$')
    if (typeof value !== 'object' || value === null) return value
    const name = names.get(value)
    if (name !== undefined) return `$${name}`
    if (Array.isArray(value)) return value.map(written)
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .map(([key, member]) => [key, written(member)]),
    )
  }
  return {
    nameFor(verb, input) {
      if (!canBeNamed(verb, input)) return undefined
      const count = (counts.get(verb) ?? 0) + 1
      counts.set(verb, count)
      const name = `${functionName(verb)}${count}`
      const captured = captureOf({ [verb]: { as: name } })
      if (captured !== undefined) known.set(name, captured.known)
      return name
    },
    remember(name, answer) {
      if (typeof answer === 'object' && answer !== null) names.set(answer, name)
      return answer
    },
    written,
    mistakesIn: (verb, input) => [
      ...checkReferences({ [verb]: input }, { known, later: new Set() }),
      ...copiesIn(verb, input),
    ],
  }
}

/** An answer that was copied is not known any more. An account anywhere may stand in the place of a customer. */
function copiesIn(verb: Verb, input: unknown): Explained[] {
  const fields = Object.entries(Object(input)).filter(([name]) => referenceFieldsOf(VERBS[verb].schema).has(name))
  return fields.flatMap(([name, value]) =>
    typeof value !== 'object' || value === null || Object.hasOwn(value, 'SchemeName')
      ? []
      : [
          {
            path: [name],
            what: 'value' as const,
            message: 'is not an answer of a verb of this scenario',
            hint: 'the answer itself that the verb returned, not a copy',
          },
        ],
  )
}

/** Whether the form of the verb that has these fields can give a name to what it makes. */
function canBeNamed(verb: Verb, input: unknown): boolean {
  const fields = Object.keys(Object(input))
  return formsOf(VERBS[verb].schema).some(
    (shape) => Object.hasOwn(shape, 'as') && fields.every((field) => Object.hasOwn(shape, field)),
  )
}
