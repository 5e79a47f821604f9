import { randomUUID } from 'node:crypto'
import { SpanKind, currentTraceparent, inSpan } from '../../lib/trace.ts'
import { BankSilentError, makeBankClient } from '../bank-client.ts'
import type { BankAnswer, BankCall } from '../bank-client.ts'
import { BankUnavailableError } from '../connector.ts'
import type { BankProfile } from '../profiles.ts'
import type { SoftwareStatement } from '../software-statement.ts'
import type { RecordCall, Step } from './calls-sql.ts'

export type BankRequest = BankCall & {
  step: Step
  /** The payment that the call is about. */
  state?: string | undefined
  /** What is wrong with an answer, such as its signature; undefined for a good one. */
  problemOf?: (answer: BankAnswer) => Promise<string | undefined>
  /** Called before the request leaves; not where it is held back, as the bank asked for fewer requests. */
  beforeSending?: (() => Promise<void>) | undefined
}

/** Calls to one bank. Each is recorded, without bodies and headers. */
export type BankHttp = {
  /**
   * @throws {BankUnavailableError} where nothing is known: no answer, 429 or 5xx, or an answer that can't be believed
   */
  send(request: BankRequest, signal: AbortSignal): Promise<BankAnswer>
  close(): Promise<void>
}

type Options = { profile: BankProfile; statement: SoftwareStatement; record: RecordCall }

export function makeBankHttp({ profile, statement, record }: Options): BankHttp {
  const client = makeBankClient(profile, statement)
  /** By the monotonic clock: one that is set back would close the bank for as long. */
  let closedUntil = -Infinity

  async function ask(
    { step, state, problemOf, beforeSending, ...asked }: BankRequest,
    signal: AbortSignal,
  ): Promise<BankAnswer> {
    const traceparent = currentTraceparent()
    const interactionId = randomUUID()
    const call = { bank: profile.id, step, state, interactionId }
    if (performance.now() < closedUntil)
      throw new BankUnavailableError(`${profile.id} asked for fewer requests`, { bank: 'unknown' })
    await beforeSending?.()
    const headers = {
      accept: 'application/json',
      'x-fapi-interaction-id': interactionId,
      ...(traceparent === undefined ? {} : { traceparent }),
      ...asked.headers,
    }
    const answer = await client.send({ ...asked, headers }, signal).catch(async (cause: unknown) => {
      if (!(cause instanceof BankSilentError)) throw cause
      await record({ ...call, httpStatus: undefined, verdict: cause.message })
      throw new BankUnavailableError(`${profile.id}, ${step}: ${cause.message}`, { cause })
    })
    const verdict = problemOfStatus(answer) ?? (await problemOf?.(answer))
    await record({ ...call, httpStatus: answer.status, verdict })
    if (answer.status === 429)
      closedUntil = performance.now() + retryAfterMs(headerOf(answer, 'retry-after'), Date.now())
    if (verdict !== undefined) throw new BankUnavailableError(`${profile.id}, ${step}: ${verdict}`)
    return answer
  }

  return {
    send: (request, signal) => {
      const attributes = { 'svc.bank': profile.id, 'svc.bank_step': request.step }
      return inSpan({ name: 'call bank', kind: SpanKind.CLIENT, attributes }, undefined, async (span) => {
        const answer = await ask(request, signal)
        span?.setAttribute('http.response.status_code', answer.status)
        return answer
      })
    },
    close: () => client.close(),
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

/** Milliseconds that a bank asks us to wait, in seconds or as a date (RFC 9110, section 10.2.3), within bounds of our own. */
export function retryAfterMs(header: string | undefined, now: number): number {
  if (header === undefined) return RETRY_MS
  const ms = /^\d{1,6}$/.test(header) ? Number.parseInt(header, 10) * 1_000 : Date.parse(header) - now
  return Number.isNaN(ms) ? RETRY_MS : Math.min(Math.max(ms, 0), RETRY_MS_MAX)
}

/** The first value of a header. */
export function headerOf({ headers }: BankAnswer, name: string): string | undefined {
  return [headers[name]].flat()[0]
}
