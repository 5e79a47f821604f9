import type { z } from 'zod'
import type { Operation, OperationInput, OperationReply } from '../../../src/wire/operation.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { takesKey } from '../../kit/action.ts'
import { refuseDifferences, refuseUnlike, usualStatus } from '../assert-matches.ts'
import type { Expected } from '../assert-matches.ts'
import type { Makes } from '../language/parts.ts'
import { differencesOf } from '../matchers.ts'
import { awaitThat } from '../play/await-that.ts'
import type { Awaited } from '../play/await-that.ts'
import { keep, readInput } from '../play/case-run.ts'
import type { CaseRun, Unnamed } from '../play/case-run.ts'

/*
 * A verb is declared in one place: what follows it, what it does in words, and what plays it. Most verbs send one
 * request, wait for something or compare something, and say only which.
 */

/** Plays what follows a verb, as a file has it: references in it are not filled in yet. */
export type Play = (run: CaseRun, given: unknown) => Promise<void>
type PlayRead<Input> = (run: CaseRun, input: Input, given: unknown) => Promise<void>

export type Verb<Schema extends z.ZodType = z.ZodType> = {
  schema: Schema
  text: string
  /** Lines that show how it is written, the plainest first. */
  examples: readonly [string, ...string[]]
  makes?: Makes | undefined
  play: Play
}

/** One of the things that await and expect look at. */
export type Form<Schema extends z.ZodType = z.ZodType> = {
  schema: Schema
  examples: readonly string[]
  play: Play
}

export type Subject = { subject: string; awaits: readonly Form[]; expects: readonly Form[] }

export function verb<Schema extends z.ZodType>(
  declared: Omit<Verb<Schema>, 'play'> & { play: PlayRead<z.output<Schema>> },
): Verb<Schema> {
  return { ...declared, play: playerOf(declared) }
}

export function form<Schema extends z.ZodType>(
  declared: Omit<Form<Schema>, 'play'> & { play: PlayRead<z.output<Schema>> },
): Form<Schema> {
  return { ...declared, play: playerOf(declared) }
}

function playerOf<Schema extends z.ZodType>({
  schema,
  play,
}: {
  schema: Schema
  play: PlayRead<z.output<Schema>>
}): Play {
  return (run, given) => play(run, readInput(run, schema, given), given)
}

type Sending<Input, O extends Operation> = {
  operation: O
  /** What is compared, as messages name it. */
  what: string | ((input: Input) => string)
  /** Who sends it; the merchant that the step acts as, where nothing is said. */
  by?(run: CaseRun, input: Input): Client
  request(run: CaseRun, input: Input): OperationInput<O> | Promise<OperationInput<O>>
  /** What the answer is to a scenario, where that is not all of it. */
  shown?(body: OperationReply<O>['body']): unknown
  /** What later steps name by `as`, where it is more than the answer. */
  made?(run: CaseRun, body: OperationReply<O>['body'], input: Input): Unnamed
}

type Sent = { as?: string | undefined; idempotency_key?: string | undefined; expect?: Expected | undefined }

/** Sends one request, keeps the answer by the step's name, and compares it with what the step expects. */
export function sends<Input extends object, O extends Operation>(sending: Sending<Input, O>): PlayRead<Input> {
  const { operation, what, by, request, shown = (body) => body, made } = sending
  return async (run, input, given) => {
    const { as, idempotency_key: own, expect }: Sent = input
    const key = takesKey(operation) ? { 'x-idempotency-key': own ?? run.newKey(operation.name, given) } : {}
    const { headers, ...said } = await request(run, input)
    const sent = { ...said, headers: { ...Object(headers), ...key } } as OperationInput<O>
    const { status, body } = await call(by?.(run, input) ?? run.client, operation, sent)
    const answer = shown(body)
    keep(run, as, made?.(run, body, input), answer)
    refuseUnlike(
      typeof what === 'string' ? what : what(input),
      { status, body: answer },
      { usual: usualStatus(operation), expected: expect },
    )
  }
}

/** Waits until what `look` finds has the step's status, or is as `about` says instead. */
export function waits<Input extends object, T>(
  look: (run: CaseRun, input: Input) => Promise<T | undefined>,
  about: (input: Input) => Omit<Awaited<T>, 'look'>,
): PlayRead<Input> {
  return async (run, input) => {
    const { status, within }: { status?: string; within?: string | undefined } = input
    await awaitThat<T>(run, { wanted: status, within, ...about(input), look: () => look(run, input) })
  }
}

type Holding<Input, T> = {
  what(input: Input): string
  now(run: CaseRun, input: Input): Promise<T>
  /** The members of the step that expect nothing. */
  beside: readonly string[]
}

/** Compares what something is now with what the step expects of it. */
export function holds<Input extends object, T>({ what, now, beside }: Holding<Input, T>): PlayRead<Input> {
  return async (run, input) => {
    const names = new Set(beside)
    const expected = Object.fromEntries(Object.entries(input).filter(([name]) => !names.has(name)))
    refuseDifferences(what(input), differencesOf(expected, await now(run, input)))
  }
}

/** A form of expect: what a step names is compared with what the step expects of it. */
export function comparison<Schema extends z.ZodType<object>, T>({
  schema,
  examples,
  ...holding
}: Omit<Form<Schema>, 'play'> & Holding<z.output<Schema>, T>): Form<Schema> {
  return form({ schema, examples, play: holds(holding) })
}
