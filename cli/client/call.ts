import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import type { Dispatcher } from 'undici'
import type { z } from 'zod'
import type { Operation, OperationInput, OperationReply } from '../../src/wire/operation.ts'
import { getService } from '../../src/wire/service.ts'
import type { OperationAccess } from './auth/wrong-profile-kind.ts'
import type { Credentials } from './auth/credentials.ts'
import { tracing } from '../base/debug.ts'
import { CliError } from '../base/errors.ts'
import { prepare } from './build-request.ts'
import type { Prepared } from './build-request.ts'
import { refusalOf, refusedCode } from './api-error.ts'
import { isConnectionFailure, unreachable } from './unreachable.ts'
import { parsedJson } from '../base/json.ts'

export type Client = {
  /** Without a slash at the end. */
  apiUrl: string
  credentials: Credentials
  /** Called with every request and its answer, as they went over the wire. */
  onExchange?: ((exchange: Exchange) => void) | undefined
  /** How long one request may take from its start to the end of the answer. */
  timeoutMs: number
  /** Ends requests under way, whatever time they have left. */
  signal?: AbortSignal | undefined
  dispatcher: Dispatcher
  close(): Promise<void>
}

export type Exchange = {
  method: string
  url: string
  headers: Readonly<Record<string, string>>
  body: string | null
  status: number | undefined
  reply: string | undefined
}

const CONNECT_TIMEOUT_MS = 3_000
// A page of a hundred payments is about 100 KiB; more than this is not our service.
const REPLY_BYTES_MAX = 16 * 1024 * 1024
const RETRY_AFTER_MS = 150

/** Called for every request, with one line without secrets. */
type Trace = ((line: string) => void) | undefined

export function makeClient(options: Pick<Client, 'apiUrl' | 'credentials' | 'timeoutMs'>, trace?: Trace): Client {
  return { ...options, ...makeConnections(options.timeoutMs, trace) }
}

/** Connections, before it is known whose service they lead to. */
export function makeConnections(timeoutMs: number, trace?: Trace): Pick<Client, 'dispatcher' | 'timeoutMs' | 'close'> {
  const agent = new Agent({ connect: { timeout: CONNECT_TIMEOUT_MS }, maxResponseSize: REPLY_BYTES_MAX })
  const dispatcher = trace === undefined ? agent : agent.compose(tracing(trace))
  return { dispatcher, timeoutMs, close: () => agent.destroy() }
}

/**
 * Calls an operation of the contract and returns its reply, parsed by the operation's own schema. A request that may be
 * repeated is, once, when the connection fails; so is any that a token of before did not let in. Redirects are not
 * followed.
 * @throws {CliError} whose exit code says what kind of failure it was
 */
export async function call<O extends Operation>(
  client: Client,
  operation: O,
  input: OperationInput<O>,
): Promise<OperationReply<O>> {
  const reply = await sendProven(client, operation, prepare(client, operation, input))
  const json = parsedJson(reply.text)
  const schema = operation.replies[reply.status]
  if (schema === undefined) throw refusalOf({ client, operation, input, status: reply.status, json })
  const parsed = schema.safeParse(json)
  // A newer service may return more than this version knows, which is no reason to reject it (decision 34).
  if (!parsed.success && parsed.error.issues.every(isUnknownMember))
    return { status: reply.status, body: json } as OperationReply<O>
  if (!parsed.success) {
    throw new CliError(
      'UNEXPECTED_REPLY',
      `${client.apiUrl} answered ${operation.name} in a form this version does not know`,
      {
        status: reply.status,
        hint: "a version of svc that is the same as the service's",
        cause: parsed.error,
      },
    )
  }
  // The schema of this very status has just been applied, which the type system can't follow through the lookup.
  return { status: reply.status, body: parsed.data } as OperationReply<O>
}

function isUnknownMember(issue: z.core.$ZodIssue): boolean {
  if (issue.code === 'invalid_union') return issue.errors.some((errors) => errors.every(isUnknownMember))
  return issue.code === 'unrecognized_keys'
}

