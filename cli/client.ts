import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { z } from 'zod'
import { ErrorBody } from '../src/wire/common.ts'
import type { Operation, OperationInput, OperationReply } from '../src/wire/operation.ts'
import type { Credentials } from './auth/credentials.ts'
import { CliError, usageError } from './errors.ts'
import { EXIT, exitOfStatus } from './exit-codes.ts'

export type Client = {
  /** Without a slash at the end. */
  apiUrl: string
  /** Who it acts as. */
  credentials: Credentials
  /** Told of every request and its answer, as it went over the wire. */
  onExchange?: ((exchange: Exchange) => void) | undefined
  /** How long one request may take from its start to the end of the answer. */
  timeoutMs: number
  /** Ends requests under way, whatever time they have left. */
  signal?: AbortSignal | undefined
  dispatcher: Agent
  close(): Promise<void>
}

/** One request with its answer; `status` is undefined where none came. */
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

export function makeClient(options: Pick<Client, 'apiUrl' | 'credentials' | 'timeoutMs'>): Client {
  return { ...options, ...makeConnections(options.timeoutMs) }
}

/** Connections, before it is known whose service they lead to. */
export function makeConnections(timeoutMs: number): Pick<Client, 'dispatcher' | 'timeoutMs' | 'close'> {
  const dispatcher = new Agent({ connect: { timeout: CONNECT_TIMEOUT_MS }, maxResponseSize: REPLY_BYTES_MAX })
  return { dispatcher, timeoutMs, close: () => dispatcher.destroy() }
}

/**
 * Calls an operation of the contract and returns its reply, parsed by the operation's own schema. A request that may be
 * repeated is, once, when the connection fails; so is any that an expired token did not let in. Redirects are not
 * followed.
 * @throws {CliError} whose exit code says what kind of failure it was
 */
export async function call<O extends Operation>(
  client: Client,
  operation: O,
  input: OperationInput<O>,
): Promise<OperationReply<O>> {
  const reply = await sendProven(client, operation, prepare(client, operation, input))
  const json = parseJson(reply.text)
  const schema = operation.replies[reply.status]
  if (schema === undefined) throw refusal(client, operation, reply.status, json)
  const parsed = schema.safeParse(json)
  // A newer service may tell more than this version knows: that is no reason to refuse it (decision 34).
  if (!parsed.success && parsed.error.issues.every(isUnknownMember))
    return { status: reply.status, body: json } as OperationReply<O>
  if (!parsed.success) {
    throw new CliError(
      'UNEXPECTED_REPLY',
      `${client.apiUrl} answered ${operation.name} in a form this version does not know`,
      {
        exit: EXIT.failure,
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

type Prepared = {
  url: string
  method: Operation['method']
  headers: Record<string, string>
  body: string | null
  isRepeatable: boolean
}

const Texts = z.record(z.string(), z.union([z.string(), z.number()]).optional())

function prepare(client: Client, operation: Operation, input: OperationInput<Operation>): Prepared {
  const headers: Record<string, string> = { accept: 'application/json' }
  for (const [name, value] of Object.entries(Texts.parse(input.headers ?? {}))) {
    if (value !== undefined) headers[name] = String(value)
  }
  const body = input.body === undefined ? null : JSON.stringify(input.body)
  if (body !== null) headers['content-type'] = 'application/json'
  const isRepeatable = operation.method !== 'POST' || headers['x-idempotency-key'] !== undefined
  return { url: urlOf(client, operation, input), method: operation.method, headers, body, isRepeatable }
}

/** The address of a request, with its parameters and query filled in. */
export function urlOf(client: Client, operation: Operation, input: OperationInput<Operation>): string {
  const params = Texts.parse(input.params ?? {})
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(params[name] ?? '')
    if (/^\.{0,2}$/.test(value)) throw usageError(`"${value}" is no ${name}`)
    return encodeURIComponent(value)
  })
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(Texts.parse(input.query ?? {}))) {
    if (value !== undefined) query.set(name, String(value))
  }
  const search = query.toString()
  return `${client.apiUrl}${path}${search === '' ? '' : `?${search}`}`
}

/** What ends one request of the client that begins now. */
export function signalOf({ timeoutMs, signal }: Pick<Client, 'timeoutMs' | 'signal'>): AbortSignal {
  const timeout = AbortSignal.timeout(timeoutMs)
  return signal === undefined ? timeout : AbortSignal.any([timeout, signal])
}

type Reply = { status: number; text: string }

/** Sends with what proves the caller; where that has expired in the meantime, once more with what is renewed. */
async function sendProven(client: Client, operation: Operation, prepared: Prepared): Promise<Reply> {
  const proof = await proofFor(client, operation)
  const reply = await sendTwiceIfSafe(client, { ...prepared, headers: { ...prepared.headers, ...proof } })
  // A request that was not let in has done nothing, so that any kind may be repeated.
  if (reply.status !== 401 || !isExpired(reply.text)) return reply
  if (!(await client.credentials.refresh(operation, client, proof))) return reply
  const renewed = await proofFor(client, operation)
  return sendTwiceIfSafe(client, { ...prepared, headers: { ...prepared.headers, ...renewed } })
}

/**
 * The headers that prove the caller of an operation. A client that is stopped waits for no token.
 * @throws {CliError} exit code 4 where nobody is signed in
 */
export async function proofFor(
  client: Client,
  operation: Pick<Operation, 'access'>,
): Promise<Readonly<Record<string, string>>> {
  const { signal } = client
  const proof = client.credentials.headersFor(operation, client)
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

function isExpired(text: string): boolean {
  return ErrorBody.safeParse(parseJson(text)).data?.code === 'TOKEN_EXPIRED'
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
  const { statusCode, body: answer } = await request(url, {
    method,
    headers,
    body,
    dispatcher: client.dispatcher,
    signal: signalOf(client),
  })
  const text = await answer.text()
  client.onExchange?.({ method, url, headers, body, status: statusCode, reply: text })
  return { status: statusCode, text }
}

const CONNECTION_FAILURES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
])

