import { parseArgs } from 'node:util'
import { stringify } from 'yaml'
import { z } from 'zod'
import type { Operation } from '../../../src/wire/operation.ts'
import { CliError } from '../../base/errors.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { flagOf, memberOf, takesKey } from '../../kit/action.ts'
import type { Action, AnyAction, Flag, Flags, ReplyBody, ValueOf } from '../../kit/action.ts'
import { readValues, requestOf } from '../../kit/read-values.ts'
import { refuseUnlike, usualStatus } from '../assert-matches.ts'
import { expectedOf, formsOf } from '../language/parts.ts'
import type { ExpectedStatus, Makes } from '../language/parts.ts'
import { readInput } from '../play/case-run.ts'
import type { CaseRun } from '../play/case-run.ts'
import type { Verb } from './verb.ts'

/*
 * Verbs that are read from what people can do on the command line: `svc hold set acme-ltd --reason odd` is the step
 * `hold.set: { reason: odd }`.
 */

/** How steps name what actions are done to. */
export type Place<Shape extends z.ZodRawShape> = {
  shape: Shape
  example: z.input<z.ZodObject<Shape>>
  idOf(run: CaseRun, input: z.output<z.ZodObject<Shape>>): string
  /** Who does it, where the operation does not say so. */
  clientOf?(run: CaseRun, input: z.output<z.ZodObject<Shape>>): Client
  /** What a step names with `as`, which is then one of the members. */
  makes?: Makes
  /** Keeps what later steps need of the answer. */
  done?(run: CaseRun, reply: unknown, input: Readonly<Record<string, unknown>>): void
}

type Dotted<Words extends string> = Words extends `${infer Word} ${infer Rest}`
  ? `${Dashed<Word>}.${Dotted<Rest>}`
  : Dashed<Words>
type Dashed<Word extends string> = Word extends `${infer Head}-${infer Tail}` ? `${Head}_${Dashed<Tail>}` : Word
type Snake<Name extends string> = Name extends `${infer Letter}${infer Rest}`
  ? `${Letter extends Lowercase<Letter> ? Letter : `_${Lowercase<Letter>}`}${Snake<Rest>}`
  : Name

/** Every flag may be left out: a scenario may test how the service answers that. */
type MembersOf<F extends Flags> = { [Name in keyof F & string as Snake<Name>]?: ValueOf<F[Name]> | undefined }
type KeysOf<Body> = Body extends unknown ? keyof Body : never
type Expected<O extends Operation> = { [Member in KeysOf<ReplyBody<O>>]?: unknown } & {
  http?: ExpectedStatus | undefined
}
type InputOf<A, Shape extends z.ZodRawShape> =
  A extends Action<infer _Thing, infer F, infer O, infer _Command, infer _Values>
    ? z.input<z.ZodObject<Shape>> & MembersOf<F> & { expect?: Expected<O> | undefined }
    : never

type ActionVerb<Input> = Verb<z.ZodType<Input, Input>>
type ActionVerbs<Actions extends readonly AnyAction[], Shape extends z.ZodRawShape> = {
  [A in Actions[number] as Dotted<A['command']>]: ActionVerb<InputOf<A, Shape>>
}

/** `merchants fees set` as `merchants.fees.set`, and `end-overlap` as `end_overlap`. */
function verbOf({ command }: AnyAction): string {
  return command.replaceAll(' ', '.').replaceAll('-', '_')
}

export function actionVerbs<Shape extends z.ZodRawShape, const Actions extends readonly AnyAction[]>(
  place: Place<Shape>,
  actions: Actions,
): ActionVerbs<Actions, Shape> {
  const verbs = actions.map((action) => [verbOf(action), actionVerb(place, action)])
  // One for each action, which Object.fromEntries can't say; the types above say what each schema takes.
  return Object.fromEntries(verbs) as ActionVerbs<Actions, Shape>
}

