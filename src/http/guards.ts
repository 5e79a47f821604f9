import { decodeJwt } from 'jose'
import type { App } from '../app.ts'
import { invalidToken } from '../identity/verifier.ts'
import { DomainError } from '../lib/errors.ts'
import type { ErrorCode } from '../lib/errors.ts'
import { loggedNetwork } from '../lib/network-hash.ts'
import { ACR, isRecentSignIn } from '../lib/sign-in-levels.ts'
import { NO_ROLE, SCOPES, hasLastingEffect, permissionText, roleAllows } from '../lib/permissions.ts'
import type { Permission, Role } from '../lib/permissions.ts'
import { verifyCheckoutToken } from '../checkout/verify-token.ts'
import { verifySession } from '../payers/session.ts'
import { findPaymentForPayer } from '../payments/payer-access.ts'
import { paymentNotFound } from '../payments/get-payment.ts'
import { CHECKOUT_TOKEN_HEADER } from '../wire/checkout.ts'
import { permissionFor, permissionsOfOperation, requiresActiveMerchant } from '../wire/operation.ts'
import type { Access, Operation } from '../wire/operation.ts'
import { whoami } from '../wire/service.ts'
import { makeCallers } from './callers.ts'
import type { Caller, CallerLookup, Callers, CallersOptions } from './callers.ts'
import type { Credentials } from './credentials.ts'
import { makeHeaderCallers } from './header-callers.ts'
import type { HeaderCallers } from './header-callers.ts'
import { refuseForeignPages } from './local-pages.ts'
import { NO_RATE_LIMITS, makeRateLimits, rateOf } from './rate-limit.ts'
import type { NetworkRate, RateLimits } from './rate-limit.ts'
import type { Principal } from './principal.ts'

/**
 * Decides whether a request may call an operation, and returns the authenticated caller.
 * @throws {DomainError} UNAUTHENTICATED, TOKEN_EXPIRED, UNKNOWN_CLIENT, WRONG_REALM, FORBIDDEN_ROLE,
 *   MERCHANT_INACTIVE, INSUFFICIENT_USER_AUTHENTICATION, IDP_UNAVAILABLE; for browsers CHECKOUT_TOKEN_INVALID,
 *   CHECKOUT_TOKEN_EXPIRED, CHECKOUT_ORIGIN_NOT_ALLOWED, PAYMENT_NOT_FOUND, RATE_LIMITED
 */
export type Guard = (operation: Operation, credentials: Credentials, options?: GuardOptions) => Promise<Principal>

export type GuardOptions = {
  /**
   * Whether the caller of a stream is checked again. That is counted nowhere and rejected by no rate, or a caller who has
   * lost access would keep the stream while its network sends too much. Streams are limited in number.
   */
  isRecheck?: boolean
}

/**
 * How long the rows of a caller are cached: for this time, a revoked client or a removed person may still call operations
 * without lasting effect. The others read the rows on every request, which costs one or two look-ups by key. The check
 * and the work are two statements, so a removal that commits between them, within milliseconds, misses that one request.
 */
const REMEMBER_MS = 10_000

/**
 * Makes the guard of one app: the only place that decides what callers may do. It rejects what no rule allows. With an
 * identity provider, callers authenticate with a bearer token and identity headers are ignored; without one, the headers
 * are trusted (decision 57).
 *
 * Disabling a merchant ends its sign-ins, but not the tokens that are already issued. So the guard rejects its changes
 * within the time that rows are cached (contract §Disabled merchants). The merchant may still read, and call what its
 * payers need (`evenIfInactive`). Payers, with their own credentials, and the bank are not affected.
 */
