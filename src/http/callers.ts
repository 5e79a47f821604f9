import { NO_CUSTOMER, identifyCustomer } from '../accounts/identify.ts'
import type { App } from '../app.ts'
import { makeVerifier, invalidToken } from '../identity/verifier.ts'
import type { VerifiedToken } from '../identity/verifier.ts'
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

/** A proven caller, before it is known which role an operation needs. `roles` holds what it may act as, in table order. */
export type Caller =
  | {
      kind: 'merchant'
      roles: readonly MerchantActingRole[]
      isActive: boolean
      as(role: MerchantActingRole): MerchantPrincipal
    }
  | { kind: 'platform'; roles: readonly PlatformRole[]; as(role: PlatformRole): PlatformPrincipal }
  /** A bank's customer, whose tokens are for Surface A alone (decision 58). */
  | { kind: 'customer'; scopes: readonly string[]; as(): CustomerPrincipal }

export type Callers = {
  /**
   * Who a bearer token belongs to, and as what it acts.
   * @throws {DomainError} UNAUTHENTICATED, TOKEN_EXPIRED, IDP_UNAVAILABLE
   */
  ofToken(token: string, asked: Asked): Promise<Caller>
}

/** How a caller is asked about: afresh where nothing that is remembered may count. */
export type Asked = { isFresh: boolean }

export type CallersOptions = {
  /** How long clients and people are remembered where they need not be asked about afresh. */
  rememberMs: number
}

/** Clients and people that a process remembers, of each kind. */
const REMEMBERED_MAX = 10_000
const SEEN_EVERY_MS = 60_000

/** Resolves tokens to callers: realm and client from the token, the rest from the service's own tables. */
export function makeCallers(app: App, { rememberMs }: CallersOptions): Callers {
  const rows = rowsOf(app)
  const remembered = rememberedRows(rows, { forMs: rememberMs, max: REMEMBERED_MAX })
  const seen = seenMarks(app)
  const verifier = makeVerifier({
    provider: app.identity,
    knows: async (slug, id) => (await clientOf(remembered, slug, id)) !== null,
  })

  async function merchantCaller(known: Rows, token: VerifiedToken, client: MerchantClient): Promise<Caller> {
    const isProgram = client.kind === 'server' || client.kind === 'credential'
    const person = isProgram ? null : await known.member(`${client.merchant_id} ${token.subject}`)
    if (person?.is_active === false) throw invalidToken()
    const inToken = MERCHANT_ROLES.filter((role) => token.roles.includes(role))
    const name = isProgram ? client.client_id : (person?.email ?? token.email ?? token.subject)
    const roles = isProgram
      ? effective(ACTS, inToken.length === 0 ? [NO_ROLE] : inToken, client.role ?? NO_ROLE)
      : effective(ACTS, inToken, person?.role)
    return {
      kind: 'merchant',
      roles,
      isActive: client.is_active,
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
    if (person !== null) seen(person.id)
    const inToken = PLATFORM_ROLES.filter((role) => token.roles.includes(role))
    const name = client.kind === 'service' ? client.client_id : (person?.email ?? token.email ?? token.subject)
    const roles = effective(PLATFORM_ROLES, inToken, person?.role ?? client.role ?? undefined)
    return {
      kind: 'platform',
      roles,
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
    ofToken: async (text, { isFresh }) => {
      const token = await verifier.verify(text)
      const known = isFresh ? rows : remembered
      // Asked again of tokens that were checked before: a client may have been revoked since.
      const found = await clientOf(known, token.slug, token.clientId)
      if (found === null) throw invalidToken()
      if (found.kind === 'merchant') return merchantCaller(known, token, found.client)
      return found.kind === 'platform' ? platformCaller(known, token, found.client) : customerCaller(known, token)
    },
  }
}

/** What the service's own tables say of clients and people. */
type Rows = {
  merchantClient(clientId: string): Promise<MerchantClient | null>
  staffClient(clientId: string): Promise<PlatformClient | null>
  staff(subject: string): Promise<PlatformUser | null>
  /** By the merchant's id and the person's `sub`, with a space between. */
  member(key: string): ReturnType<typeof identifyMember>
  /** The customer that a client was made for, else the one with this `sub`: both, with a space between. */
  customer(key: string): Promise<string | null>
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
  }
}

function rememberedRows(rows: Rows, limits: CacheLookupOptions): Rows {
  return {
    merchantClient: cacheLookup(rows.merchantClient, limits),
    staffClient: cacheLookup(rows.staffClient, limits),
    staff: cacheLookup(rows.staff, limits),
    member: cacheLookup(rows.member, limits),
    customer: cacheLookup(rows.customer, limits),
  }
}

/** A client id belongs to one realm. The same id in another one is somebody else's (decision 65). */
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

const ACTS: readonly MerchantActingRole[] = [...MERCHANT_ROLES, NO_ROLE]

/**
 * What a caller may act as: a role of the token as far as the service's own row allows it, so that whichever of the two
 * says less counts. People whom the service does not know act as their token says.
 */
function effective<R extends Role>(order: readonly R[], inToken: readonly R[], ofRow: R | undefined): R[] {
  const roles = new Set(inToken.map((role) => (ofRow === undefined ? role : commonRole(role, ofRow))))
  return order.filter((role) => roles.has(role))
}

function proofOf({ slug, clientId, expiresAt }: VerifiedToken, roles: readonly Role[]): Proof {
  return { realm: slug, clientId, expiresAt: new Date(expiresAt * 1000).toISOString(), roles }
}

/** Notes that people were here, at most once a minute each; no request waits for it or fails with it. */
function seenMarks(app: App): (userId: string) => void {
  const marked = new Map<string, number>()
  return (userId) => {
    const now = performance.now()
    if (now - (marked.get(userId) ?? -Infinity) < SEEN_EVERY_MS) return
    setBounded(marked, userId, now, REMEMBERED_MAX)
    noteSeen(app, userId).catch((error: unknown) => app.log.debug({ err: error }, 'a visit was not noted'))
  }
}
