import { randomUUID } from 'node:crypto'
import { rootCertificates } from 'node:tls'
import { Agent, request } from 'undici'
import type { BankProfile } from '../profiles.ts'
import type { SoftwareStatement } from '../software-statement.ts'
import { BankUnavailableError } from '../connector.ts'
import type { RecordCall, Step } from './calls-sql.ts'

const TIMEOUT_MS = 10_000
const BODY_BYTES_MAX = 1_048_576
const CONNECTIONS = 16

export type BankRequest = {
  step: Step
  method: 'GET' | 'POST' | 'DELETE'
  url: string
  headers?: Readonly<Record<string, string>>
  body?: Buffer | string
  /** The payment that the call is about. */
  state?: string | undefined
  /** What is wrong with an answer, such as its signature; undefined for a good one. */
  problemOf?: (answer: BankAnswer) => Promise<string | undefined>
}

export type BankAnswer = { status: number; headers: Readonly<Record<string, string | undefined>>; body: Buffer }

/** Calls to one bank, over mutual TLS and connections that are kept. Each is recorded, without bodies and headers. */
export type BankHttp = {
  /**
   * @throws {BankUnavailableError} where nothing is known: no answer, 429 or 5xx, or an answer that can't be believed
   */
  send(request: BankRequest, signal: AbortSignal): Promise<BankAnswer>
  close(): Promise<void>
}

type Options = { profile: BankProfile; statement: SoftwareStatement; record: RecordCall }

export function makeBankHttp({ profile, statement, record }: Options): BankHttp {
  const { cert, key } = statement.transport
  const ca = profile.ca === undefined ? [...rootCertificates] : [...rootCertificates, profile.ca]
  const dispatcher = new Agent({ connections: CONNECTIONS, connect: { ca, cert, key, timeout: TIMEOUT_MS } })
  let closedUntil = 0

  async function exchange({ method, url, headers, body }: BankRequest, interactionId: string, signal: AbortSignal) {
    if (new URL(url).protocol !== 'https:') throw new Error('it is not an https address')
    const answer = await request(url, {
      dispatcher,
      method,
      headers: { accept: 'application/json', 'x-fapi-interaction-id': interactionId, ...headers },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    return { status: answer.statusCode, headers: singleHeaders(answer.headers), body: await readBody(answer.body) }
  }

  return {
    send: async (asked, signal) => {
      const interactionId = randomUUID()
      const call = { bank: profile.id, step: asked.step, state: asked.state, interactionId }
      if (Date.now() < closedUntil) throw new BankUnavailableError(`${profile.id} asked for fewer requests`)
      let answer: BankAnswer
      try {
        answer = await exchange(asked, interactionId, signal)
      } catch (cause) {
        const verdict = `no answer (${reasonOf(cause)})`
        await record({ ...call, httpStatus: undefined, verdict })
        throw new BankUnavailableError(`${profile.id}, ${asked.step}: ${verdict}`, { cause })
      }
      const verdict = problemOfStatus(answer) ?? (await asked.problemOf?.(answer))
      await record({ ...call, httpStatus: answer.status, verdict })
      if (answer.status === 429) closedUntil = Date.now() + retryAfterMs(answer)
      if (verdict !== undefined) throw new BankUnavailableError(`${profile.id}, ${asked.step}: ${verdict}`)
      return answer
    },
    close: () => dispatcher.close(),
  }
}

/** Answers that say nothing of what was asked. A redirect is never followed, as it could lead to another host. */
function problemOfStatus({ status }: BankAnswer): string | undefined {
  if (status === 429) return 'too many requests'
  if (status >= 500) return 'the bank failed'
  return status >= 300 && status < 400 ? 'the bank redirects' : undefined
}

const RETRY_MS = 2_000
const RETRY_MS_MAX = 300_000

function retryAfterMs({ headers }: BankAnswer): number {
  const seconds = /^\d{1,6}$/.exec(headers['retry-after'] ?? '')?.[0]
  return seconds === undefined ? RETRY_MS : Math.min(Number.parseInt(seconds, 10) * 1_000, RETRY_MS_MAX)
}

async function readBody(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > BODY_BYTES_MAX) throw new Error('its answer is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function singleHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat()[0]]))
}

/** A code, never a message: that of a TLS library may hold what was sent. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'timed out'
  return 'code' in error ? String(error.code) : error.name
}