export function makeGuard(
  app: App,
  options: Partial<CallersOptions> = {},
  rateLimits: RateLimits = makeRateLimits(app),
): Guard {
  const limits = { rememberMs: REMEMBER_MS, ...options }
  const authenticate =
    app.identity.kind === 'none' ? byHeaders(makeHeaderCallers(app, limits)) : byToken(makeCallers(app, limits))

  async function identify(operation: Operation, credentials: Credentials, rates: RateLimits): Promise<Principal> {
    const { access } = operation
    const limitRate = (): void => rates.network(rateOf(operation), credentials.clientAddress)
    const state = credentials.headers['x-payment-state']
    if (access.includes('payment-state') && state !== undefined) {
      limitRate()
      return authenticatePaymentState(app, { state: single(state), paymentId: credentials.params['id'] ?? '' })
    }
    const token = credentials.headers[CHECKOUT_TOKEN_HEADER]
    if (access.includes('checkout-token') && token !== undefined) {
      limitRate()
      return authenticateCheckoutToken(app, { text: single(token), operation })
    }
    // Payers' operations accept a payer's session and nothing else; no other operation accepts one.
    if (access.includes('payer')) {
      limitRate()
      return { kind: 'payer', session: await verifySession(app, bearerToken(credentials)) }
    }
    if (access.some((kind) => NEEDS_CALLER.has(kind))) {
      const caller = await authenticate(operation, credentials, rates)
      const principal = authorise(operation, caller)
      requireFreshSignIn(app, operation, caller)
      if (principal.kind === 'merchant' && operation.isRecorded === true) rates.change(principal)
      return principal
    }
    if (operation.permission === undefined && access.some((kind) => NEEDS_NO_CALLER.has(kind))) {
      limitRate()
      return { kind: 'anyone' }
    }
    throw new DomainError('UNAUTHENTICATED', 'the request has no credentials that this operation accepts')
  }

  return async (operation, credentials, { isRecheck = false } = {}) => {
    const rates = isRecheck ? NO_RATE_LIMITS : rateLimits
    try {
      return await identify(operation, credentials, rates)
    } catch (error) {
      logRejection(app, operation, { error, credentials })
      const rate = error instanceof DomainError ? RATES_OF_REJECTIONS.get(error.code) : undefined
      if (rate !== undefined) rates.network(rate, credentials.clientAddress)
      throw error
    }
  }
}

/** What a network is counted for whose credentials are not valid. Callers whose credentials are have been counted by then. */
const RATES_OF_REJECTIONS: ReadonlyMap<string, NetworkRate> = new Map<ErrorCode, NetworkRate>([
  ['UNAUTHENTICATED', 'refused'],
  ['UNKNOWN_CLIENT', 'refused'],
  ['CHECKOUT_TOKEN_INVALID', 'refused'],
  ['PAYMENT_NOT_FOUND', 'refused'],
  ['TOKEN_EXPIRED', 'expired'],
])

/** Logs which caller was rejected, and where; a client that a token only claims is named as such. */
function logRejection(
  { securityLog, networks }: Pick<App, 'securityLog' | 'networks'>,
  operation: Operation,
  { error, credentials }: { error: unknown; credentials: Credentials },
): void {
  if (!(error instanceof DomainError)) return
  const network = loggedNetwork(networks(credentials.clientAddress ?? ''))
  const claimed = claimedClient(credentials)
  securityLog.info(
    {
      operation: operation.name,
      rejection: error.code,
      network,
      ...(claimed === undefined ? {} : { claimed_client: claimed }),
    },
    'a caller was rejected',
  )
}

const NAME = /^[\w.-]{1,100}$/

/** The client that an unverified token or a header names; undefined for a text that is no name of a client. */
function claimedClient({ headers }: Credentials): string | undefined {
  const token = BEARER.exec(headers.authorization ?? '')?.groups?.['token']
  const named = token === undefined ? headers['x-merchant-client-id'] : claimOf(token)
  return typeof named === 'string' && NAME.test(named) ? named : undefined
}

function claimOf(token: string): unknown {
  try {
    return decodeJwt(token)['azp']
  } catch {
    return undefined
  }
}

