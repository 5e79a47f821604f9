import type { App } from '../app.ts'
import { invalidToken } from '../identity/verifier.ts'
import { DomainError } from '../lib/errors.ts'
import { NO_ROLE, SCOPES, permissionText, roleAllows } from '../lib/permissions.ts'
import type { Permission, Role } from '../lib/permissions.ts'
import { verifyCheckoutToken } from '../checkout/verify-token.ts'
import { verifySession } from '../payers/session.ts'
import { findPaymentForPayer } from '../payments/payer-access.ts'
import { paymentNotFound } from '../payments/get-payment.ts'
import { CHECKOUT_TOKEN_HEADER } from '../wire/checkout.ts'
import { permissionFor, permissionsAsked, stopsWhileInactive } from '../wire/operation.ts'
import type { Access, Operation } from '../wire/operation.ts'
import { whoami } from '../wire/service.ts'
import { makeCallers } from './callers.ts'
import type { Asked, Caller, CallersOptions } from './callers.ts'
import type { Credentials } from './credentials.ts'
import { makeHeaderCallers } from './header-callers.ts'
import type { HeaderCallers } from './header-callers.ts'
import { refuseForeignPages } from './local-pages.ts'
import { SIGN_INS, makeBrowserLimits } from './rate-limit.ts'
import type { BrowserLimits } from './rate-limit.ts'
import type { Principal } from './principal.ts'

/**
 * Decides who may call an operation.
 * @throws {DomainError} UNAUTHENTICATED, TOKEN_EXPIRED, UNKNOWN_CLIENT, WRONG_REALM, FORBIDDEN_ROLE, MERCHANT_INACTIVE,
 *   IDP_UNAVAILABLE; of browsers CHECKOUT_TOKEN_INVALID, CHECKOUT_TOKEN_EXPIRED, CHECKOUT_ORIGIN_NOT_ALLOWED,
 *   PAYMENT_NOT_FOUND, RATE_LIMITED
 */
export type Guard = (operation: Operation, credentials: Credentials) => Promise<Principal>

/** How long a revoked client or a removed person may still get in, where nothing lasting can be done with it. */
const REMEMBER_MS = 10_000

/**
 * What lasts: what a caller could use to let itself in again after it was removed, demoted or revoked, or to free what was
 * stopped; where events are sent, which pages may embed the checkout and what payers see there; and money that is given
 * back. For these the tables are asked every time, which costs a look-up by key, or two for a person. The check and the work are two statements, so that a removal which commits
 * between them, in a matter of milliseconds, comes too late for that one request.
 */
const ASKED_AFRESH: ReadonlySet<Permission> = new Set([
  'manage team',
  'manage credentials',
  'manage signing secret',
  'manage bank accounts',
  'manage webhooks',
  'manage checkout',
  'manage branding',
  'refund payments',
  'administer platform',
  'operate merchants',
  'operate sandbox',
])

/**
 * Makes the guard of one app. With an identity provider a bearer token proves the caller and headers count for nothing;
 * without one, headers are believed (decision 57). What callers may do is decided here and nowhere else, and what no
 * rule allows is refused.
 *
 * Operators' disabling a merchant ends its sign-ins, but not the tokens that live on, nor what headers say: so whatever
 * it would change is refused here (decision 29), within the time that callers are remembered for. It may still read,
 * refund what it has taken, and be told of a payment that it made before (`evenIfInactive`). What others do about its
 * payments goes on: payers, with their own capability, and the bank.
 */
export function makeGuard(
  app: App,
  options: Partial<CallersOptions> = {},
  slowDown: BrowserLimits = makeBrowserLimits(app),
): Guard {
  const limits = { rememberMs: REMEMBER_MS, ...options }
  const prove = app.identity.kind === 'none' ? byHeaders(makeHeaderCallers(app, limits)) : byToken(app, limits)
  return async (operation, credentials) => {
    const { access } = operation
    const state = credentials.headers['x-payment-state']
    if (access.includes('payment-state') && state !== undefined) {
      slowDown(operation, credentials)
      return payment(app, { state: single(state), paymentId: credentials.params['id'] ?? '' })
    }
    const token = credentials.headers[CHECKOUT_TOKEN_HEADER]
    if (access.includes('checkout-token') && token !== undefined) {
      slowDown(operation, credentials)
      return checkout(app, { text: single(token), operation })
    }
    // A payer's session is nobody else's credential, and nobody else's is a payer's: the operation alone says which is read.
    if (access.includes('payer')) {
      slowDown(operation, credentials)
      return { kind: 'payer', session: await verifySession(app, bearerToken(credentials)) }
    }
    if (SIGN_INS.has(operation.name)) slowDown(operation, credentials)
    if (access.some((kind) => ASKS_FOR_CALLER.has(kind))) return admit(operation, await prove(operation, credentials))
    if (operation.permission === undefined && access.some((kind) => ASKS_FOR_NOBODY.has(kind)))
      return { kind: 'anyone' }
    throw new DomainError('UNAUTHENTICATED', 'the request carries no proof that this operation takes')
  }
}

const ASKS_FOR_CALLER: ReadonlySet<Access> = new Set(['merchant', 'platform', 'customer', 'sandbox'])
const ASKS_FOR_NOBODY: ReadonlySet<Access> = new Set(['anyone', 'bank'])

type Prove = (operation: Operation, credentials: Credentials) => Promise<Caller>

