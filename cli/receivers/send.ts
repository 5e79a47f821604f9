import { Agent, request } from 'undici'
import type { Dispatcher } from 'undici'
import { codeOf } from '../base/errors.ts'
import { printable } from '../base/text.ts'
import { whyUnreachable } from '../client/unreachable.ts'
import type { HeaderPair } from './target.ts'

/** The whole of an attempt, as the service's own deliveries have it (contract §Delivery rules 3). */
export const ATTEMPT_MS = 5_000

export type Delivery = {
  headers: Readonly<Record<string, string>>
  body: Buffer
  /** What is different from the other deliveries of its check. */
  label: string
}

export type Answer = {
  /** `unreachable`: no connection was made. `cut`: one was made, and ended before an answer of HTTP. */
  end: 'answered' | 'late' | 'cut' | 'unreachable'
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
  /** More headers for each request, as -H gives them. */
  headers: readonly HeaderPair[]
  skipVerify: boolean
  /** Milliseconds for the whole attempt, from the connection to the status line. */
  limitMs?: number
  signal?: AbortSignal
}

/**
 * Sends requests, each over a connection of its own, without redirects and without a second try: a development server
 * that restarts between two of them has then closed nothing that is used again.
 */
export function makeSender(options: SenderOptions): Sender {
  const { url, headers, skipVerify, limitMs = ATTEMPT_MS, signal } = options
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
          method: 'POST',
          headers: withExtra(delivery, headers),
          body: delivery.body,
          dispatcher: agent,
          signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
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

/** Headers that the user adds come before those of the delivery; none of them is one that is signed. */
function withExtra({ headers }: Delivery, extra: readonly HeaderPair[]): Record<string, string> {
  const added = new Set(extra.map(([name]) => name.toLowerCase()))
  const own = Object.entries(headers).filter(([name]) => !added.has(name.toLowerCase()))
  return Object.fromEntries([...extra, ...own])
}

const CUT = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_OVERFLOW'])

function endOf(error: unknown): 'cut' | 'unreachable' {
  const code = codeOf(error)
  return CUT.has(code) || code.startsWith('HPE_') ? 'cut' : 'unreachable'
}

const EXCERPT_BYTES = 300

/** Why an answer is no success: redirects are not followed, as webhooks do not. Reads no more of the body than is shown. */
async function reasonOfAnswer({ statusCode, body }: Dispatcher.ResponseData): Promise<string | undefined> {
  if (statusCode >= 200 && statusCode < 300) {
    // The status line has decided; what comes after it does not count.
    void body.dump({ limit: EXCERPT_BYTES }).catch(() => undefined)
    return undefined
  }
  const text = await excerptOf(body)
  if (statusCode >= 300 && statusCode < 400) return 'redirects are not followed'
  return text === '' ? 'the status is not 2xx' : text
}

async function excerptOf(body: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of body) {
      if (!(chunk instanceof Uint8Array)) break
      chunks.push(Buffer.from(chunk))
      size += chunk.length
      if (size >= EXCERPT_BYTES) break
    }
  } catch {
    // What did arrive is shown.
  }
  return printable(Buffer.concat(chunks).subarray(0, EXCERPT_BYTES).toString('utf8').trim().replace(/\s+/g, ' '))
}

const UNTRUSTED = /^(CERT_|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|ERR_TLS_CERT)/

function reasonOf(error: unknown): string {
  const code = codeOf(error)
  if (UNTRUSTED.test(code)) return `its certificate is not trusted (${code}); --skip-verify takes it as it is`
  return printable(whyUnreachable(error))
}