const NEEDS_CALLER: ReadonlySet<Access> = new Set(['merchant', 'platform', 'customer', 'sandbox'])
const NEEDS_NO_CALLER: ReadonlySet<Access> = new Set(['anyone', 'bank'])

type Authenticate = (operation: Operation, credentials: Credentials, rates: RateLimits) => Promise<Caller>

function byToken(callers: Callers): Authenticate {
  return (operation, credentials, rates) =>
    callers.ofToken(bearerToken(credentials), {
      ...lookupFor(operation, rates),
      gate: rates.tokenGate(credentials),
    })
}

/** Trusted headers must come from this machine, and not from a web page of another origin. */
function byHeaders(callers: HeaderCallers): Authenticate {
  return async (operation, { headers }, rates) => {
    refuseForeignPages(headers)
    const { access } = operation
    const lookup = lookupFor(operation, rates)
    if (access.includes('customer')) return callers.customer(headers, lookup)
    const isForBoth = access.includes('merchant') && access.includes('platform')
    if (isForBoth && headers['x-merchant-client-id'] === undefined) return callers.operator(headers, lookup)
    if (access.includes('merchant')) return callers.merchant(headers, lookup)
    return access.includes('platform') ? callers.operator(headers, lookup) : callers.sandbox(headers, lookup)
  }
}

/**
 * A stream checks its caller again while it runs, and cached rows would only delay its end. Customers' operations have
 * scopes and no permission: what they change, such as an order, lasts.
 */
function lookupFor(operation: Operation, rateLimits: RateLimits): CallerLookup {
  const isChangeByCustomer = operation.access.includes('customer') && operation.method !== 'GET'
  return {
    isFresh:
      operation.stream !== undefined || isChangeByCustomer || permissionsOfOperation(operation).some(hasLastingEffect),
    count: (key) => rateLimits.caller(key, operation),
  }
}

const BEARER = /^bearer +(?<token>[\w.~+/-]+=*) *$/i

/** The bearer token of a request. Two of them are rejected, because two readers could choose differently. */
function bearerToken({ headers, rawHeaders }: Credentials): string {
  const { authorization } = headers
  if (authorization === undefined) {
    throw new DomainError('UNAUTHENTICATED', 'the request has no access token', {
      next: 'send the header Authorization: Bearer <access token>; GET /api/v1/service shows where to get a token',
    })
  }
  const token = BEARER.exec(authorization)?.groups?.['token']
  const count = rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === 'authorization').length
  if (token === undefined || count !== 1) throw invalidToken()
  return token
}

/** Operations that every authenticated caller may call, whatever its role. */
const FOR_ANY_ROLE: ReadonlySet<string> = new Set([whoami.name])

/**
 * Returns the caller with the first of its roles that has the permission, in the order of the roles' table.
 * @throws {DomainError} FORBIDDEN_ROLE, FORBIDDEN_SCOPE, WRONG_REALM, MERCHANT_INACTIVE
 */
function authorise(operation: Operation, caller: Caller): Principal {
  const { access, name } = operation
  const permission = caller.kind === 'customer' ? undefined : permissionFor(operation, caller.kind)
  const allows = (role: Role): boolean =>
    permission === undefined ? FOR_ANY_ROLE.has(name) : roleAllows(role, permission)
  // One branch for each kind, so that roles keep the type of their realm.
  if (caller.kind === 'merchant' && access.includes('merchant')) {
    const role = caller.roles.find(allows)
    if (role === undefined) throw forbidden(operation, permission, caller.roles)
    if (!caller.isActive && requiresActiveMerchant(operation)) throw inactive()
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
    throw new DomainError('FORBIDDEN_SCOPE', `the access token lacks the scope ${scopes.join(' or ')}`, {
      next: `request the scope with the token: sign in again, or as a program send scope=${SCOPES.join(' ')} in the token request`,
      // Any one of them is enough; naming two would read as if both were required.
      ...(scopes[0] === undefined ? {} : { scope: scopes[0] }),
    })
  }
  throw new DomainError('WRONG_REALM', 'this operation does not accept access tokens of this realm')
}