export function signalOf({ timeoutMs, signal }: Pick<Client, 'timeoutMs' | 'signal'>): AbortSignal {
  const timeout = AbortSignal.timeout(timeoutMs)
  return signal === undefined ? timeout : AbortSignal.any([timeout, signal])
}

export type Reply = { status: number; text: string; headers: Readonly<Record<string, string | string[] | undefined>> }

export function sendProven(client: Client, operation: OperationAccess, prepared: Prepared): Promise<Reply> {
  return withProof(client, operation, (proof) =>
    sendTwiceIfSafe(client, { ...prepared, headers: { ...prepared.headers, ...proof } }),
  )
}

/**
 * Asks with what proves the caller; where that is not taken any more, once more with what is renewed. A session that is
 * refused even then has ended, and is forgotten.
 */
export async function withProof<Answer extends Pick<Reply, 'status' | 'text'>>(
  client: Client,
  operation: OperationAccess,
  ask: (proof: Readonly<Record<string, string>>) => Promise<Answer>,
): Promise<Answer> {
  const { credentials } = client
  const proof = await proofFor(client, operation)
  const answer = await ask(proof)
  // A request that was not let in has done nothing, so that any kind may be repeated.
  if (!isTokenRefused(answer) || !(await credentials.refresh(operation, client, proof))) return answer
  const renewed = await proofFor(client, operation)
  const again = await ask(renewed)
  const end = isTokenRefused(again) ? await credentials.end(operation, renewed) : undefined
  if (end !== undefined) throw end
  return again
}

/**
 * The headers that prove the caller of an operation. A client that is stopped waits for no token.
 * @throws {CliError} exit code 4 without a sign-in
 */
export async function proofFor(client: Client, operation: OperationAccess): Promise<Readonly<Record<string, string>>> {
  const { signal } = client
  const proof = client.credentials.headersFor(operation, client).catch((error: unknown) => orUnreachable(client, error))
  if (signal === undefined) return proof
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  const stop = (): void => reject(unreachable(client, signal.reason))
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([proof, stopped])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/**
 * No identity is known for an address that was typed: where nothing answers there, that is what is wrong.
 * @throws {CliError} exit code 8, or the error that was given
 */
async function orUnreachable(client: Client, error: unknown): Promise<never> {
  const isNobody = error instanceof CliError && error.code === 'NOT_SIGNED_IN'
  if (isNobody && client.credentials.chosen === undefined) {
    const asked = { ...client, onExchange: undefined }
    await sendTwiceIfSafe(asked, prepare(asked, getService, {}))
  }
  throw error
}

const TOKEN_REFUSED: ReadonlySet<string> = new Set(['TOKEN_EXPIRED', 'UNAUTHENTICATED'])

function isTokenRefused({ status, text }: Pick<Reply, 'status' | 'text'>): boolean {
  return status === 401 && TOKEN_REFUSED.has(refusedCode(parsedJson(text)) ?? '')
}

async function sendTwiceIfSafe(client: Client, prepared: Prepared): Promise<Reply> {
  try {
    return await send(client, prepared)
  } catch (error) {
    if (!prepared.isRepeatable || !isConnectionFailure(error)) throw unreachable(client, error)
  }
  await delay(RETRY_AFTER_MS)
  if (client.signal?.aborted === true) throw unreachable(client, client.signal.reason)
  try {
    return await send(client, prepared)
  } catch (error) {
    throw unreachable(client, error)
  }
}

async function send(client: Client, { url, method, headers, body }: Prepared): Promise<Reply> {
  client.onExchange?.({ method, url, headers, body, status: undefined, reply: undefined })
  const {
    statusCode,
    headers: ofAnswer,
    body: answer,
  } = await request(url, {
    method,
    headers,
    body,
    dispatcher: client.dispatcher,
    signal: signalOf(client),
  })
  const text = await answer.text()
  client.onExchange?.({ method, url, headers, body, status: statusCode, reply: text })
  return { status: statusCode, text, headers: ofAnswer }
}
