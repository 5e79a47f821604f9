import { Agent, request } from 'undici'
import type { Dispatcher } from 'undici'
import type { FeedEvent } from '../../../src/wire/webhooks.ts'
import { printable } from '../../base/text.ts'
import type { HeaderPair } from './target.ts'

/** The whole of an attempt, as the service's own deliveries have it (contract §Delivery rules 3). */
const DEADLINE_MS = 5_000

/** How much of a refusal's body is shown. */
const EXCERPT_BYTES = 300

/** How a forward ended. `status` is null where no answer came; `reason` is undefined when it was a 2xx. */
export type ForwardResult = { status: number | null; durationMs: number; reason: string | undefined }

export type Forwarder = {
  /** Never rejects; null when `signal` ended it. */
  forward(event: FeedEvent): Promise<ForwardResult | null>
  close(): Promise<void>
}

export type ForwarderOptions = {
  url: URL
  headers: readonly HeaderPair[]
  /** Takes any certificate: for https servers on the developer's own machine. */
  skipVerify: boolean
  signal: AbortSignal
}

/**
 * Sends events on to one address, the bytes and signing headers as the service made them. Each goes over a connection of
 * its own: a development server that restarts between two events has then closed nothing that is used again.
 */
export function makeForwarder({ url, headers, skipVerify, signal }: ForwarderOptions): Forwarder {
  const agent = new Agent({
    pipelining: 0,
    connect: { timeout: DEADLINE_MS, rejectUnauthorized: !skipVerify },
    headersTimeout: DEADLINE_MS,
    bodyTimeout: DEADLINE_MS,
  })
  return {
    async forward(event) {
      const begun = performance.now()
      const deadline = AbortSignal.timeout(DEADLINE_MS)
      const elapsed = (): number => Math.round(performance.now() - begun)
      try {
        const answer = await request(url, {
          method: 'POST',
          headers: headersOf(event, headers),
          body: Buffer.from(event.payload, 'utf8'),
          dispatcher: agent,
          signal: AbortSignal.any([deadline, signal]),
        })
        const durationMs = elapsed()
        return { status: answer.statusCode, durationMs, reason: await reasonOfAnswer(answer) }
      } catch (error) {
        if (signal.aborted) return null
        return {
          status: null,
          durationMs: elapsed(),
          reason: deadline.aborted ? `no answer within ${DEADLINE_MS / 1000} s` : reasonOf(error),
        }
      }
    },
    close: () => agent.destroy(),
  }
}

function headersOf(event: FeedEvent, extra: readonly HeaderPair[]): Record<string, string> {
  const headers = new Map<string, HeaderPair>()
  const own: HeaderPair[] = [['user-agent', 'svc-webhooks/1']]
  const signed: HeaderPair[] = [['content-type', 'application/json'], ...Object.entries(event.signatures)]
  for (const pair of [...own, ...extra, ...signed]) headers.set(pair[0].toLowerCase(), pair)
  return Object.fromEntries(headers.values())
}

/** Why an answer is no success: redirects are not followed, as webhooks do not. Reads no more of the body than is shown. */
export async function reasonOfAnswer({ statusCode, body }: Dispatcher.ResponseData): Promise<string | undefined> {
  if (statusCode >= 200 && statusCode < 300) {
    // The status line has decided; what comes after it is nobody's concern.
    void body.dump({ limit: EXCERPT_BYTES }).catch(() => undefined)
    return undefined
  }
  const text = await excerptOf(body)
  if (statusCode >= 300 && statusCode < 400) return 'redirects are not followed'
  return text === '' ? 'the answer is no 2xx' : text
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

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  ENOTFOUND: 'there is no host of that name',
  EAI_AGAIN: "the name of the host can't be resolved now",
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
}

const UNTRUSTED = /^(CERT_|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|ERR_TLS_CERT)/

/** Why no answer came. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error)
  if (UNTRUSTED.test(code)) return `its certificate is not trusted (${code}); --skip-verify takes it as it is`
  return REASONS[code] ?? printable(error instanceof Error ? error.message : String(error))
}

/** The code of a failure, as Node and undici name it; empty where it has none. */
export function codeOf(error: unknown): string {
  if (error instanceof AggregateError) return codeOf(error.errors[0])
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
