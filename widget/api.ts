import type { Bank } from '../src/wire/banks.ts'
import type { Checkout } from '../src/wire/checkout.ts'
import type { ErrorBody } from '../src/wire/common.ts'
import type { PayerContact } from '../src/wire/payer.ts'
import type { CreatedPayment, PayerView } from '../src/wire/payments.ts'

/** Timeout of a call, in milliseconds. */
const ANSWER_MS_MAX = 15_000

/** A failed call: the service's error code and message, or NETWORK without a response. */
export class CallFailed extends Error {
  // Only declared: a defined field would add a helper to the bundle.
  declare readonly code: string
  declare readonly next: string | undefined
  constructor(code: string, message: string, next?: string) {
    super(message)
    Object.assign(this, { name: 'CallFailed', code, next })
  }
}

type StartedPayment = Pick<CreatedPayment, 'payment_id' | 'payment_state'>

export type Api = ReturnType<typeof makeApi>

/**
 * The operations that a payer's browser may call, with the checkout token and the payment's own state (decision 66).
 */
export function makeApi(token: string) {
  const withToken = { 'X-Checkout-Token': token }
  return {
    checkout: () => call<Checkout>('GET', '/checkout', withToken),
    banks: () => call<{ data: Bank[] }>('GET', '/banks', {}).then(({ data }) => data),
    /** A new key each time: every attempt is a new payment (decision 63). */
    startPayment: (bankId: string, sameTab: boolean) =>
      call<CreatedPayment>(
        'POST',
        '/payments',
        { ...withToken, 'X-Idempotency-Key': randomId() },
        { debtor_bank_id: bankId, same_tab: sameTab, locale: document.documentElement.lang },
      ),
    payment: (started: StartedPayment) => call<PayerView>('GET', pathOf(started), withState(started)),
    cancel: (started: StartedPayment) => call<PayerView>('POST', `${pathOf(started)}/cancel`, withState(started)),
    leaveContact: (started: StartedPayment, contact: PayerContact) =>
      call<unknown>('POST', `${pathOf(started)}/contact`, withState(started), contact),
  }
}

function pathOf({ payment_id }: StartedPayment): string {
  return `/payments/${encodeURIComponent(payment_id)}`
}

function withState({ payment_state }: StartedPayment): Record<string, string> {
  return { 'X-Payment-State': payment_state ?? '' }
}

async function call<Answer>(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<Answer> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), ANSWER_MS_MAX)
  try {
    const response = await fetch(`/api/v1${path}`, {
      method,
      headers: body === undefined ? headers : { ...headers, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      cache: 'no-store',
      credentials: 'omit',
      signal: controller.signal,
    })
    const data: unknown = await response.json()
    if (response.ok) return data as Answer
    const { code, error, next } = data as Partial<ErrorBody>
    throw new CallFailed(code ?? 'UNKNOWN', error ?? '', next)
  } catch (error) {
    throw error instanceof CallFailed ? error : new CallFailed('NETWORK', '')
  } finally {
    clearTimeout(timer)
  }
}

/** 128 random bits. `crypto.randomUUID` exists in secure contexts only, and a sandbox may run without TLS. */
export function randomId(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-')
}