function byToken(app: App, limits: CallersOptions): Prove {
  const callers = makeCallers(app, limits)
  return (operation, credentials) => callers.ofToken(bearerToken(credentials), askedFor(operation))
}

/** Headers that are believed must come from this machine, and from no page that a browser has loaded from elsewhere. */
function byHeaders(callers: HeaderCallers): Prove {
  return async (operation, { headers }) => {
    refuseForeignPages(headers)
    const { access } = operation
    if (access.includes('customer')) return callers.customer(headers)
    const isForBoth = access.includes('merchant') && access.includes('platform')
    if (isForBoth && headers['x-merchant-client-id'] === undefined) return callers.operator(headers)
    if (access.includes('merchant')) return callers.merchant(headers, askedFor(operation))
    return access.includes('platform') ? callers.operator(headers) : callers.sandbox(headers)
  }
}

/** A stream lasts as well: it is asked about again while it runs, and what is remembered would only delay its end. */
function askedFor(operation: Operation): Asked {
  const isFresh = permissionsAsked(operation).some((permission) => ASKED_AFRESH.has(permission))
  return { isFresh: isFresh || operation.stream !== undefined }
}

const BEARER = /^bearer +(?<token>[\w.~+/-]+=*) *$/i

/** The one bearer token of a request: two of them may mean two things to two readers. */
function bearerToken({ headers, rawHeaders }: Credentials): string {
  const { authorization } = headers
  if (authorization === undefined) {
    throw new DomainError('UNAUTHENTICATED', 'the request carries no access token', {
      next: 'send the header Authorization: Bearer <access token>; GET /api/v1/service tells where tokens come from',
    })
  }
  const token = BEARER.exec(authorization)?.groups?.['token']
  const count = rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === 'authorization').length
  if (token === undefined || count !== 1) throw invalidToken()
  return token
}

/** What every proven caller may call, whatever its role is. */
const FOR_ANY_ROLE: ReadonlySet<string> = new Set([whoami.name])

/** The caller under the role that lets it in: the first that does, in the order of the table. */
function admit(operation: Operation, caller: Caller): Principal {
  const { access, name } = operation
  const permission = caller.kind === 'customer' ? undefined : permissionFor(operation, caller.kind)
  const allows = (role: Role): boolean =>
    permission === undefined ? FOR_ANY_ROLE.has(name) : roleAllows(role, permission)
  // A branch for each kind, so that roles keep the type of their realm.
  if (caller.kind === 'merchant' && access.includes('merchant')) {
    const role = caller.roles.find(allows)
    if (role === undefined) throw forbidden(operation, permission, caller.roles)
    if (!caller.isActive && stopsWhileInactive(operation)) throw inactive()
    return caller.as(role)
  }
  if (caller.kind === 'platform' && (access.includes('platform') || access.includes('sandbox'))) {
    const role = caller.roles.find(allows)
    if (role === undefined) throw forbidden(operation, permission, caller.roles)
    return caller.as(role)
  }
  if (caller.kind === 'customer' && access.includes('customer')) {
    const { scopes = [] } = operation
    if (scopes.some((scope) => caller.scopes.includes(scope))) return caller.as()
    throw new DomainError('FORBIDDEN_SCOPE', `the access token has not the scope ${scopes.join(' or ')}`, {
      next: `ask for it where the token comes from: sign in again, or as a program send scope=${SCOPES.join(' ')} with the token request`,
      // Each of them would do; two would read as if both were needed.
      ...(scopes[0] === undefined ? {} : { scope: scopes[0] }),
    })
  }
  throw new DomainError('WRONG_REALM', 'the access token is of a realm that this operation is not for')
}

function forbidden({ summary }: Operation, permission: Permission | undefined, roles: readonly Role[]): DomainError {
  if (roles.length === 0) {
    return new DomainError('FORBIDDEN_ROLE', 'the caller has no role here, or lost the one that its token names', {
      next: 'sign in again; if it stays so, ask an administrator for a role',
    })
  }
  // The permission, and not the operation: a program may ask for one thing on its way to another.
  const what = permission === undefined ? `do this: ${summary}` : permissionText(permission)
  return new DomainError('FORBIDDEN_ROLE', `the role ${roles.map(roleText).join(', ')} is not allowed to ${what}`)
}

function roleText(role: Role): string {
  return role === NO_ROLE ? 'NONE (payments only)' : role
}

function inactive(): DomainError {
  return new DomainError('MERCHANT_INACTIVE', 'the merchant is disabled', { next: 'ask an operator to enable it' })
}

/** The payer's capability (decision 66). What does not fit is a payment that does not exist. */
async function payment(app: App, { state, paymentId }: { state: string; paymentId: string }): Promise<Principal> {
  const found = await findPaymentForPayer(app, { paymentId, state })
  if (found === null) throw paymentNotFound()
  return { kind: 'payment-state', merchantId: found.merchant_id, paymentId: found.id }
}

/** What a merchant's server let a payer's browser start a payment with (decision 66). */
async function checkout(app: App, { text, operation }: { text: string; operation: Operation }): Promise<Principal> {
  const opened = await verifyCheckoutToken(app, text)
  if (!opened.merchant.isActive && stopsWhileInactive(operation)) throw inactive()
  return { kind: 'checkout-token', merchantId: opened.merchant.id, checkout: opened }
}

function single(header: string | string[] | undefined): string {
  return typeof header === 'string' ? header : ''
}
