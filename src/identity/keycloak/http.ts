import type { Readable } from 'node:stream'
import { Agent, request } from 'undici'

/** A call. Connection, request and body together take at most `timeoutMs`. */
export type HttpCall = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  url: string
  headers: Record<string, string>
  body?: string
  timeoutMs: number
  /** The maximum size of the response body. */
  bytesMax: number
  /** Whether to retry after a connection failure; false if repeating is not idempotent. */
  mayRepeat: boolean
}

export type HttpResponse = { status: number; text: string; location: string | undefined }

export type Http = (call: HttpCall) => Promise<HttpResponse>

const CONNECT_TIMEOUT_MS = 2_000
const CONNECTIONS_MAX = 16

/** Error codes of failed connections; they contain nothing of the request. */
const CONNECTION_FAILURES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_CLOSED',
])

/** Those without a connection over which a request could have been sent. */
const NO_CONNECTION = new Set([
  'ECONNREFUSED',
  'UND_ERR_CONNECT_TIMEOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

/** Sends calls over its own connection pool. Redirects are not followed: a correctly configured API has none. */
export function makeHttp(): Http {
  const dispatcher = new Agent({ connections: CONNECTIONS_MAX, connect: { timeout: CONNECT_TIMEOUT_MS } })

  async function once({ method, url, headers, body, timeoutMs, bytesMax }: HttpCall): Promise<HttpResponse> {
    const answer = await request(url, {
      dispatcher,
      method,
      headers: { accept: 'application/json', ...headers },
      body: body ?? null,
      signal: AbortSignal.timeout(timeoutMs),
    })
    const { location } = answer.headers
    return {
      status: answer.statusCode,
      text: await readAtMost(answer.body, bytesMax),
      location: typeof location === 'string' ? location : undefined,
    }
  }

  return async (call) => {
    try {
      return await once(call)
    } catch (error) {
      if (!call.mayRepeat || !CONNECTION_FAILURES.has(codeOf(error))) throw error
      return once(call)
    }
  }
}

async function readAtMost(body: Readable, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  // An error inside the loop also closes the body.
  for await (const chunk of body) {
    const part = Buffer.from(chunk)
    bytes += part.length
    if (bytes > bytesMax) throw new Error(`the response is larger than ${bytesMax} bytes`)
    chunks.push(part)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** Whether a call without a response may have been carried out. */
export function mayHaveArrived(error: unknown): boolean {
  return !NO_CONNECTION.has(codeOf(error))
}

/** Why there is no response, without any content of the request. */
export function describeConnectionFailure(error: unknown): string {
  if (error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError')) return 'it timed out'
  return codeOf(error) === '' ? 'the connection failed' : `the connection failed (${codeOf(error)})`
}