function actionVerb<Shape extends z.ZodRawShape>(at: Place<Shape>, action: AnyAction): ActionVerb<unknown> {
  const flags = Object.entries(action.flags as Flags)
  const named = z.object(at.shape)
  const members: z.ZodRawShape = {
    ...at.shape,
    ...Object.fromEntries(flags.map(([name, flag]) => [memberOf(name), schemaOf(flag).optional()])),
  }
  const schema = z.strictObject({ ...members, expect: expectedOf(replyOf(action.operation)) })
  const [example = '', ...examples] = action.examples.flatMap((line) => exampleOf(action, line, at.example))
  return {
    schema,
    text: `${action.summary}.`,
    examples: [example, ...examples],
    makes: at.makes,
    async play(run, given) {
      const { expect, ...input } = readInput(run, schema, given)
      const members = new Map<string, unknown>(Object.entries(input))
      const values = Object.fromEntries(flags.map(([name]) => [name, givenOf(members.get(memberOf(name)))]))
      const place = named.parse(input)
      const request = requestOf(action, { id: at.idOf(run, place), values: readValues(action.flags, values, memberOf) })
      const key = members.get('idempotency_key') ?? run.newKey(verbOf(action), given)
      const headers = takesKey(action.operation) ? { headers: { 'x-idempotency-key': key } } : {}
      const client = at.clientOf?.(run, place) ?? run.client
      const reply = await call(client, action.operation, { ...request, ...headers })
      const name = members.get('as')
      if (typeof name === 'string') run.captures.set(name, reply.body)
      at.done?.(run, reply.body, input)
      refuseUnlike('the answer', reply, { usual: usualStatus(action.operation), expected: expect })
    },
  }
}

/** The schemas of these members say that they are nothing else. */
function givenOf(value: unknown): string | boolean | undefined {
  return typeof value === 'string' || typeof value === 'boolean' ? value : undefined
}

/** A value as the command line would take it; one that refers to something is looked at once that is known. */
function schemaOf({ value, choices, read, summary }: Flag): z.ZodType<string | boolean> {
  const about = { description: summary }
  if (value === undefined) return z.boolean().meta(about)
  if (choices !== undefined) return z.enum([...choices]).meta(about)
  const text = z.string().superRefine((given, context) => {
    const message = given.includes('$') ? undefined : problemOf(read, given)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })
  return text.meta(about)
}

function problemOf(read: Flag['read'], text: string): string | undefined {
  try {
    read?.(text)
    return undefined
  } catch (error) {
    if (error instanceof CliError) return error.message
    throw error
  }
}

function replyOf(operation: Operation): z.ZodObject {
  const reply = operation.replies[usualStatus(operation)]
  const shapes = reply === undefined ? [] : formsOf(reply)
  return z.object(Object.assign({}, ...shapes))
}

/** A command line as a step; none where it says more than the action does, such as `--wait`. */
function exampleOf(action: AnyAction, line: string, named: object): string[] {
  const flags = Object.entries(action.flags as Flags)
  const words = Array.from(line.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, bare]) => quoted ?? bare ?? '')
  const options = Object.fromEntries(
    flags.map(
      ([name, { value }]) => [flagOf(name).slice(2), { type: value === undefined ? 'boolean' : 'string' }] as const,
    ),
  )
  const [, ...nouns] = ['svc', ...action.command.split(' ')]
  const { values, positionals } = parseArgs({ args: words.slice(nouns.length + 1), options, strict: false })
  if (Object.keys(values).some((name) => !Object.hasOwn(options, name))) return []
  const places = flags.filter(([, flag]) => flag.positional === true)
  const isNamed = action.subject !== undefined && action.subject.isOwn !== true
  const rest = isNamed ? positionals.slice(1) : positionals
  const members = flags.flatMap(([name]): [string, unknown][] => {
    const index = places.findIndex(([each]) => each === name)
    const value = index === -1 ? values[flagOf(name).slice(2)] : rest[index]
    return value === undefined ? [] : [[memberOf(name), value]]
  })
  const given = new Map(members)
  // The command asks for what is left out; a step has to say it.
  if (flags.some(([name, { required }]) => required === true && !given.has(memberOf(name)))) return []
  const input = stringify({ ...named, ...Object.fromEntries(given) }, { collectionStyle: 'flow', lineWidth: 0 })
  return [`${verbOf(action)}: ${input.trim()}`]
}
