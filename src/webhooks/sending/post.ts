import { isIP } from 'node:net'
import type { Socket } from 'node:net'
import type { buildConnector } from 'undici'
import { makeResolve, resolveLocally } from './addresses.ts'
import { webhookUrlProblem } from '../../lib/webhook-url.ts'
import { makeConnections } from './connections.ts'
import type { Connection, Connections, Exchange } from './connections.ts'
import { UnreachableError, makeConnector } from './connect.ts'
import type { ConnectorOptions } from './connect.ts'
import type { ResponseReader } from './response.ts'
import type { FailureReason, Outcome } from '../record.ts'

/** The timeout of a whole attempt, from DNS resolution to the status line (contract §Delivery rules 3). */
export const attemptTimeoutMs = 5_000

const IDLE_CONNECTIONS_MAX = 256

export type PostRequest = {
  /** HEAD checks whether the server responds (probe.ts); everything else is a POST. */
  method?: 'POST' | 'HEAD'
  url: string
  headers: Record<string, string>
  body: Uint8Array | null
}

/**
 * How an attempt ended. `httpStatus` is null without a status line in time, and `responseBody`, the beginning of the
 * response, is null without a body.
 */
export type PostResult = {
  outcome: Outcome
  httpStatus: number | null
  responseBody: string | null
  durationMs: number
}

/** The only client for merchants' endpoints. Never rejects: every end of an attempt is a result. */
export type Post = {
  post(request: PostRequest): Promise<PostResult>
  /** Closes idle connections, and aborts attempts in progress. */
  close(): Promise<void>
}

export type PostOptions = Partial<Pick<ConnectorOptions, 'resolve' | 'ca'>> & {
  allowPrivate: boolean
  /** Milliseconds for the whole attempt; default: five seconds; tests use less. */
  timeoutMs?: number
}

/**
 * The HTTP client for webhooks: one POST, no redirects, no proxy, five seconds for the whole attempt, at most 16 KiB of
 * a response. Unless `allowPrivate`, only https to public addresses (decision 38). It speaks just the HTTP/1.1 that
 * this takes, because a general client costs several times as much per webhook.
 */
export function makePost(options: PostOptions): Post {
  const { allowPrivate, timeoutMs = attemptTimeoutMs } = options
  const resolve = options.resolve ?? (allowPrivate ? resolveLocally : makeResolve())
  const client: Client = {
    connect: makeConnector({ allowPrivate, resolve, ca: options.ca }),
    connections: makeConnections({ idleMax: IDLE_CONNECTIONS_MAX }),
  }
  const targetOf = makeTargets(allowPrivate)
  return {
    post: async (request) => {
      const begun = performance.now()
      const target = targetOf(request.url)
      const answer =
        target === undefined
          ? answerOf('blocked')
          : await attempt({ client, target, request, deadline: begun + timeoutMs })
      return { ...answer, durationMs: Math.round(performance.now() - begun) }
    },
    close: async () => client.connections.close(),
  }
}

type Client = { connect: buildConnector.connector; connections: Connections }
type Answer = Omit<PostResult, 'durationMs'>
type Attempt = { client: Client; target: Target; request: PostRequest; deadline: number }

/** Where the requests to an address go. */
type Target = { origin: string; path: string; peer: buildConnector.Options }

/** Parsed addresses, of which each merchant has one; beyond this number all are forgotten. */
const TARGETS_MAX = 1_000

/** Parses addresses and remembers them; undefined is one that is not allowed. */
function makeTargets(allowPrivate: boolean): (url: string) => Target | undefined {
  const known = new Map<string, Target | undefined>()
  return (text) => {
    if (known.has(text)) return known.get(text)
    if (known.size >= TARGETS_MAX) known.clear()
    const target = webhookUrlProblem(text, { allowPrivate }) === undefined ? parseTarget(new URL(text)) : undefined
    known.set(text, target)
    return target
  }
}

function parseTarget({ origin, pathname, search, host, hostname, protocol, port }: URL): Target {
  // A certificate is requested by name; addresses have none.
  const name = isIP(hostname) === 0 && !hostname.startsWith('[') ? { servername: hostname } : {}
  return { origin, path: pathname + search, peer: { host, hostname, protocol, port, ...name } }
}

