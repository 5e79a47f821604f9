import { isDeepStrictEqual } from 'node:util'
import { Script, createContext } from 'node:vm'
import { isUuid } from '../../src/lib/ids.ts'
import { isAmountText } from '../../src/lib/money.ts'
import { messageOf } from '../base/errors.ts'
import { StepFailure } from './failure.ts'
import { masked } from './masked.ts'

/** One value that is not as expected. `path` is dotted, '' for the value itself. */
export type Difference = { path: string; expected: string; actual: string }

const VALUE_TYPES = ['uuid', 'timestamp', 'money', 'string', 'number', 'boolean'] as const
export type ValueType = (typeof VALUE_TYPES)[number]

/** What `expected` asks for, apart from literals: one of these. */
type Matcher =
  | { kind: 'regex'; regex: RegExp }
  | { kind: 'comparison'; operator: string; number: string }
  | { kind: 'type'; type: ValueType }
  | { kind: 'one_of'; options: readonly unknown[] }
  | { kind: 'contains'; part: unknown }
  | { kind: 'equals'; value: unknown }
  | { kind: 'absent'; absent: boolean }

const REGEX = /^\/(.+)\/([imsu]{0,4})$/s
const COMPARISON = /^(>=|<=|>|<|==|!=)\s*(-?\d{1,40}(?:\.\d{1,40})?)$/
const DECIMAL = /^-?\d{1,40}(?:\.\d{1,40})?$/

type MatcherProblem = { path: (string | number)[]; message: string }

/** What is wrong with matchers themselves, whatever they are held against. */
export function matcherProblems(expected: unknown, path: readonly (string | number)[] = []): MatcherProblem[] {
  if (typeof expected === 'string') {
    const problem = regexProblem(expected)
    return problem === undefined
      ? []
      : [{ path: [...path], message: `holds a regular expression that is none: ${problem}` }]
  }
  const word = typeWord(expected)
  if (word !== undefined)
    return isValueType(word)
      ? []
      : [{ path: [...path], message: `asks for the type "${word}"; there are ${VALUE_TYPES.join(', ')}` }]
  if (Array.isArray(expected)) return expected.flatMap((item, index) => matcherProblems(item, [...path, index]))
  if (typeof expected !== 'object' || expected === null) return []
  const members = Object.entries(expected)
  const message = members.map((member) => wordProblem(member, members.length)).find((found) => found !== undefined)
  if (message !== undefined) return [{ path: [...path], message }]
  // What is expected as it is can hold anything.
  return members.flatMap(([key, item]) => (key === 'equals' ? [] : matcherProblems(item, [...path, key])))
}

/** Each word of a matcher with what it takes. A body's own members of these names are expected with {equals}. */
const WORDS: Readonly<Record<string, { takes: string; fits: (value: unknown) => boolean }>> = {
  one_of: { takes: 'a list of at least one value', fits: (value) => Array.isArray(value) && value.length > 0 },
  absent: { takes: 'true or false', fits: (value) => typeof value === 'boolean' },
  contains: { takes: 'a value', fits: () => true },
  equals: { takes: 'a value', fits: () => true },
}

