import { Lexer } from 'yaml'
import type { Document } from 'yaml'
import { z } from 'zod'
import { explainIssues } from './explain.ts'
import type { Explained } from './explain.ts'
import { ExpectError, VERBS, VERB_NAMES, isVerb } from './language.ts'
import type { Verb } from './language.ts'
import { memberOf } from './member.ts'
import { nearestWord } from './nearest.ts'
import { locate } from './source.ts'
import type { Path, Place, Source } from './source.ts'

export type Step = {
  /** From 1. */
  number: number
  verb: Verb
  /** What follows the verb, with the file's variables filled in. */
  input: unknown
  expectError: ExpectError | undefined
  /** The verb, in one line as the file has it. */
  title: string
  /** The place of something in the step, by its path from the step. */
  placeOf(path: Path): Place
}

export type StepOptions = { document: Document; source: Source; index: number; note: (found: Explained) => void }

/** Reads one step, checked by its verb's schema; what is wrong with it is noted. */
export function readStep(value: unknown, { document, source, index, note }: StepOptions): Step | undefined {
  const path = ['steps', index]
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const meant = typeof value === 'string' ? nearestWord(value, VERB_NAMES) : undefined
    note({
      path,
      what: 'value',
      message: `a step must be a verb and what it takes${meant === undefined ? '' : `: did you mean "${meant}: …"?`}`,
      hint: exampleOf(meant ?? 'pay'),
    })
    return undefined
  }
  const words = Object.keys(value).filter((key) => key !== 'expect_error')
  const [verb, ...others] = words.filter(isVerb)
  for (const word of words.filter((word) => !isVerb(word))) note(unknownVerb(word, path))
  for (const other of others)
    note({
      path: [...path, other],
      what: 'key',
      message: `a step has one verb; here are "${verb}" and "${other}"`,
      hint: `- ${other}: … as a step of its own`,
    })
  if (words.length === 0)
    note({ path, what: 'value', message: 'this step has no verb', hint: `one of ${VERB_NAMES.join(', ')}` })
  if (verb === undefined) return undefined
  const input: unknown = memberOf(value, verb)
  const expectError = parse(ExpectError.optional(), memberOf(value, 'expect_error'), {
    path: [...path, 'expect_error'],
    note,
  })
  if (parse(VERBS[verb].schema, input, { path: [...path, verb], note }) !== undefined)
    for (const problem of ruleProblems(verb, input, expectError)) note({ ...problem, path: [...path, ...problem.path] })
  return {
    number: index + 1,
    verb,
    input,
    expectError,
    title: titleOf(document, source, [...path, verb]),
    placeOf: (inner) => locate(source, document, [...path, ...inner], 'key'),
  }
}

function unknownVerb(word: string, path: Path): Explained {
  const meant = nearestWord(word, [...VERB_NAMES, 'expect_error'])
  if (meant === undefined)
    return {
      path: [...path, word],
      what: 'key',
      message: `unknown verb "${word}"`,
      hint: `one of ${VERB_NAMES.join(', ')}`,
    }
  return {
    path: [...path, word],
    what: 'key',
    message: `unknown verb "${word}": did you mean "${meant}"?`,
    hint: isVerb(meant) ? exampleOf(meant) : undefined,
  }
}

function exampleOf(verb: string): string | undefined {
  return isVerb(verb) ? `- ${VERBS[verb].example}` : undefined
}

