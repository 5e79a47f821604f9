import { z } from 'zod'
import type { FieldError } from './errors.ts'

/** Parses one part of a request and adds all of its problems to `errors`. */
export function parsePart(schema: z.ZodType, value: unknown, errors: FieldError[]): unknown {
  // `reportInput` serves only to distinguish missing from invalid members; the input never appears in an error.
  const parsed = schema.safeParse(value, { reportInput: true, error: ruleText })
  if (parsed.success) return parsed.data
  errors.push(...parsed.error.issues.flatMap((issue) => fieldErrors(issue)))
  return undefined
}

/**
 * The members of a body that are valid by their own schema, whatever is wrong with the others; absent ones are omitted.
 */
export function validMembers<T extends z.ZodObject>(schema: T, body: unknown): Partial<z.output<T>> {
  if (typeof body !== 'object' || body === null) return {}
  const members = new Map<string, unknown>(Object.entries(body))
  const read = Object.entries(schema.shape).flatMap(([name, member]) => {
    const parsed = z.safeParse(member, members.get(name))
    return parsed.success && parsed.data !== undefined ? [[name, parsed.data]] : []
  })
  // Every member was parsed by its own schema, which Object.fromEntries can't express in its type.
  return Object.fromEntries(read) as Partial<z.output<T>>
}

function fieldErrors(issue: z.core.$ZodIssue): FieldError[] {
  const path = issue.path.map(String).join('.')
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: path ? `${path}.${key}` : key,
      code: 'UNKNOWN_FIELD',
      message: 'is not a known field',
    }))
  }
  if (issue.code === 'invalid_union') return unionErrors(issue, path)
  const missing = issue.code === 'invalid_type' && issue.input === undefined
  return [
    missing
      ? { path, code: 'REQUIRED', message: 'is required' }
      : { path, code: fieldCode(issue), message: issue.message },
  ]
}

/** Maps zod's issue codes to the codes of our API. */
function fieldCode(issue: z.core.$ZodIssue): string {
  // A custom rule may carry its own code.
  if (issue.code === 'custom') return typeof issue.params?.['code'] === 'string' ? issue.params['code'] : 'INVALID'
  if (issue.code === 'too_big') return issue.origin === 'string' ? 'TOO_LONG' : 'TOO_LARGE'
  if (issue.code === 'too_small') return issue.origin === 'string' ? 'TOO_SHORT' : 'TOO_SMALL'
  return issue.code.toUpperCase()
}

/** Reports the errors of the union member with the fewest of them. */
function unionErrors(issue: z.core.$ZodIssueInvalidUnion, path: string): FieldError[] {
  const nearest = issue.errors.toSorted((a, b) => a.length - b.length)[0]
  if (nearest === undefined || nearest.length === 0) return [{ path, code: 'INVALID', message: issue.message }]
  // The inner paths are relative to the union.
  return nearest.flatMap((inner) => fieldErrors({ ...inner, path: [...issue.path, ...inner.path] }))
}

/** The default message of a rule, for schemas without one of their own. */
function ruleText(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'too_big':
      return issue.origin === 'string'
        ? `must be at most ${String(issue.maximum)} characters long`
        : `must be at most ${String(issue.maximum)}`
    case 'too_small':
      if (issue.origin !== 'string') return `must be at least ${String(issue.minimum)}`
      return issue.minimum === 1 ? 'must not be empty' : `must be at least ${String(issue.minimum)} characters long`
    case 'invalid_type':
      return `must be ${/^[aeiou]/.test(issue.expected) ? 'an' : 'a'} ${issue.expected}`
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`
    case 'invalid_format':
      return FORMATS[issue.format]
    default:
      return undefined
  }
}

const FORMATS: Readonly<Record<string, string>> = {
  email: 'must be an e-mail address, such as payer@example.org',
  datetime: 'must be a time with its offset, such as 2026-11-21T09:30:00Z',
}
