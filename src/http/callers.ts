import { NO_CUSTOMER, identifyCustomer } from '../accounts/identify.ts'
import type { App } from '../app.ts'
import { identifyTokenCutoff } from '../identity/identify-token.ts'
import { makeVerifier, invalidToken } from '../identity/verifier.ts'
import type { TokenGate, VerifiedToken } from '../identity/verifier.ts'
import { MERCHANT_ROLES, NO_ROLE, PLATFORM_ROLES, commonRole } from '../lib/permissions.ts'
import type { MerchantActingRole, PlatformRole, Role } from '../lib/permissions.ts'
import { CUSTOMERS_REALM, PLATFORM_REALM, realmOfClientId } from '../lib/realms.ts'
import { setBounded, cacheLookup } from '../lib/cached-lookup.ts'
import type { CacheLookupOptions } from '../lib/cached-lookup.ts'
import { identifyMember, identifyMerchant } from '../merchants/identify.ts'
import type { MerchantClient } from '../merchants/record.ts'
import { identifyStaff, identifyStaffClient, noteSeen } from '../staff/identify.ts'
import type { PlatformClient, PlatformUser } from '../staff/record.ts'
import type { CustomerPrincipal, MerchantPrincipal, PlatformPrincipal, Proof } from './principal.ts'

/**
 * An authenticated caller, before the guard has chosen the role that the operation needs. `roles` is in the order of
 * the roles' table.
 */
export type Caller =
  | {
      kind: 'merchant'
      roles: readonly MerchantActingRole[]
      isActive: boolean
      signIn: SignIn | undefined
      as(role: MerchantActingRole): MerchantPrincipal
    }
  | {
      kind: 'platform'
      roles: readonly PlatformRole[]
      signIn: SignIn | undefined
      as(role: PlatformRole): PlatformPrincipal
    }
  /** A bank's customer, whose tokens are for Surface A alone (decision 58). */
  | { kind: 'customer'; scopes: readonly string[]; as(): CustomerPrincipal }

/** When and how a person signed in; programs have no such thing. */
export type SignIn = Pick<VerifiedToken, 'signedInAt' | 'acr' | 'amr'>

export type Callers = {
  /**
   * Returns the caller that a bearer token belongs to, with its roles.
   * @throws {DomainError} UNAUTHENTICATED, TOKEN_EXPIRED, IDP_UNAVAILABLE, RATE_LIMITED
   */
  ofToken(token: string, lookup: CallerLookup & { gate: TokenGate }): Promise<Caller>
}

export type CallerLookup = {
  /** Whether the caller's rows are read from the tables; otherwise the cache may answer. */
  isFresh: boolean
  /**
   * Counts a request of an authenticated caller: a client, and a person of a client that many share. Before the caller's
   * rows and rights are known, so that requests which these refuse are counted too. @throws {DomainError} RATE_LIMITED
   */
  count(key: string): void
}

export type CallersOptions = {
  /** How long the rows of clients and people are cached. */
  rememberMs: number
}

/** Size of each cache of a process, in rows. */
const REMEMBERED_MAX = 10_000
const SEEN_EVERY_MS = 60_000

/** Resolves tokens to callers: realm and client from the token, the rest from the service's own tables. */
export function makeCallers(app: App, { rememberMs }: CallersOptions): Callers {
  const rows = rowsOf(app)
  const remembered = rememberedRows(rows, { forMs: rememberMs, max: REMEMBERED_MAX })
  const recordSeen = makeSeenRecorder(app)
  const verifier = makeVerifier({
    provider: app.identity,
    knows: async (slug, id) => (await clientOf(remembered, slug, id)) !== null,
  })

  async function merchantCaller(known: Rows, token: VerifiedToken, client: MerchantClient): Promise<Caller> {
    const isProgram = client.kind === 'server' || client.kind === 'credential'
    const person = isProgram ? null : await known.member(`${client.merchant_id} ${token.subject}`)
    if (person?.is_active === false) throw invalidToken()
    const tokenRoles = MERCHANT_ROLES.filter((role) => token.roles.includes(role))
    const name = isProgram ? client.client_id : (person?.email ?? token.email ?? token.subject)
    const roles = isProgram
      ? effectiveRoles(MERCHANT_ACTING_ROLES, tokenRoles.length === 0 ? [NO_ROLE] : tokenRoles, client.role ?? NO_ROLE)
      : effectiveRoles(MERCHANT_ACTING_ROLES, tokenRoles, person?.role)
    return {
      kind: 'merchant',
      roles,
      isActive: client.is_active,
      signIn: isProgram ? undefined : token,
      as: (role) => ({
        kind: 'merchant',
        merchantId: client.merchant_id,
        tradingName: client.trading_name,
        kybStatus: client.kyb_status,
        isActive: client.is_active,
        role,
        actor: { id: token.subject, name, role },
        proof: proofOf(token, roles),
      }),
    }
  }

  async function platformCaller(known: Rows, token: VerifiedToken, client: PlatformClient): Promise<Caller> {
    const person = client.kind === 'service' ? null : await known.staff(token.subject)
    if (person?.is_active === false) throw invalidToken()
    if (person !== null) recordSeen(person.id)
    const tokenRoles = PLATFORM_ROLES.filter((role) => token.roles.includes(role))
    const name = client.kind === 'service' ? client.client_id : (person?.email ?? token.email ?? token.subject)
    const roles = effectiveRoles(PLATFORM_ROLES, tokenRoles, person?.role ?? client.role ?? undefined)
    return {
      kind: 'platform',
      roles,
      signIn: client.kind === 'service' ? undefined : token,
      as: (role) => ({
        kind: 'platform',
        role,
        actor: { id: token.subject, name, role },
        proof: proofOf(token, roles),
      }),
    }
  }

  async function customerCaller(known: Rows, token: VerifiedToken): Promise<Caller> {
    const customerId = (await known.customer(`${token.clientId} ${token.subject}`)) ?? NO_CUSTOMER
    return {
      kind: 'customer',
      scopes: token.scopes,
      as: () => ({ kind: 'customer', customerId, clientId: token.clientId }),
    }
  }

  return {
    ofToken: async (text, { isFresh, gate, count }) => {
      const token = await verifier.verify(text, gate)
      count(`${token.slug} ${token.clientId} ${token.subject}`)
      const known = isFresh ? rows : remembered
      // Also for a token that was verified before, because the client may have been revoked since.
      const found = await clientOf(known, token.slug, token.clientId)
      if (found === null || (await hasEnded(known, token))) throw invalidToken()
      if (found.kind === 'merchant') return merchantCaller(known, token, found.client)
      return found.kind === 'platform' ? platformCaller(known, token, found.client) : customerCaller(known, token)
    },
  }
}

