import { setTimeout as delay } from 'node:timers/promises'
import { Readable } from 'node:stream'
import { Agent, request } from 'undici'
import { codeOf, reasonOf, reasonOfAnswer } from '../listen/forward.ts'
import type { HeaderPair } from '../listen/target.ts'
import type { Delivery } from './check.ts'

/** How a request ended. */
export type Answer = {
  /** `unreachable`: no connection was made. `cut`: one was made, and ended before an answer of HTTP. */
  end: 'answered' | 'late' | 'cut' | 'unreachable'
  /** Null where no answer came. */
  status: number | null
  durationMs: number
  /** Why it is no 2xx; undefined where it is one. */
  reason: string | undefined
}

export type Sender = {
  /** Never rejects. */
  send(delivery: Delivery): Promise<Answer>
  close(): Promise<void>
}

export type SenderOptions = {
  url: URL
  /** More headers for each request, as -H of the command line gives them. */
  headers: readonly HeaderPair[]
  skipVerify: boolean
  /** Milliseconds for the whole attempt, from the connection to the status line. */
  limitMs: number
  /** Milliseconds between the pieces of a body that arrives slowly. */
  pauseMs: number
}

/** A pause is cut into shorter ones, so that what was sent before it arrives on its own even at a busy moment. */
const PAUSES = 5

/** Sends the exam's requests, each over a connection of its own, without redirects and without a second try. */
export function makeSender({ url, headers, skipVerify, limitMs, pauseMs }: SenderOptions): Sender {
  const agent = new Agent({
    pipelining: 0,
    connect: { timeout: limitMs, rejectUnauthorized: !skipVerify },
    headersTimeout: 0,
    bodyTimeout: limitMs,
  })
  return {
    async send(delivery) {
      const begun = performance.now()
      const elapsed = (): number => Math.round(performance.now() - begun)
      const deadline = AbortSignal.timeout(limitMs)
      try {
        const answer = await request(url, {
          method: delivery.method,
          headers: withExtra(delivery, headers),
          body: bodyOf(delivery.body, pauseMs),
          dispatcher: agent,
          signal: deadline,
        })
        const durationMs = elapsed()
        return { end: 'answered', status: answer.statusCode, durationMs, reason: await reasonOfAnswer(answer) }
      } catch (error) {
        const end = deadline.aborted ? 'late' : endOf(error)
        const reason = end === 'late' ? `no answer within ${limitMs / 1_000} s` : reasonOf(error)
        return { end, status: null, durationMs: elapsed(), reason }
      }
    },
    close: () => agent.destroy(),
  }
}

/** What the delivery says goes before what the user adds, but for the name of the sender. */
function withExtra({ headers, body }: Delivery, extra: readonly HeaderPair[]): Record<string, string> {
  const added = new Set(extra.map(([name]) => name.toLowerCase()))
  const own = Object.entries(headers).filter(([name]) => !added.has(name.toLowerCase()))
  const length = body === null ? [] : [['content-length', String(sizeOf(body))] as const]
  return Object.fromEntries([...extra, ...own, ...length])
}

function sizeOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0)
}

function bodyOf(pieces: readonly Buffer[] | null, pauseMs: number): Buffer | Readable | null {
  if (pieces === null) return null
  const [first = Buffer.alloc(0), ...rest] = pieces
  return rest.length === 0 ? first : Readable.from(slowly(pieces, pauseMs))
}

async function* slowly(pieces: readonly Buffer[], pauseMs: number): AsyncGenerator<Buffer> {
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) for (let pause = 0; pause < PAUSES; pause += 1) await delay(pauseMs / PAUSES)
    yield piece
  }
}

const CUT = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_OVERFLOW'])

function endOf(error: unknown): 'cut' | 'unreachable' {
  const code = codeOf(error)
  return CUT.has(code) || code.startsWith('HPE_') ? 'cut' : 'unreachable'
}
