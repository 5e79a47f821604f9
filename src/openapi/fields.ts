import { FIELD_TEXTS } from './field-texts.ts'
import { OPERATOR_FIELD_TEXTS } from './field-texts-operators.ts'
import { OPEN_BANKING_FIELD_TEXTS } from './field-texts-open-banking.ts'
import type { Json } from './schemas.ts'

const TEXTS: Readonly<Record<string, string | readonly [text: string, example: unknown]>> = {
  ...FIELD_TEXTS,
  ...OPERATOR_FIELD_TEXTS,
  ...OPEN_BANKING_FIELD_TEXTS,
}

/** What not every regular expression engine knows (RE2 of Go, Python, Java): such a rule is in the description. */
const UNPORTABLE = /\\[pPu]|\(\?[=!<]/

/**
 * A schema for clients in any language: each member has a description and an example, patterns are of the common subset,
 * and responses may have further members, because additions may come at any time (decision 34).
 */
export function describeFields(schema: Json, io: 'input' | 'output'): Json {
  return walk(schema, (node) => {
    if (io === 'output' && node['additionalProperties'] === false) delete node['additionalProperties']
    // A format says the same, and better.
    if (UNPORTABLE.test(String(node['pattern'] ?? '')) || node['format'] !== undefined) delete node['pattern']
    if (Array.isArray(node['allOf'])) dropEmpty(node)
    for (const [name, member] of Object.entries((node['properties'] as Record<string, Json> | undefined) ?? {}))
      describe(name, member)
  })
}

/** Adds what a member has not said itself. */
function describe(name: string, member: Json): void {
  const found = TEXTS[name]
  const [text, example] = typeof found === 'string' ? [found] : (found ?? [])
  if (text !== undefined) member['description'] ??= text
  // A reference and a list show the examples of what they hold.
  if (member['$ref'] !== undefined || member['examples'] !== undefined) return
  const named = example ?? (/(?:^id|_id|Id)$/.test(name) ? BY_FORMAT['uuid'] : undefined)
  const shown = exampleByRule(member) ?? (fits(named, member) ? named : exampleByType(member))
  if (shown !== undefined) member['examples'] = [shown]
}

/** The rules that were left out of a list of patterns; a single one that is left is the schema's own. */
function dropEmpty(node: Json): void {
  const left = (node['allOf'] as Json[]).filter((each) => Object.keys(each).length > 0)
  if (left.length > 1) node['allOf'] = left
  else {
    delete node['allOf']
    Object.assign(node, left[0])
  }
}

const BY_FORMAT: Readonly<Record<string, unknown>> = {
  uuid: '0199d5a4-7c1e-7c3a-9b52-3f1d2c4b5a69',
  'date-time': '2026-11-21T09:30:00.000Z',
  date: '2026-11-21',
  email: 'ada@acme.example',
}

type Member = { format?: string; enum?: unknown[]; anyOf?: Json[]; minimum?: number; maximum?: number }

/** What the schema itself says, whatever the name. */
export function exampleByRule(member: Json): unknown {
  const { format, enum: values, anyOf } = member as Member
  if (values !== undefined) return values[0]
  if ('const' in member) return member['const']
  if ('default' in member) return member['default']
  if (format !== undefined) return BY_FORMAT[format]
  return anyOf?.map(exampleByRule).find((each) => each !== undefined)
}

function exampleByType(member: Json): unknown {
  const { minimum } = member as Member
  const types = typesOf(member)
  if (types.includes('boolean')) return true
  return types.includes('integer') || types.includes('number') ? Math.max(minimum ?? 1, 1) : undefined
}

/** Whether the example of a name is one of this member: a name may be used for values of different kinds. */
function fits(example: unknown, member: Json): boolean {
  const types = typesOf(member)
  if (Array.isArray(example)) return types.includes('array')
  if (typeof example === 'number') return types.includes('integer') || types.includes('number')
  if (types.length > 0 && !types.includes(typeof example)) return false
  const { pattern } = member
  return typeof pattern !== 'string' || new RegExp(pattern).test(String(example))
}

function typesOf({ type, anyOf }: Json): unknown[] {
  if (Array.isArray(anyOf)) return anyOf.flatMap((each: Json) => typesOf(each))
  return Array.isArray(type) ? type : type === undefined ? [] : [type]
}

function walk(node: Json, visit: (node: Json) => void): Json {
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value])
      if (typeof child === 'object' && child !== null) walk(child as Json, visit)
  }
  visit(node)
  return node
}
