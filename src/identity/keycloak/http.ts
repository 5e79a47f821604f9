import type { Readable } from 'node:stream'
import { Agent, request } from 'undici'

/** A call as it goes out. The whole of it, connection and body too, takes `timeoutMs` at most. */
export type HttpCall = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  url: string
  headers: Record<string, string>
  body?: string
  timeoutMs: number
  /** More of an answer than this is not read. */
  bytesMax: number
  /** Whether it may go out a second time where a connection failed: not where doing it twice does more than once. */
  mayRepeat: boolean
}

export type HttpResponse = { status: number; text: string; location: string | undefined }

export type Http = (call: HttpCall) => Promise<HttpResponse>

const CONNECT_TIMEOUT_MS = 2_000
const CONNECTIONS_MAX = 16

/** What says that a connection failed, and nothing of what was asked over it. */
const CONNECTION_FAILURES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_CLOSED',
])

/** Calls over connections of their own. Redirects are not followed: an API that is where it was said to be has none. */
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
  // Leaving the loop by an error ends the body too.
  for await (const chunk of body) {
    const part = Buffer.from(chunk)
    bytes += part.length
    if (bytes > bytesMax) throw new Error(`the answer has more than ${bytesMax} bytes`)
    chunks.push(part)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** Why no answer came, in words that hold nothing of what was sent. */
export function describeConnectionFailure(error: unknown): string {
  if (error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError')) return 'it timed out'
  return codeOf(error) === '' ? 'the connection failed' : `the connection failed (${codeOf(error)})`
}
