import type { IncomingHttpHeaders } from 'node:http'
import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { roleAllows } from '../lib/permissions.ts'
import type { MerchantRole } from '../lib/permissions.ts'
import { identifyMerchant } from '../merchants/identify.ts'
import type { MerchantIdentity } from '../merchants/record.ts'
import { openWithState } from '../payments/payer-access.ts'
import { paymentNotFound } from '../payments/read.ts'
import type { Operation } from '../wire/operation.ts'

/** Who calls, proven. Handlers see nothing else of the credential, so another kind of proof changes no handler. */
export type Principal =
  | { kind: 'merchant'; merchantId: string; tradingName: string; role: MerchantRole }
  /** The payer, by the capability of one payment. */
  | { kind: 'payer'; merchantId: string; paymentId: string }
  /** An operator of the platform, by name. */
  | { kind: 'platform'; name: string }
  /** Nobody in particular; the operation's own credential is in its body or signature. */
  | { kind: 'anyone' }

export type Credentials = { headers: IncomingHttpHeaders; params: Readonly<Record<string, string>> }

/** Decides who may call an operation. */
export type Guard = (operation: Operation, credentials: Credentials) => Promise<Principal>

/** Makes the guard of one app; merchants' identities are cached, what they may do is not. */
export function makeGuard(app: App): Guard {
  const findMerchant = cachedMerchants(app)
  return async (operation, { headers, params }) => {
    const { access } = operation
    if (access.includes('payment-state') && headers['x-payment-state'] !== undefined) {
      return payer(app, { state: single(headers['x-payment-state']), paymentId: params['id'] ?? '' })
    }
    if (access.includes('sandbox')) return operator(headers)
    if (!access.includes('merchant')) return { kind: 'anyone' }
    const merchant = await findMerchant(headers)
    if (operation.permission === undefined || !roleAllows(merchant.role, operation.permission)) {
      throw new DomainError('FORBIDDEN_ROLE', `the role ${merchant.role} may not do this: ${operation.summary}`)
    }
    return merchant
  }
}

/** Identities that a process remembers, and for how long: a client id never changes hands. */
const CACHED_MAX = 10_000
const CACHED_MS = 60_000

/** Without an identity provider the client id alone identifies the merchant, as its ADMIN (decision 57). */
function cachedMerchants(app: App): (headers: IncomingHttpHeaders) => Promise<Principal & { kind: 'merchant' }> {
  const cache = new Map<string, { merchant: MerchantIdentity; until: number }>()
  return async (headers) => {
    const clientId = single(headers['x-merchant-client-id'])
    if (clientId === '') {
      throw new DomainError('UNAUTHENTICATED', 'the request does not say which merchant it comes from', {
        next: 'send the header X-Merchant-Client-Id',
      })
    }
    const cached = cache.get(clientId)
    const now = performance.now()
    const merchant = cached !== undefined && cached.until > now ? cached.merchant : await look(clientId)
    return { kind: 'merchant', merchantId: merchant.id, tradingName: merchant.trading_name, role: 'ADMIN' }
  }

  async function look(clientId: string): Promise<MerchantIdentity> {
    const merchant = await identifyMerchant(app, clientId)
    if (merchant === null) throw new DomainError('UNKNOWN_CLIENT', 'no merchant has this client id')
    if (cache.size >= CACHED_MAX) cache.clear()
    cache.set(clientId, { merchant, until: performance.now() + CACHED_MS })
    return merchant
  }
}

const OPERATOR_NAME = /^[\x21-\x7e]{1,64}$/

/** Who makes things in the sandbox without giving a name. */
const NOBODY = 'sandbox'

/**
 * Without an identity provider an operator only gives a name (decision 57), and for the sandbox's own operations need not
 * even do that (decision 60).
 */
function operator(headers: IncomingHttpHeaders): Principal {
  const given = headers['x-platform-user']
  const name = given === undefined ? NOBODY : single(given)
  if (OPERATOR_NAME.test(name)) return { kind: 'platform', name }
  throw new DomainError('UNAUTHENTICATED', 'the name in X-Platform-User is none', {
    next: 'send 1 to 64 printable ASCII characters without spaces, or leave the header out',
  })
}

/** The payer's capability (decision 40b). What does not fit is a payment that does not exist. */
async function payer(app: App, { state, paymentId }: { state: string; paymentId: string }): Promise<Principal> {
  const payment = await openWithState(app, { paymentId, state })
  if (payment === null) throw paymentNotFound()
  return { kind: 'payer', merchantId: payment.merchant_id, paymentId: payment.id }
}

function single(header: string | string[] | undefined): string {
  return typeof header === 'string' ? header : ''
}

/** The merchant whose data an operation may touch. */
export function merchantIdOf(principal: Principal): string {
  if (principal.kind === 'anyone' || principal.kind === 'platform') throw new Error('the operation has no merchant')
  return principal.merchantId
}
