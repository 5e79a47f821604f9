import { rootCertificates } from 'node:tls'
import { Agent, request } from 'undici'
import type { BankProfile } from './profiles.ts'
import type { SoftwareStatement } from './software-statement.ts'

const TIMEOUT_MS = 10_000
/** Answers of banks are a few kilobytes. */
const BODY_BYTES_MAX = 1024 * 1024

/** HTTPS to one bank with our certificate. Connections are kept; redirects are answers. */
export type BankClient = {
  send(call: BankCall, signal?: AbortSignal): Promise<BankAnswer>
  close(): Promise<void>
}

export type BankCall = {
  method: 'GET' | 'POST' | 'DELETE'
  url: string
  headers?: Record<string, string>
  body?: string
}

export type BankAnswer = { status: number; headers: Record<string, string | string[] | undefined>; body: string }

/** The bank gave no whole answer in time, or not over TLS as it should be. The message has no address with a query. */
export class BankSilentError extends Error {
  constructor(url: string, cause: unknown) {
    const { host, pathname } = new URL(url)
    super(`no answer from ${host}${pathname}: ${reasonOf(cause)}`, { cause })
    this.name = 'BankSilentError'
  }
}

export function makeBankClient(
  profile: Pick<BankProfile, 'ca'>,
  statement: Pick<SoftwareStatement, 'transport'>,
): BankClient {
  const agent = new Agent({
    connect: {
      cert: statement.transport.cert,
      key: statement.transport.key,
      minVersion: 'TLSv1.2',
      timeout: TIMEOUT_MS,
      ...(profile.ca === undefined ? {} : { ca: [...rootCertificates, profile.ca] }),
    },
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    maxResponseSize: BODY_BYTES_MAX,
  })
  return {
    send: async ({ method, url, headers = {}, body }, signal) => {
      const limit = AbortSignal.timeout(TIMEOUT_MS)
      try {
        const answer = await request(url, {
          dispatcher: agent,
          method,
          headers,
          body: body ?? null,
          signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
        })
        return { status: answer.statusCode, headers: answer.headers, body: await answer.body.text() }
      } catch (cause) {
        throw new BankSilentError(url, cause)
      }
    },
    close: () => agent.close(),
  }
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  if (cause.name === 'TimeoutError') return `none within ${TIMEOUT_MS / 1_000} s`
  return 'code' in cause && typeof cause.code === 'string' ? `${cause.message} (${cause.code})` : cause.message
}
