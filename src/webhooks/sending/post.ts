import { Client, errors } from 'undici'
import { makeResolve, resolveLocally } from './addresses.ts'
import { makeResponseExcerpt } from './response-excerpt.ts'
import { webhookUrlProblem } from '../../lib/webhook-url.ts'
import { makeClients } from './clients.ts'
import type { Clients } from './clients.ts'
import { UnreachableError, makeConnector } from './connect.ts'
import type { ConnectorOptions } from './connect.ts'
import type { FailureReason, Outcome } from '../record.ts'

/** The timeout of a whole attempt, from DNS resolution to the status line (contract §Delivery rules 3). */
export const attemptTimeoutMs = 5_000

/** How much of a response body is read: for its excerpt, and to be able to reuse the connection. */
const BODY_MAX_BYTES = 16 * 1024
const HEADERS_MAX_BYTES = 16 * 1024
const IDLE_MS = 4_000

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
 * a response. Unless `allowPrivate`, only https to public addresses (decision 38).
 */
export function makePost(options: PostOptions): Post {
  const { allowPrivate, timeoutMs = attemptTimeoutMs } = options
  const resolve = options.resolve ?? (allowPrivate ? resolveLocally : makeResolve())
  const connect = makeConnector({ allowPrivate, resolve, ca: options.ca })
  const clients = makeClients({
    idleMax: 256,
    make: (origin) =>
      new Client(origin, {
        connect,
        pipelining: 1,
        keepAliveTimeout: IDLE_MS,
        keepAliveMaxTimeout: IDLE_MS,
        maxHeaderSize: HEADERS_MAX_BYTES,
        // The attempt's own deadline covers everything; these timeouts would restart with every byte.
        headersTimeout: 0,
        bodyTimeout: 0,
      }),
  })
  return {
    post: async (request) => {
      const begun = performance.now()
      const answer = webhookUrlProblem(request.url, { allowPrivate })
        ? { outcome: 'blocked' as const, httpStatus: null, responseBody: null }
        : await attempt({ clients, request, deadline: begun + timeoutMs })
      return { ...answer, durationMs: Math.round(performance.now() - begun) }
    },
    close: () => clients.close(),
  }
}

type Answer = Omit<PostResult, 'durationMs'>

/**
 * The other side may close an idle connection just when it is reused: that is no failure of the endpoint, so the
 * request is sent once more, immediately, over a new connection.
 */
async function attempt(input: { clients: Clients; request: PostRequest; deadline: number }): Promise<Answer> {
  const { clients, request, deadline } = input
  const url = new URL(request.url)
  // Bytes after the response to a HEAD would be read as the next response, so its connection is used only once.
  const reused = request.method === 'HEAD' ? undefined : clients.take(url.origin)
  if (reused) {
    const answer = await send({ client: reused, clients, url, request, deadline })
    if (answer.outcome !== 'reset' || answer.httpStatus !== null) return answer
  }
  return send({ client: clients.make(url.origin), clients, url, request, deadline })
}

type Sending = { client: Client; clients: Clients; url: URL; request: PostRequest; deadline: number }

/** Sends over this client and returns it to the idle ones, or destroys it. */
function send({ client, clients, url, request, deadline }: Sending): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>()
  let status: number | null = null
  const beginning = makeResponseExcerpt()
  let bodyBytes = 0
  let late = false

  function settle(failure: FailureReason | undefined): void {
    clearTimeout(timer)
    if (failure === undefined && request.method !== 'HEAD') clients.giveBack(url.origin, client)
    else clients.discard(client)
    // The status line decides; the fate of the body after it does not matter.
    if (status !== null) resolve({ outcome: outcomeOf(status), httpStatus: status, responseBody: beginning.text() })
    else resolve({ outcome: failure ?? 'bad_response', httpStatus: null, responseBody: null })
  }

  const timer = setTimeout(
    () => {
      late = true
      settle('timeout')
    },
    Math.max(deadline - performance.now(), 0),
  )

  client.dispatch(
    { method: request.method ?? 'POST', path: url.pathname + url.search, headers: request.headers, body: request.body },
    {
      onRequestStart: () => undefined,
      onResponseStart: (_controller, statusCode) => {
        // Informational responses (1xx) precede the final one.
        if (statusCode >= 200 && !late) status = statusCode
      },
      onResponseData: (controller, chunk) => {
        bodyBytes += chunk.length
        beginning.add(chunk)
        if (bodyBytes > BODY_MAX_BYTES) controller.abort(new Error('the response body exceeds the limit'))
      },
      onResponseEnd: () => settle(undefined),
      onResponseError: (_controller, error) => settle(late ? 'timeout' : reasonOf(error)),
    },
  )
  return promise
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
  UND_ERR_SOCKET: 'reset',
  UND_ERR_HEADERS_OVERFLOW: 'bad_response',
  EPROTO: 'tls',
}

const TLS_CODES = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|INVALID_CA)/

function reasonOf(error: Error): FailureReason {
  if (error instanceof UnreachableError) return error.reason
  if (error instanceof errors.HTTPParserError) return 'bad_response'
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return REASONS[code] ?? (TLS_CODES.test(code) ? 'tls' : 'connect')
}
