import { randomUUID } from 'node:crypto'
import type { Operation, OperationInput } from '../../src/wire/operation.ts'
import { canEdit } from '../base/editor.ts'
import { CliError, withFacts } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { call, proofFor } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { stoppable } from '../client/interruptible.ts'
import { flagOf, isConfirmed, seenBy, standingOf, takesKey } from './action.ts'
import type { AnyAction, Ended, Flags, FlagValues } from './action.ts'
import { checkBody, dryRun, expectReply, tried } from './change.ts'
import { confirmInLiveMode } from './confirm.ts'
import type { Dangerous } from './confirm.ts'
import type { Context } from './context.ts'
import { requestOf } from './read-values.ts'
import { needWords, readWords, sendWords } from './text-input.ts'

/** What the command line says of how an action is done. */
export type How = {
  dryRun: boolean
  yes: boolean
  idempotencyKey?: string | undefined
  /** How long to wait for what comes after it; undefined does not wait. */
  waitMs?: number | undefined
  /** Where the text of a flag with `file` comes from, beside the flag. */
  file?: string | undefined
  edit: boolean
}

/**
 * Does an action from the command line: checks what is sent, finds the thing, says where it is done already, asks in live
 * mode, sends, and prints the reply. A dry run asks the service, which answers as if it were done.
 * @throws {CliError}
 */
export async function perform(
  context: Context,
  action: AnyAction,
  { given, values: typed, how }: { given: string | undefined; values: FlagValues; how: How },
): Promise<void> {
  const client = context.client()
  const { operation } = action
  // Values that are wrong, and replies that can't be shown, are reported before anything is looked up.
  if (!how.dryRun) expectReply(context, operation, takesKey(operation))
  const values = await lookedUp(client, action, typed)
  if (textFlagOf(action) === undefined) checkBody(operation, requestOf(action, { id: '', values }).body)
  // So is a caller who is not signed in.
  await proofFor(client, operation)
  const { thing, isExact } = await found(client, action, given)
  const isDone = standingOf(action, thing) === 'done'
  if (standingOf(action, thing) === 'other' && action.move?.refusal !== undefined)
    throw action.move.refusal(thing, values)
  if (isDone) context.note(`${action.move?.already(thing) ?? ''}.`)
  const written = await readText(context, action, { thing, values, how })
  const all = written.values
  const key = takesKey(operation) ? (how.idempotencyKey ?? randomUUID()) : ''
  const input = requestFor(action, { thing, values: all, idempotencyKey: key })
  const effect = isDone ? 'this would change nothing' : `this would ${action.effect(thing, all)}`
  const danger =
    isConfirmed(action, all, thing) && !isDone
      ? dangerOf(action, { thing, values: all, isExact, yes: how.yes })
      : undefined
  const ended = await sendWords(context, written, async () => {
    checkBody(operation, input.body)
    if (how.dryRun) {
      await dryRun(context, client, operation, { input, effect })
      return undefined
    }
    if (danger !== undefined) await confirmInLiveMode(context, client, danger)
    if (key !== '' && how.idempotencyKey === undefined) context.note(`Idempotency key: ${key}`)
    return sendAndWait(context, action, { thing, input, key, waitMs: how.waitMs })
  })
  if (ended === undefined) return
  const { reply, problem } = ended
  await action.view(context, reply, thing)
  if (problem !== undefined) throw problem
}

async function lookedUp(client: Client, { flags }: AnyAction, values: FlagValues): Promise<FlagValues> {
  const found = { ...values }
  for (const [name, { find }] of Object.entries(flags as Flags)) {
    const text = values[name]
    if (find !== undefined && typeof text === 'string') found[name] = await find(client, text)
  }
  return found
}

type Sending = { thing: unknown; input: OperationInput<Operation>; key: string; waitMs: number | undefined }

/**
 * Sends it, and waits for what comes after where that is asked for. What has a key or is waited for says when it is
 * interrupted; its errors name the thing and the key, with which a program can go on.
 */
