import { z } from 'zod'
import { explainIssues } from './explain.ts'
import type { Explained } from './explain.ts'
import { ExpectError, VERBS, isVerb, VERB_NAMES } from '../language.ts'
import type { Verb } from '../language.ts'
import { Ref } from '../language/parts.ts'
import { memberOf } from '../member.ts'
import type { Opened } from './document.ts'
import { locate } from './source.ts'
import type { Path, Place, Source } from './source.ts'
import { ruleProblems, shellProblem } from './step-rules.ts'
import { Lexer, isNode } from 'yaml'
import { STRUCTURES, STRUCTURE_NAMES, isStructure } from '../language/structure.ts'
import { nearestWord } from '../../base/nearest-word.ts'

export type Step = {
  /** From 1, in the order of the file with everything spread out. */
  number: number
  /** As reports show it: 3, or 3.1.2 for a step inside of another. */
  label: string
  verb: Verb
  /** What follows the verb, with the file's variables filled in. */
  input: unknown
  expectError: ExpectError | undefined
  /** The merchant of the case, by its name, that the step is played as; undefined for the case's own. */
  actingAs: string | undefined
  /** The verb, in one line as the file has it. */
  title: string
  /** The file it stands in, which may be one that the case's own file uses. */
  source: Source
  /** The place of something in the step, by its path from the step. */
  placeOf(path: Path): Place
}

const BESIDE = ['expect_error', 'acting_as']

export type StepOptions = {
  opened: Opened
  /** Of the step in its document. */
  path: Path
  number: number
  label: string
  /** Of the loops it stands in; empty outside of any. */
  round: string
  note: (found: Explained) => void
}

/** Reads one step, checked by its verb's schema; what is wrong with it is noted. */
export function readStep(value: unknown, { opened, path, number, label, round, note }: StepOptions): Step | undefined {
  const { document, source } = opened
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const meant = typeof value === 'string' ? guessVerb(value) : undefined
    note({
      path,
      what: 'value',
      message: `a step must be a verb and what it takes${meant === undefined ? '' : `: did you mean "${meant}: …"?`}`,
      hint: exampleOf(meant ?? 'pay'),
    })
    return undefined
  }
  const words = Object.keys(value).filter((key) => !BESIDE.includes(key))
  const [verb, ...others] = words.filter(isVerb)
  for (const word of words.filter((word) => !isVerb(word))) note(unknownVerb(word, path))
  for (const other of others)
    note({
      path: [...path, other],
      what: 'key',
      message: `a step has one verb; here are "${verb}" and "${other}"`,
      hint: `- ${other}: … as a step of its own`,
    })
  if (words.length === 0) note({ path, what: 'value', message: 'this step has no verb', hint: COMMON_VERBS })
  if (verb === undefined) return undefined
  const input: unknown = memberOf(value, verb)
  const expectError = parse(ExpectError.optional(), memberOf(value, 'expect_error'), {
    path: [...path, 'expect_error'],
    note,
  })
  const actingAs = parseNamed('acting_as', Ref.merchant.optional(), value, { path, note })
  const schema: z.ZodType = VERBS[verb].schema
  const ofVerb = (found: Explained): void => note(withExample(found, { verb, schema, depth: path.length + 1 }))
  if (parse(schema, input, { path: [...path, verb], note: ofVerb }) !== undefined)
    for (const problem of [...ruleProblems(verb, input, expectError), ...shellProblem(verb, writtenAt(opened, path))])
      note({ ...problem, path: [...path, ...problem.path] })
  return {
    number,
    label,
    verb,
    input,
    expectError,
    actingAs,
    title: `${titleOf(opened, [...path, verb])}${round === '' ? '' : ` (${round})`}`,
    source,
    placeOf: (inner) => locate(source, document, [...path, ...inner], 'key'),
  }
}

/** What is about the whole of a step's input says how the verb is written, where that is always the same. */
function withExample(
  found: Explained,
  { verb, schema, depth }: { verb: Verb; schema: z.ZodType; depth: number },
): Explained {
  if (found.path.length > depth) return found
  const isNoMapping = found.message.startsWith('must')
  const message = isNoMapping ? `${verb} ${found.message}` : found.message
  const hint = isNoMapping || !(schema instanceof z.ZodUnion) ? exampleOf(verb) : undefined
  return { ...found, message, hint: found.hint ?? hint }
}

/** The step as it stands in the file, before its variables were filled in. */
function writtenAt({ raw }: Opened, path: Path): unknown {
  return path.reduce<unknown>((value, name) => memberOf(value, String(name)), raw)
}