/** A matcher that is not well-formed would be taken for a literal, which says something else than was meant. */
function wordProblem([key, value]: [string, unknown], members: number): string | undefined {
  const word = Object.hasOwn(WORDS, key) ? WORDS[key] : undefined
  if (word === undefined) return undefined
  if (members > 1)
    return `asks for ${key} and for more beside it, but a matcher stands alone; {equals: …} takes any value`
  // A captured value may be what it takes; it is looked at again once it is filled in.
  const isReference = typeof value === 'string' && /^\$[A-Za-z_{]/.test(value)
  return isReference || word.fits(value)
    ? undefined
    : `asks for ${key}, which takes ${word.takes}; it is ${show(value)}`
}

/** What `/pattern/flags` means; undefined for other text. Throws SyntaxError where the pattern is none. */
export function regexOf(text: string): RegExp | undefined {
  const [, pattern, flags] = REGEX.exec(text) ?? []
  return pattern === undefined ? undefined : new RegExp(pattern, flags)
}

function regexProblem(text: string): string | undefined {
  try {
    regexOf(text)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

/**
 * Holds a value against what is expected of it: a literal, "/regex/", ">= 10", {type}, {one_of}, {contains}, {absent}, or
 * {equals}, which takes its value as it is.
 * An object asks only for the members it names; an array asks for all elements in their order. Numbers and amounts are
 * compared digit by digit, never as floats.
 */
export function differencesOf(expected: unknown, actual: unknown, path = ''): Difference[] {
  const matcher = matcherOf(expected)
  if (matcher !== undefined)
    return matches(matcher, actual) ? [] : [{ path, expected: describe(matcher), actual: show(actual) }]
  if (Array.isArray(expected)) return arrayDifferences(expected, actual, path)
  if (typeof expected === 'object' && expected !== null) return objectDifferences(expected, actual, path)
  return Object.is(expected, actual) ? [] : [{ path, expected: show(expected), actual: show(actual) }]
}

function arrayDifferences(expected: readonly unknown[], actual: unknown, path: string): Difference[] {
  if (!Array.isArray(actual) || actual.length !== expected.length)
    return [{ path, expected: show(expected), actual: show(actual) }]
  return expected.flatMap((item, index) => differencesOf(item, actual[index], `${path}[${index}]`))
}

function objectDifferences(expected: object, actual: unknown, path: string): Difference[] {
  if (typeof actual !== 'object' || actual === null || Array.isArray(actual))
    return [{ path, expected: show(expected), actual: show(actual) }]
  const members = new Map<string, unknown>(Object.entries(actual))
  return Object.entries(expected).flatMap(([key, item]) =>
    differencesOf(item, members.get(key), path === '' ? key : `${path}.${key}`),
  )
}

function matcherOf(expected: unknown): Matcher | undefined {
  if (typeof expected === 'string') return textMatcher(expected)
  const word = typeWord(expected)
  if (word !== undefined && isValueType(word)) return { kind: 'type', type: word }
  const [key, value] = onlyMember(expected) ?? []
  if (key === 'one_of' && Array.isArray(value)) return { kind: 'one_of', options: value }
  if (key === 'contains') return { kind: 'contains', part: value }
  if (key === 'equals') return { kind: 'equals', value }
  if (key === 'absent' && typeof value === 'boolean') return { kind: 'absent', absent: value }
  return undefined
}

export function isMatcher(expected: unknown): boolean {
  return matcherOf(expected) !== undefined
}

function textMatcher(text: string): Matcher | undefined {
  const regex = regexOf(text)
  if (regex !== undefined) return { kind: 'regex', regex }
  const [, operator, number] = COMPARISON.exec(text) ?? []
  return operator === undefined || number === undefined ? undefined : { kind: 'comparison', operator, number }
}

/** `{type: uuid}`. A body's own member `type` is recognised by its value: an address, or anything that is not a bare word. */
function typeWord(expected: unknown): string | undefined {
  const [key, value] = onlyMember(expected) ?? []
  return key === 'type' && typeof value === 'string' && /^[a-z]+$/.test(value) ? value : undefined
}

function onlyMember(value: unknown): [string, unknown] | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const [first, ...others] = Object.entries(value)
  return others.length === 0 ? first : undefined
}

function isValueType(word: string): word is ValueType {
  return VALUE_TYPES.some((known) => known === word)
}

function matches(matcher: Matcher, actual: unknown): boolean {
  switch (matcher.kind) {
    case 'regex':
      return typeof actual === 'string' && finds(matcher.regex, actual)
    case 'comparison':
      return compares(matcher, actual)
    case 'type':
      return isOfType(matcher.type, actual)
    case 'one_of':
      return matcher.options.some((option) => differencesOf(option, actual).length === 0)
    case 'contains':
      return contains(matcher.part, actual)
    case 'equals':
      return isDeepStrictEqual(matcher.value, actual)
    case 'absent':
      return (actual === undefined || actual === null) === matcher.absent
    default:
      return matcher satisfies never
  }
}

/** Longer than any sensible pattern takes; some take for ever, and nothing else would end them. */
const REGEX_MS = 1_000
const TEST = new Script('regex.test(text)')
const PLACE = createContext({})

/** @throws {StepFailure} where the pattern takes too long */
export function finds(regex: RegExp, text: string): boolean {
  try {
    return TEST.runInContext(Object.assign(PLACE, { regex, text }), { timeout: REGEX_MS }) === true
  } catch (cause) {
    const message = `${String(regex)} takes too long on a text of ${text.length} characters`
    throw new StepFailure(message, { hint: 'a pattern without repeats inside of repeats', cause })
  }
}

function contains(part: unknown, actual: unknown): boolean {
  if (typeof actual === 'string') return typeof part === 'string' && actual.includes(part)
  return Array.isArray(actual) && actual.some((item) => differencesOf(part, item).length === 0)
}

function isOfType(type: ValueType, actual: unknown): boolean {
  if (type === 'string' || type === 'number' || type === 'boolean') return typeof actual === type
  if (typeof actual !== 'string') return false
  if (type === 'uuid') return isUuid(actual)
  if (type === 'money') return isAmountText(actual)
  return (
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/.test(actual) && !Number.isNaN(Date.parse(actual))
  )
}

function compares({ operator, number }: { operator: string; number: string }, actual: unknown): boolean {
  const text = typeof actual === 'number' || typeof actual === 'string' ? String(actual) : ''
  if (!DECIMAL.test(text)) return false
  const order = compareDecimals(text, number)
  if (operator === '>=') return order >= 0
  if (operator === '<=') return order <= 0
  if (operator === '>') return order > 0
  if (operator === '<') return order < 0
  return operator === '==' ? order === 0 : order !== 0
}

/** Compares decimal strings exactly: negative, 0 or positive. */
export function compareDecimals(a: string, b: string): number {
  const scale = Math.max(decimalsOf(a), decimalsOf(b))
  const difference = scaled(a, scale) - scaled(b, scale)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

function decimalsOf(text: string): number {
  return text.split('.')[1]?.length ?? 0
}

function scaled(text: string, scale: number): bigint {
  const [whole = '', decimals = ''] = text.split('.')
  return BigInt(`${whole}${decimals.padEnd(scale, '0')}`)
}

function describe(matcher: Matcher): string {
  switch (matcher.kind) {
    case 'regex':
      return String(matcher.regex)
    case 'comparison':
      return `${matcher.operator} ${matcher.number}`
    case 'type':
      return matcher.type === 'uuid' ? 'a UUID' : matcher.type === 'money' ? 'an amount' : `a ${matcher.type}`
    case 'one_of':
      return `one of ${matcher.options.map(show).join(', ')}`
    case 'contains':
      return `something that contains ${show(matcher.part)}`
    case 'equals':
      return show(matcher.value)
    case 'absent':
      return matcher.absent ? 'nothing' : 'something'
    default:
      return matcher satisfies never
  }
}

const SHOWN_MAX = 300

/** A value as failures show it: JSON, so that "1" and 1 differ, without what is secret in it. */
export function show(value: unknown): string {
  if (value === undefined) return 'nothing'
  const json = JSON.stringify(masked(value, false))
  return json.length > SHOWN_MAX ? `${json.slice(0, SHOWN_MAX)}…` : json
}