/** As long as a person may take over several such operations in a row. */
const FRESH_SECONDS = 600

/**
 * A stolen token of a person, or a console left open, must not move money or make a credential that outlives it.
 * @throws {DomainError} INSUFFICIENT_USER_AUTHENTICATION, FORBIDDEN_ROLE
 */
function requireFreshSignIn({ config, identity }: App, operation: Operation, caller: Caller): void {
  if (operation.needsFreshSignIn !== true || config.mode !== 'live' || caller.kind === 'customer') return
  const { signIn } = caller
  if (signIn === undefined) {
    if (operation.isForPeople !== true) return
    throw new DomainError('FORBIDDEN_ROLE', 'a program may not do this in live mode', { next: 'sign in: svc login' })
  }
  const isFresh = signIn.signedInAt !== undefined && isRecentSignIn(signIn.signedInAt, FRESH_SECONDS)
  const hasFactor = signIn.acr === ACR.secondFactor || (identity.kind === 'keycloak' && namesFactor(signIn.amr))
  if (isFresh && hasFactor) return
  throw new DomainError('INSUFFICIENT_USER_AUTHENTICATION', 'this needs a new sign-in with a second factor', {
    next: 'sign in again and repeat: svc login --second-factor',
    signIn: { acr: ACR.secondFactor, maxAgeSeconds: FRESH_SECONDS },
  })
}

/**
 * Keycloak's `acr` is 2 only in realms whose flow has that level of authentication, but its `amr` shows the factor in realms
 * made by this version (decision 351). A token that names nothing may be from a password alone.
 */
function namesFactor(amr: readonly string[] = []): boolean {
  return amr.length > 0 && (!amr.includes('pwd') || amr.includes('otp'))
}

function forbidden({ summary }: Operation, permission: Permission | undefined, roles: readonly Role[]): DomainError {
  if (roles.length === 0) {
    return new DomainError('FORBIDDEN_ROLE', 'the caller has no role here, or no longer the one in its token', {
      next: 'sign in again; if that does not help, ask an administrator for a role',
    })
  }
  // The permission, not the operation: a command may call one operation in order to do another.
  const what = permission === undefined ? `do this: ${summary}` : permissionText(permission)
  return new DomainError('FORBIDDEN_ROLE', `the role ${roles.map(roleText).join(', ')} is not allowed to ${what}`)
}

function roleText(role: Role): string {
  return role === NO_ROLE ? 'NONE (payments only)' : role
}

function inactive(): DomainError {
  return new DomainError('MERCHANT_INACTIVE', 'the merchant is disabled', { next: 'ask an operator to enable it' })
}

/** Authenticates a payer by the `state` of one payment (decision 66). A wrong state looks like an unknown payment. */
async function authenticatePaymentState(
  app: App,
  { state, paymentId }: { state: string; paymentId: string },
): Promise<Principal> {
  const found = await findPaymentForPayer(app, { paymentId, state })
  if (found === null) throw paymentNotFound()
  return { kind: 'payment-state', merchantId: found.merchant_id, paymentId: found.id }
}

/** Authenticates a payer's browser by the checkout token that the merchant's server gave it (decision 66). */
async function authenticateCheckoutToken(
  app: App,
  { text, operation }: { text: string; operation: Operation },
): Promise<Principal> {
  const checkout = await verifyCheckoutToken(app, text)
  if (!checkout.merchant.isActive && requiresActiveMerchant(operation)) throw inactive()
  return { kind: 'checkout-token', merchantId: checkout.merchant.id, checkout }
}

function single(header: string | string[] | undefined): string {
  return typeof header === 'string' ? header : ''
}