function codeOf(error: unknown): string {
  if (error instanceof AggregateError) return codeOf(error.errors[0])
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

function isConnectionFailure(error: unknown): boolean {
  return CONNECTION_FAILURES.has(codeOf(error))
}

/** Whether the network, or the name of the host, failed; anything else is a matter of this one request. */
export function isNetworkFailure(error: unknown): boolean {
  if (error instanceof AggregateError) return isNetworkFailure(error.errors[0])
  // What the operating system refuses names the call that failed.
  return isConnectionFailure(error) || (error instanceof Error && 'syscall' in error)
}

/** Requests that never left, for they can't be written as HTTP. */
const NOT_SENT = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH'])

const WHY: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was cut',
  ENOTFOUND: 'there is no host of that name',
  EAI_AGAIN: "the name of the host can't be resolved now",
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  UND_ERR_SOCKET: 'the connection was cut',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'the answer is too large to be one of svc',
}

/** An error of the connection, as the user is told it. */
export function unreachable(client: Pick<Client, 'apiUrl' | 'timeoutMs' | 'signal'>, error: unknown): CliError {
  if (client.signal?.aborted === true)
    return new CliError('REQUEST_STOPPED', `the request to ${client.apiUrl} was stopped before its answer came`, {
      exit: EXIT.interrupted,
      cause: error,
    })
  if (NOT_SENT.has(codeOf(error)))
    return new CliError('REQUEST_NOT_SENT', `this request can't be sent: ${messageOf(error)}`, {
      exit: EXIT.usage,
      cause: error,
    })
  const isTimeout = error instanceof Error && (error.name === 'TimeoutError' || codeOf(error).endsWith('_TIMEOUT'))
  if (isTimeout && codeOf(error) !== 'UND_ERR_CONNECT_TIMEOUT') {
    return new CliError('REQUEST_TIMED_OUT', `${client.apiUrl} did not answer within ${client.timeoutMs} ms`, {
      exit: EXIT.network,
      hint: 'svc status; a longer patience is SVC_TIMEOUT=60s',
      retryable: true,
      cause: error,
    })
  }
  const why = WHY[codeOf(error)] ?? messageOf(error)
  return new CliError('SERVICE_UNREACHABLE', `${client.apiUrl} can't be reached: ${why}`, {
    exit: EXIT.network,
    hint: 'svc status, or svc up to start one',
    retryable: true,
    cause: error,
  })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A refusal of the API with its own words; anything else that is no reply of the operation. */
function refusal(client: Client, operation: Operation, status: number, json: unknown): CliError {
  const parsed = ErrorBody.safeParse(json)
  if (!parsed.success) {
    return new CliError(
      'NOT_THE_SERVICE',
      `${client.apiUrl} answered ${status} to ${operation.method} ${operation.path}, not as svc does`,
      {
        exit: status >= 500 ? EXIT.failure : exitOfStatus(status < 400 ? 500 : status),
        status,
        retryable: status >= 500,
        hint: 'svc status; is the address right, and is the service of the same version?',
      },
    )
  }
  const { error, code, type, request_id: requestId, errors, next } = parsed.data
  return new CliError(code, error, {
    exit: exitOfStatus(status),
    status,
    requestId,
    retryable: status === 429 || status >= 502,
    ...(URL.canParse(type) ? { docUrl: type } : {}),
    ...(errors === undefined ? {} : { fields: errors }),
    hint: next,
  })
}
