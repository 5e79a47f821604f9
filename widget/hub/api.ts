import type { ErrorBody } from '../../src/wire/common.ts'
import type { RevokedConsent } from '../../src/wire/consents.ts'
import type {
  PayerConsent,
  PayerContact,
  PayerDispute,
  PayerPayment,
  PayerReceipt,
  PayerSession,
} from '../../src/wire/payer.ts'
import type { DisputeReason } from '../../src/wire/dispute-fields.ts'
import type { SessionStore } from './session.ts'

/** Why a call failed, as far as the page distinguishes it. */
export type Problem =
  | { kind: 'unreachable' }
  | { kind: 'signed-out' }
  | { kind: 'too-many'; retryAfterSeconds: number | undefined }
  | { kind: 'refused'; code: string; message: string; fields: readonly Field[] }

export type Result<T> = { ok: true; value: T } | { ok: false; problem: Problem }

/** An invalid field, as the service reports it. */
type Field = { code: string; message: string }

type Call = {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  body?: unknown
  withSession?: boolean
  /** Whether the request continues when the page is closed. */
  keepalive?: boolean
}

const TIMEOUT_MS = 15_000

export type Api = ReturnType<typeof makeApi>

/** The payer's operations (src/wire/payer.ts). They never throw: failures are values. */
export function makeApi(session: SessionStore) {
  const call = <T>(request: Call): Promise<Result<T>> => send<T>(session, request)
  const mine = <T>(method: Call['method'], path: string, body?: unknown): Promise<Result<T>> =>
    call({ method, path: `/api/v1/payer/${path}`, body, withSession: true })
  return {
    requestLink: (contact: PayerContact) =>
      call<{ status: 'sent' }>({ method: 'POST', path: '/api/v1/payer/auth/request-link', body: contact }),
    verifyLink: (token: string) =>
      call<PayerSession>({ method: 'POST', path: '/api/v1/payer/auth/verify', body: { token } }),
    signOut: () =>
      call<unknown>({ method: 'POST', path: '/api/v1/payer/auth/sign-out', withSession: true, keepalive: true }),
    listPayments: () => mine<{ data: PayerPayment[] }>('GET', 'payments'),
    getPayment: (id: string) => mine<PayerReceipt>('GET', `payments/${id}`),
    sendReceipt: (id: string) => mine<{ contact: string }>('POST', `payments/${id}/receipt`),
    raiseDispute: (id: string, dispute: { reason: DisputeReason; payer_statement?: string }) =>
      mine<PayerDispute>('POST', `payments/${id}/dispute`, dispute),
    listConsents: () => mine<{ data: PayerConsent[] }>('GET', 'consents'),
    revokeConsent: (id: string) => mine<RevokedConsent>('DELETE', `consents/${id}`),
    isSandbox: async (): Promise<boolean> => {
      const info = await call<{ mode: string }>({ method: 'GET', path: '/api/v1/service' })
      return info.ok && info.value.mode === 'sandbox'
    },
  }
}

async function send<T>(
  session: SessionStore,
  { method, path, body, withSession = false, keepalive = false }: Call,
): Promise<Result<T>> {
  const headers: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
  // The page's, which may have been chosen: a message that the service sends is in it.
  headers['accept-language'] = document.documentElement.lang
  if (withSession) {
    const token = session.read()?.token
    if (token === undefined) return { ok: false, problem: { kind: 'signed-out' } }
    headers['authorization'] = `Bearer ${token}`
  }
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), TIMEOUT_MS)
  try {
    const answer = await fetch(path, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      keepalive,
      signal: controller.signal,
    })
    if (answer.ok) return { ok: true, value: (await answer.json()) as T }
    return { ok: false, problem: await problemOf(answer, withSession) }
  } catch {
    return { ok: false, problem: { kind: 'unreachable' } }
  } finally {
    clearTimeout(timer)
  }
}

async function problemOf(answer: Response, withSession: boolean): Promise<Problem> {
  if (answer.status === 401 && withSession) return { kind: 'signed-out' }
  if (answer.status === 429) {
    const seconds = parseInt(answer.headers.get('retry-after') ?? '', 10)
    return { kind: 'too-many', retryAfterSeconds: seconds > 0 ? seconds : undefined }
  }
  // A proxy may respond too, and not in JSON.
  if (answer.status >= 500) return { kind: 'unreachable' }
  const body = (await answer.json()) as Partial<ErrorBody>
  return { kind: 'refused', code: body.code ?? '', message: body.error ?? '', fields: body.errors ?? [] }
}
