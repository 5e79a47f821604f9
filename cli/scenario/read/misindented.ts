import { z } from 'zod'
import type { Explained } from './explain.ts'
import { VERBS, isVerb } from '../language.ts'
import { formsOf } from '../language/parts.ts'
import { STRUCTURES, isStructure } from '../language/structure.ts'
import { memberOf } from '../member.ts'

/**
 * The commonest slip of YAML: a verb with nothing behind its colon, and its fields beside it instead of below it. Told
 * as one mistake, whatever else these fields would be. Undefined where a step has not made it.
 */
export function misindented(value: object): Explained | undefined {
  const [verb, ...others] = Object.keys(value)
  if (verb === undefined || memberOf(value, verb) !== null) return undefined
  const fields = fieldsOf(verb)
  const misplaced = others.filter((word) => fields.has(word))
  const [first] = misplaced
  if (first === undefined) return undefined
  const subject = misplaced.length === 1 ? `"${first}" belongs` : `"${misplaced.join('", "')}" belong`
  return {
    path: [first],
    what: 'key',
    message: `${subject} under ${verb}: indent ${misplaced.length === 1 ? 'it' : 'them'} by two more`,
    hint: `- ${verb}: { ${misplaced.map((word) => `${word}: …`).join(', ')} }, or each on a line of its own, two further in than ${verb}`,
  }
}

/** All fields that a verb takes, in any of its forms. */
function fieldsOf(verb: string): ReadonlySet<string> {
  if (isVerb(verb)) return new Set(formsOf(VERBS[verb].schema).flatMap((shape) => Object.keys(shape)))
  if (!isStructure(verb)) return new Set()
  const { schema }: { schema: z.ZodType } = STRUCTURES[verb]
  return new Set(formsOf(schema).flatMap((shape) => Object.keys(shape)))
}
