import { show } from '../matchers.ts'
import { nearestWord } from '../../base/nearest-word.ts'
import type { Mistake, Path } from './source.ts'
import { z } from 'zod'

type Issue = z.core.$ZodIssue

/** A rule that a value breaks, in words. `what` is whether the key or the value is pointed at. */
export type Explained = { path: Path; what: 'key' | 'value' } & Pick<Mistake, 'message' | 'hint'>

/**
 * Says in the words of the language what zod found.
 * @param given the value that was parsed, to look at what stands in the places
 */
export function explainIssues(schema: z.ZodType, error: z.ZodError, given: unknown): Explained[] {
  return error.issues.flatMap((issue) => explain(schema, issue, { given, at: [] }))
}

type Position = { given: unknown; at: Path }

function explain(schema: z.ZodType, issue: Issue, { given, at }: Position): Explained[] {
  const path = [...at, ...issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))]
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknownKey(key, path, keysAt(schema, path)))
    case 'invalid_union':
      return nearestBranch(issue.errors).flatMap((inner) => explain(schema, inner, { given, at: path }))
    case 'invalid_value':
      return [notAmong(issue.values.map(String), path, valueAtPath(given, path))]
    case 'invalid_type':
      return [wrongType(issue, { path, given: valueAtPath(given, path) })]
    case 'too_small':
    case 'too_big':
      return [{ path, what: 'value', message: sizeMessage(issue, path) }]
    case 'invalid_key':
      return [
        { path, what: 'key', message: `"${path.at(-1) ?? ''}" ${issue.issues[0]?.message ?? 'is not a valid key'}` },
      ]
    default:
      return [{ path, what: 'value', message: `${nameOf(path)}${issue.message}` }]
  }
}

/**
 * Of the forms that a value may have, the one it is nearest to: a slip is reported as such, and not as every other
 * form.
 */
function nearestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  const weigh = (issues: readonly Issue[]): number => issues.reduce((sum, issue) => sum + weightOf(issue), 0)
  return branches.toSorted((a, b) => weigh(a) - weigh(b))[0] ?? []
}

function weightOf(issue: Issue): number {
  if (issue.code === 'unrecognized_keys') return issue.keys.length
  // Another kind of thing altogether: a list where a mapping belongs.
  if (issue.code === 'invalid_type' && issue.path.length === 0) return 100
  return issue.code === 'invalid_value' && issue.path.length === 0 ? 99 : 1
}

function unknownKey(key: string, path: Path, known: readonly string[]): Explained {
  const meant = nearestWord(key, known)
  const message = `unknown field "${key}"${meant === undefined ? '' : `: did you mean "${meant}"?`}`
  return {
    path: [...path, key],
    what: 'key',
    message,
    hint: meant === undefined && known.length > 0 ? `one of ${known.join(', ')}` : undefined,
  }
}

function notAmong(options: readonly string[], path: Path, given: unknown): Explained {
  if (given === undefined) return missing(path, options.length === 1 ? options[0] : undefined)
  const meant = nearestWord(String(given), options)
  if (options.length === 1)
    return { path, what: 'value', message: `${nameOf(path)}must be ${options[0]}; it is ${show(given)}` }
  const message = `${nameOf(path)}can't be ${show(given)}${meant === undefined ? '' : `: did you mean ${meant}?`}`
  return { path, what: 'value', message, hint: `one of ${options.join(', ')}` }
}

type Wrong = { path: Path; given: unknown }

function wrongType({ expected, message }: z.core.$ZodIssueInvalidType, { path, given }: Wrong): Explained {
  if (given === undefined) return missing(path)
  if (expected === 'string' && (typeof given === 'number' || typeof given === 'boolean'))
    return { path, what: 'value', message: `${nameOf(path)}must be text: quote it`, hint: `"${given}"` }
  const known: Readonly<Record<string, string>> = {
    string: 'must be text',
    object: 'must be a mapping: { … }',
    record: 'must be a mapping: { … }',
    array: 'must be a list: [ … ]',
    boolean: 'must be true or false',
    int: 'must be a whole number',
    number: 'must be a whole number',
  }
  const rule = message.startsWith('must') ? message : (known[expected] ?? `must be ${expected}`)
  const found = given === null ? 'empty' : show(given)
  return { path, what: 'value', message: `${nameOf(path)}${rule}; it is ${found}` }
}

function missing(path: Path, value?: string): Explained {
  const name = String(path.at(-1) ?? '')
  const hint = value === undefined ? undefined : `${name}: ${value}`
  return { path: path.slice(0, -1), what: 'key', message: `"${name}" is missing here`, hint }
}

function sizeMessage(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig, path: Path): string {
  const count = issue.code === 'too_small' ? issue.minimum : issue.maximum
  const bound = `${issue.code === 'too_small' ? 'at least' : 'at most'} ${count}`
  if (issue.origin === 'array') return `${nameOf(path)}must have ${bound} ${count === 1 ? 'entry' : 'entries'}`
  return `${nameOf(path)}must be ${bound}${issue.origin === 'string' ? ' long' : ''}`
}

function nameOf(path: Path): string {
  const name = path.findLast((step) => typeof step === 'string')
  return name === undefined ? '' : `${name} `
}

function keysAt(schema: z.ZodType, path: Path): string[] {
  const objects = schemasAt([schema], path).filter((found) => found instanceof z.ZodObject)
  return [...new Set(objects.flatMap((object) => Object.keys(object.shape)))]
}

/** All that a value at this place may be: the forms of unions one by one. */
function schemasAt(schemas: readonly z.core.$ZodType[], path: Path): z.core.$ZodType[] {
  const open = schemas.flatMap(unwrap)
  const [step, ...rest] = path
  if (step === undefined) return open
  const inner = open.flatMap((schema): readonly z.core.$ZodType[] => {
    if (schema instanceof z.ZodArray) return [schema.element]
    if (schema instanceof z.ZodRecord) return [schema.valueType]
    const member = schema instanceof z.ZodObject ? schema.shape[String(step)] : undefined
    return member === undefined ? [] : [member]
  })
  return inner.length === 0 ? [] : schemasAt(inner, rest)
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType[] {
  if (schema instanceof z.ZodOptional) return unwrap(schema.unwrap())
  return schema instanceof z.ZodUnion ? schema.options.flatMap(unwrap) : [schema]
}

/** What stands at a place of a value; undefined where the way leads nowhere. */
function valueAtPath(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, step) => {
    if (typeof inner !== 'object' || inner === null) return undefined
    return Object.entries(inner).find(([key]) => key === String(step))?.[1]
  }, value)
}