/** Reads clients and people from the service's own tables. */
type Rows = {
  merchantClient(clientId: string): Promise<MerchantClient | null>
  staffClient(clientId: string): Promise<PlatformClient | null>
  staff(subject: string): Promise<PlatformUser | null>
  /** The key is the merchant's id and the person's `sub`, with a space between. */
  member(key: string): ReturnType<typeof identifyMember>
  /** The customer that the client was created for, else the one with this `sub`. The key is both, with a space between. */
  customer(key: string): Promise<string | null>
  /** The time up to which tokens are rejected. The key is realm, signing key, client and `sub`, with spaces between. */
  tokenCutoff(key: string): Promise<number | null>
}

/** Whether the sign-in, secret or key that the token came from has ended since. */
async function hasEnded(known: Rows, { slug, keyId, clientId, subject, issuedAtMs }: VerifiedToken): Promise<boolean> {
  const cutoffMs = await known.tokenCutoff(`${slug} ${keyId} ${clientId} ${subject}`)
  return cutoffMs !== null && issuedAtMs <= cutoffMs
}

function rowsOf(app: App): Rows {
  return {
    merchantClient: (clientId) => identifyMerchant(app, clientId),
    staffClient: (clientId) => identifyStaffClient(app, clientId),
    staff: (subject) => identifyStaff(app, subject),
    member: (key) => {
      const at = key.indexOf(' ')
      return identifyMember(app, { merchantId: key.slice(0, at), subject: key.slice(at + 1) })
    },
    customer: (key) => {
      const at = key.indexOf(' ')
      return identifyCustomer(app, { clientId: key.slice(0, at), externalId: key.slice(at + 1) })
    },
    tokenCutoff: (key) => {
      const [slug = '', keyId = '', clientId = '', ...subject] = key.split(' ')
      return identifyTokenCutoff(app, { slug, keyId, clientId, subject: subject.join(' ') })
    },
  }
}

function rememberedRows(rows: Rows, limits: CacheLookupOptions): Rows {
  return {
    merchantClient: cacheLookup(rows.merchantClient, limits),
    staffClient: cacheLookup(rows.staffClient, limits),
    staff: cacheLookup(rows.staff, limits),
    member: cacheLookup(rows.member, limits),
    customer: cacheLookup(rows.customer, limits),
    tokenCutoff: cacheLookup(rows.tokenCutoff, limits),
  }
}

/** A client id belongs to one realm; the same id in another realm is a different client (decision 65). */
async function clientOf(known: Rows, slug: string, clientId: string): Promise<Client | null> {
  if (slug === CUSTOMERS_REALM) return realmOfClientId(clientId) === slug ? { kind: 'customers' } : null
  if (slug === PLATFORM_REALM) {
    const client = await known.staffClient(clientId)
    return client === null ? null : { kind: 'platform', client }
  }
  const client = await known.merchantClient(clientId)
  return client === null || client.realm_slug !== slug ? null : { kind: 'merchant', client }
}

type Client =
  | { kind: 'merchant'; client: MerchantClient }
  | { kind: 'platform'; client: PlatformClient }
  | { kind: 'customers' }

const MERCHANT_ACTING_ROLES: readonly MerchantActingRole[] = [...MERCHANT_ROLES, NO_ROLE]

/**
 * The roles of a caller: the narrower of each role in the token and the role in the service's own row. A person without a
 * row has the roles of the token.
 */
function effectiveRoles<R extends Role>(order: readonly R[], tokenRoles: readonly R[], ofRow: R | undefined): R[] {
  const roles = new Set(tokenRoles.map((role) => (ofRow === undefined ? role : commonRole(role, ofRow))))
  return order.filter((role) => roles.has(role))
}

function proofOf({ slug, clientId, expiresAt }: VerifiedToken, roles: readonly Role[]): Proof {
  return { realm: slug, clientId, expiresAt: new Date(expiresAt * 1000).toISOString(), roles }
}

/** Records when people were last seen, at most once a minute each. No request waits for it or fails with it. */
function makeSeenRecorder(app: App): (userId: string) => void {
  const marked = new Map<string, number>()
  return (userId) => {
    const now = performance.now()
    if (now - (marked.get(userId) ?? -Infinity) < SEEN_EVERY_MS) return
    setBounded(marked, userId, now, REMEMBERED_MAX)
    noteSeen(app, userId).catch((error: unknown) =>
      app.log.debug({ err: error }, 'could not record when a user was last seen'),
    )
  }
}