function sendAndWait(
  context: Context,
  { subject, operation, wait }: AnyAction,
  { thing, input, key, waitMs }: Sending,
): Promise<Ended<unknown>> {
  const client = context.client()
  const ask = async (from: Client): Promise<unknown> => (await call(from, operation, input)).body
  const waiting = waitMs === undefined ? undefined : wait
  if (key === '' && waiting === undefined) return ask(client).then((reply) => ({ reply }))
  const facts = {
    ...(subject === undefined ? {} : { [`${subject.noun}_id`]: subject.id(thing) }),
    ...(key === '' ? {} : { idempotency_key: key }),
  }
  return stoppable(
    client,
    async (stopped) => {
      try {
        const reply = await ask(stopped)
        if (waiting === undefined) return { reply }
        const again = () => ask(stopped)
        const ended = await waiting.until({ context, client: stopped, reply, again, timeoutMs: waitMs ?? 0, key })
        return ended.problem === undefined ? ended : { ...ended, problem: withFacts(ended.problem, facts) }
      } catch (error) {
        throw withFacts(failedAfterAll(error, waiting?.failures), facts)
      }
    },
    waiting?.show,
  )
}

/** An error that ends what was waited for: exit code 3, as wherever an awaited state can't come. */
function failedAfterAll(error: unknown, failures: readonly string[] = []): unknown {
  if (!(error instanceof CliError) || !failures.includes(error.code)) return error
  return new CliError(error.code, error.message, { ...error.options, exit: EXIT.assertion, cause: error })
}

async function found(
  client: Client,
  { subject }: AnyAction,
  given: string | undefined,
): Promise<{ thing: unknown; isExact: boolean }> {
  if (subject === undefined) return { thing: undefined, isExact: true }
  return subject.find(client, given ?? '')
}

/**
 * The request for a thing as it was seen, with a key of its own where the operation takes one: a repetition after a lost
 * answer does nothing twice.
 */
export function requestFor(
  action: AnyAction,
  { thing, values, idempotencyKey }: { thing: unknown; values: FlagValues; idempotencyKey?: string | undefined },
): OperationInput<Operation> {
  const key = idempotencyKey ?? randomUUID()
  const input = requestOf(action, { id: action.subject?.id(thing) ?? '', values, thing, key })
  const expected = seenBy(action, thing)
  return {
    ...input,
    ...(expected === undefined ? {} : { body: { ...Object(input.body), expected } }),
    ...(takesKey(action.operation) ? { headers: { ...Object(input.headers), 'x-idempotency-key': key } } : {}),
  }
}

function dangerOf(
  { subject, effect }: AnyAction,
  { thing, values, isExact, yes }: { thing: unknown; values: FlagValues; isExact: boolean; yes: boolean },
): Dangerous {
  return { what: effect(thing, values), words: subject?.confirmBy(thing, values) ?? [], isExact, yes }
}

/** The flag whose text may also come from a file or an editor. */
function textFlagOf({ flags }: Pick<AnyAction, 'flags'>): string | undefined {
  return Object.entries(flags as Flags).find(([, { file }]) => file === true)?.[0]
}

type Text = { values: FlagValues; words: string | undefined; isWritten: boolean }

/** The values with the text that a file, standard input or an editor has. */
async function readText(
  context: Context,
  action: AnyAction,
  { thing, values, how }: { thing: unknown; values: FlagValues; how: How },
): Promise<Text> {
  const name = textFlagOf(action)
  if (name === undefined) return { values, words: undefined, isWritten: false }
  const isRequired = action.flags[name]?.required === true
  const given = typeof values[name] === 'string' ? values[name] : undefined
  const isWritten = given === undefined && how.file === undefined && (how.edit || isRequired)
  if (isWritten && canEdit(context.io)) await askBefore(context.client(), action, { thing, values, name })
  const words = await (isRequired ? needWords : readWords)(context.io, {
    given,
    flag: flagOf(name),
    file: how.file,
    edit: how.edit,
    about: async () => action.about?.(thing) ?? [action.effect(thing, values)],
  })
  return { values: words === undefined ? values : { ...values, [name]: words }, words, isWritten }
}

/** The service is asked first, with a placeholder for the text: what it rejects anyway need not be written. */
async function askBefore(
  client: Client,
  action: AnyAction,
  { thing, values, name }: { thing: unknown; values: FlagValues; name: string },
): Promise<void> {
  if (action.operation.dryRun !== true) return
  const input = requestFor(action, { thing, values: { ...values, [name]: '...' } })
  await call(client, action.operation, { ...input, query: { ...Object(input.query), ...tried() } })
}