/** Rules over several fields, which hold beyond what a schema of one can say. */
function ruleProblems(verb: Verb, input: unknown, expectError: ExpectError | undefined): Explained[] {
  const has = (name: string): boolean => memberOf(input, name) !== undefined
  const problems: Explained[] = []
  const tell = (message: string, hint: string): void => void problems.push({ path: [verb], what: 'key', message, hint })
  if (verb === 'pay' && !has('repeat')) {
    for (const name of ['amount', 'currency']) if (!has(name)) tell(`"${name}" is missing here`, VERBS.pay.example)
  }
  if (verb === 'bank' && has('approve') === has('cancel'))
    tell('bank takes one of approve and cancel', VERBS.bank.example)
  if (verb === 'expect' && has('of') && Object.keys(Object(input)).length === 1)
    tell(`expect says nothing about ${String(memberOf(input, 'of'))}`, VERBS.expect.example)
  if (verb === 'expect' && has('dispute') && Object.keys(Object(input)).length === 1)
    tell(`expect says nothing about ${String(memberOf(input, 'dispute'))}`, 'expect: { dispute: $d1, status: OPEN }')
  if (verb === 'expect' && has('account') && Object.keys(Object(input)).length === 1)
    tell(
      `expect says nothing about ${String(memberOf(input, 'account'))}`,
      'expect: { account: $c1, balance: "450.00" }',
    )
  if (
    verb === 'expect' &&
    has('transactions') &&
    String(memberOf(input, 'account')).replace(/[{}]/g, '') === '$merchant'
  )
    tell(
      "the settlement account is the bank's: only a customer's transactions can be read",
      'expect: { account: $merchant, balance: "30.00" }',
    )
  if (verb === 'receiver' && !has('answers') && !has('delay') && !has('secret'))
    tell('receiver takes one or more of answers, delay and secret', VERBS.receiver.example)
  if (verb === 'http' && ['get', 'post', 'put', 'delete'].filter(has).length !== 1)
    tell('http takes one of get, post, put and delete', VERBS.http.example)
  if (expectError !== undefined && Object.keys(expectError).length === 0) {
    problems.push({
      path: ['expect_error'],
      what: 'key',
      message: 'expect_error says nothing',
      hint: 'expect_error: { http: 403, code: PAYOUT_HELD }',
    })
  }
  return problems
}

type ParseOptions = { path: Path; note: (found: Explained) => void }

/** Parses with a schema and notes what is wrong in the words of the language. */
export function parse<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  { path, note }: ParseOptions,
): z.output<Schema> | undefined {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const form = formOf(schema, value)
  const error = form.safeParse(value).error ?? parsed.error
  for (const found of explainIssues(form, error, value))
    note(withBankHint({ ...found, path: [...path, ...found.path] }))
  return undefined
}

/** Of the forms that a verb has, the one that shares most fields with the value: only its rules are worth telling. */
function formOf(schema: z.ZodType, value: unknown): z.ZodType {
  if (!(schema instanceof z.ZodUnion) || typeof value !== 'object' || value === null) return schema
  const fields = Object.keys(value)
  const forms = schema.options.filter((option) => option instanceof z.ZodObject)
  const shared = ({ shape }: z.ZodObject): number => fields.filter((field) => Object.hasOwn(shape, field)).length
  return forms.toSorted((a, b) => shared(b) - shared(a))[0] ?? schema
}

/** Who looks for `reject` finds the way in which the mock bank does it. */
function withBankHint(found: Explained): Explained {
  if (found.path.at(-1) !== 'reject' || found.path.at(-2) !== 'bank') return found
  return {
    ...found,
    message: 'a payment\'s fate at the mock bank is fixed when it is made, so "reject" is no verb of the bank',
    hint: 'pay: { …, scenario: insufficient-funds }, then bank: { approve: $p1 }',
  }
}

const TITLE_MAX = 76

function titleOf(document: Document, source: Source, path: Path): string {
  const { line, column } = locate(source, document, path, 'key')
  const written = (source.lines[line - 1] ?? '').slice(column - 1).trim()
  const text = withoutComment(written).trim()
  return text.length > TITLE_MAX ? `${text.slice(0, TITLE_MAX)}…` : text
}

/** The lexer's own marks, which stand for no character of the text. */
const LEXER_MARKS = new Set(['\u0002', '\u0018', '\u001f'])

/** A # begins a comment only where YAML says so, which is not inside of quotes. */
function withoutComment(line: string): string {
  let length = 0
  for (const token of new Lexer().lex(line)) {
    if (token.startsWith('#')) return line.slice(0, length)
    if (!LEXER_MARKS.has(token)) length += token.length
  }
  return line
}