function unknownVerb(word: string, path: Path): Explained {
  const instead = FORMER_VERBS.get(word)
  if (instead !== undefined)
    return { path: [...path, word], what: 'key', message: `unknown verb "${word}"`, hint: instead }
  const meant = guessVerb(word, BESIDE)
  const message = `unknown verb "${word}"${meant === undefined ? '' : `: did you mean "${meant}"?`}`
  return { path: [...path, word], what: 'key', message, hint: meant === undefined ? COMMON_VERBS : exampleOf(meant) }
}

type ParseOptions = { path: Path; note: (found: Explained) => void }

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

/** Parses a member of a value, so that messages say its name. */
export function parseNamed<Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  value: unknown,
  options: ParseOptions,
): z.output<Schema> | undefined {
  const member = memberOf(value, name)
  const isFine = parse(z.object({ [name]: schema }), { [name]: member }, options) !== undefined
  return isFine ? schema.parse(member) : undefined
}

/** Of the forms that a verb has, the one that shares most fields with the value: only its rules are worth reporting. */
function formOf(schema: z.ZodType, value: unknown): z.ZodType {
  if (!(schema instanceof z.ZodUnion) || typeof value !== 'object' || value === null) return schema
  const fields = Object.keys(value)
  const forms = schema.options.filter((option) => option instanceof z.ZodObject)
  const shared = ({ shape }: z.ZodObject): number => fields.filter((field) => Object.hasOwn(shape, field)).length
  return forms.toSorted((a, b) => shared(b) - shared(a))[0] ?? schema
}

/** For those who look for `reject`: the way in which the mock bank does it. */
function withBankHint(found: Explained): Explained {
  if (found.path.at(-1) !== 'reject' || found.path.at(-2) !== 'bank') return found
  return {
    ...found,
    message: 'the mock bank has no verb "reject": what it does with a payment is set when the payment is created',
    hint: 'pay: { …, scenario: insufficient-funds }, then bank: { approve: $p1 }',
  }
}

const TITLE_MAX = 76

/** What a step is called: the line of its verb as the file has it, without what else stands in that line. */
export function titleOf({ document, source }: Opened, path: Path): string {
  const { line, column } = locate(source, document, path, 'key')
  const end = endOf({ document, source }, path)
  const rest = (source.lines[line - 1] ?? '').slice(column - 1, end?.line === line ? end.col - 1 : undefined)
  const text = withoutComment(rest.trim()).trim()
  return text.length > TITLE_MAX ? `${text.slice(0, TITLE_MAX)}…` : text
}

/** Where what follows the verb ends; undefined where that is not to be seen, as with an alias. */
function endOf(
  { document, source }: Pick<Opened, 'document' | 'source'>,
  path: Path,
): { line: number; col: number } | undefined {
  const node: unknown = document.getIn(path, true)
  return isNode(node) && node.range != null ? source.counter.linePos(node.range[1]) : undefined
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

const STEP_WORDS: readonly string[] = [...VERB_NAMES, ...STRUCTURE_NAMES]

export function exampleOf(verb: string): string | undefined {
  if (isVerb(verb)) return `- ${VERBS[verb].examples[0]}`
  return isStructure(verb) ? `- ${STRUCTURES[verb].examples[0]}` : undefined
}

/** The verb that a word was probably meant to be: the first that ends in it, as payments.refund in refund, or a near one. */
function guessVerb(word: string, beside: readonly string[] = []): string | undefined {
  return STEP_WORDS.find((verb) => verb.endsWith(`.${word}`)) ?? nearestWord(word, [...STEP_WORDS, ...beside])
}

const READ_ACCOUNTS = '- http: { get: "/open-banking/v1/accounts/$c1.account_id/balances", by: $c1 }'
/** What is written in place of verbs that there are no more. */
const FORMER_VERBS: ReadonlyMap<string, string> = new Map([
  ['accounts', '- http: { get: /open-banking/v1/accounts, by: $c1 }'],
  ['balances', READ_ACCOUNTS],
  ['transactions', READ_ACCOUNTS.replace('balances', 'transactions')],
])

/** The verbs that most steps have, and where the others are listed. */
const COMMON_VERBS = `one of pay, bank, await, expect, payments.refund, webhooks, receiver, clock, dispute, http; svc sandbox scenarios schema has all ${STEP_WORDS.length}`

/** What is played, one after the other: steps, and branches that are played at the same time. */
export type Planned = Step | { branches: readonly Plan[] }
export type Plan = readonly Planned[]

export function stepsOf(plan: Plan): Step[] {
  return plan.flatMap((part) => ('branches' in part ? part.branches.flatMap(stepsOf) : [part]))
}