/**
 * The other side may close an idle connection just when it is reused, or say something on it that is no answer to this
 * request: that is no failure of the endpoint, so the request is sent once more, immediately, over a new connection.
 */
async function attempt(input: Attempt): Promise<Answer> {
  const { connections } = input.client
  // Bytes after the response to a HEAD would be read as the next response, so its connection is used only once.
  const reused = input.request.method === 'HEAD' ? undefined : connections.take(input.target.origin)
  if (reused === undefined) return send(input, undefined)
  const answer = await send(input, reused)
  return answer.outcome === 'reset' ? send(input, undefined) : answer
}

/** Sends over this connection, or a new one, and gives it back or closes it. */
function send({ client, target, request, deadline }: Attempt, reused: Connection | undefined): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>()
  const isHead = request.method === 'HEAD'
  let connection = reused
  let response: ResponseReader | undefined
  let isOver = false

  function settle(answer: Answer): void {
    clearTimeout(timer)
    isOver = true
    resolve(answer)
  }

  function onEnded({ response: ended, error }: Exchange): void {
    if (isOver || connection === undefined) return
    settle(reused !== undefined && ended.mayBeUnasked() ? answerOf('reset') : answerTo(ended, error))
    if (isHead) connection.destroy()
    else client.connections.giveBack(target.origin, connection)
  }

  function use(used: Connection): void {
    connection = used
    response = used.exchange(bytesOf(target, request), { isHead }, onEnded)
  }

  function onDeadline(): void {
    // Timers run before sockets are read: where the thread was busy, an answer may have come long ago.
    setImmediate(() => {
      if (isOver) return
      settle(response === undefined || response.status() === null ? answerOf('timeout') : answerTo(response, undefined))
      connection?.destroy()
    })
  }

  const timer = setTimeout(onDeadline, Math.max(deadline - performance.now(), 0))

  if (reused !== undefined) use(reused)
  else
    client.connect(target.peer, (error: Error | null, socket: Socket | null) => {
      if (isOver) socket?.destroy()
      else if (socket === null) settle(answerOf(error === null ? 'connect' : reasonOf(error)))
      // Another worker may have sent this and later events by now.
      else if (performance.now() >= deadline) socket.destroy()
      else use(client.connections.add(target.origin, socket))
    })
  return promise
}

/** The request as it is sent, in one piece. */
function bytesOf(target: Target, { method = 'POST', headers, body }: PostRequest): Buffer {
  let head = `${method} ${target.path} HTTP/1.1\r\nhost: ${target.peer.host}\r\n`
  for (const name in headers) head += `${name}: ${headers[name]}\r\n`
  if (body === null) return Buffer.from(`${head}\r\n`, 'latin1')
  head += `content-length: ${body.length}\r\n\r\n`
  const bytes = Buffer.allocUnsafe(head.length + body.length)
  bytes.write(head, 'latin1')
  bytes.set(body, head.length)
  return bytes
}

function answerOf(outcome: FailureReason): Answer {
  return { outcome, httpStatus: null, responseBody: null }
}

/** The status decides; what becomes of the body after it does not matter. */
function answerTo(response: ResponseReader, error: Error | undefined): Answer {
  const httpStatus = response.status()
  if (httpStatus !== null) return { outcome: outcomeOf(httpStatus), httpStatus, responseBody: response.excerpt() }
  if (response.isInvalid()) return answerOf('bad_response')
  return answerOf(error === undefined ? 'reset' : reasonOf(error))
}

function outcomeOf(httpStatus: number): Outcome {
  if (httpStatus < 300) return 'delivered'
  return httpStatus < 400 ? 'redirect' : `http_${httpStatus}`
}

const REASONS: Readonly<Record<string, FailureReason>> = {
  ECONNREFUSED: 'connect',
  EHOSTUNREACH: 'connect',
  ENETUNREACH: 'connect',
  EADDRNOTAVAIL: 'connect',
  EACCES: 'connect',
  EPERM: 'connect',
  ETIMEDOUT: 'connect',
  UND_ERR_CONNECT_TIMEOUT: 'connect',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  EPROTO: 'tls',
}

const TLS_CODES = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|INVALID_CA)/

function reasonOf(error: Error): FailureReason {
  if (error instanceof UnreachableError) return error.reason
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return REASONS[code] ?? (TLS_CODES.test(code) ? 'tls' : 'connect')
}
