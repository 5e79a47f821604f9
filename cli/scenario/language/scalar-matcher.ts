import type { z } from 'zod'
import { isMatcher } from '../matchers.ts'
import { nearestWord } from '../../base/nearest-word.ts'

const SCALARS: ReadonlySet<string> = new Set(['string', 'number', 'boolean', 'enum', 'literal', 'null'])

/** Whether a field's value is always one value, and never a list or a mapping. */
export function isScalar(schema: z.core.$ZodType): boolean {
  const { def } = schema._zod
  if ('innerType' in def) return isScalar(def.innerType as z.core.$ZodType)
  if ('options' in def && Array.isArray(def.options)) return def.options.every(isScalar)
  return SCALARS.has(def.type)
}

/** The words that a matcher may begin with; a type of its own has a rule in matchers.ts. */
const WORDS = ['one_of', 'contains', 'type', 'absent', 'equals']

/** What people write for a list of choices elsewhere. */
const CHOICE = new Set(['in', 'any_of', 'anyof', 'enum', 'either', 'or'])

/** What is wrong with what a field is expected to be that has one value; undefined for nothing. */
export function scalarProblem(expected: unknown): string | undefined {
  if (typeof expected !== 'object' || expected === null) return undefined
  if (Array.isArray(expected)) return 'is one value, and never a list: did you mean { one_of: […] }?'
  const [key, ...others] = Object.keys(expected)
  if (key === undefined || others.length > 0) return 'is one value, and never a mapping'
  if (key === 'type') return isMatcher(expected) ? undefined : 'is one value: { type: … } takes a word such as uuid'
  if (WORDS.includes(key)) return undefined
  const meant = CHOICE.has(key.toLowerCase()) ? 'one_of' : nearestWord(key, WORDS)
  const known = meant === undefined ? `there are ${WORDS.join(', ')}, and "/regex/"` : `did you mean ${meant}?`
  return `has no matcher "${key}": ${known}`
}
