import type { IncomingHttpHeaders } from 'node:http'
import { identifyCustomer } from '../accounts/identify.ts'
import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { SCOPES } from '../lib/permissions.ts'
import { cacheLookup } from '../lib/cached-lookup.ts'
import { identifyMerchant } from '../merchants/identify.ts'
import type { MerchantClient } from '../merchants/record.ts'
import type { MerchantPrincipal, PlatformPrincipal } from './principal.ts'
import type { Caller, CallerLookup, CallersOptions } from './callers.ts'

/** Identifies callers by their headers, where there is no identity provider (decision 57). */
export type HeaderCallers = {
  /** @throws {DomainError} UNAUTHENTICATED, UNKNOWN_CLIENT */
  merchant(headers: IncomingHttpHeaders, lookup: CallerLookup): Promise<Caller>
  /** @throws {DomainError} UNAUTHENTICATED */
  operator(headers: IncomingHttpHeaders, lookup: CallerLookup): Caller
  /** A customer by the external id. @throws {DomainError} UNAUTHENTICATED */
  customer(headers: IncomingHttpHeaders, lookup: CallerLookup): Promise<Caller>
  /** An operator, whose name is optional (decision 60). @throws {DomainError} UNAUTHENTICATED */
  sandbox(headers: IncomingHttpHeaders, lookup: CallerLookup): Caller
}

/** Clients that a process caches. */
const REMEMBERED_MAX = 10_000

const EXTERNAL_ID = /^[\x21-\x7e]{1,255}$/
const OPERATOR_NAME = /^[\x21-\x7e]{1,64}$/
/** The operator's name for sandbox requests without one. */
const UNNAMED_OPERATOR = 'sandbox'

/** Any client id of a merchant is its ADMIN; any operator's name is an OWNER of the platform. */
export function makeHeaderCallers(app: App, { rememberMs }: CallersOptions): HeaderCallers {
  const read = (clientId: string): Promise<MerchantClient | null> => identifyMerchant(app, clientId)
  const find = cacheLookup(read, { forMs: rememberMs, max: REMEMBERED_MAX })
  return {
    merchant: async (headers, { isFresh, count }) => {
      const clientId = single(headers['x-merchant-client-id'])
      if (clientId === '') {
        throw new DomainError('UNAUTHENTICATED', 'the request names no merchant', {
          next: 'send the header X-Merchant-Client-Id',
        })
      }
      const client = await (isFresh ? read(clientId) : find(clientId))
      if (client === null) throw new DomainError('UNKNOWN_CLIENT', 'no merchant has this client id')
      count(clientId)
      const as = (role: MerchantPrincipal['role']): MerchantPrincipal => ({
        kind: 'merchant',
        merchantId: client.merchant_id,
        tradingName: client.trading_name,
        kybStatus: client.kyb_status,
        isActive: client.is_active,
        role,
        actor: { id: clientId, name: clientId, role },
        proof: { realm: null, clientId, expiresAt: null, roles: ['ADMIN'] },
      })
      return { kind: 'merchant', roles: ['ADMIN'], signIn: undefined, isActive: client.is_active, as }
    },
    customer: async (headers, { count }) => {
      const externalId = single(headers['x-customer-id'])
      const customerId = EXTERNAL_ID.test(externalId) ? await identifyCustomer(app, { clientId: '', externalId }) : null
      if (customerId === null) {
        const message = externalId === '' ? 'the request names no customer' : 'no customer has this id'
        throw new DomainError('UNAUTHENTICATED', message, {
          next: 'send the header X-Customer-Id; svc up prints a demo customer, and svc sandbox accounts lists others',
        })
      }
      count(`customer ${customerId}`)
      return { kind: 'customer', scopes: SCOPES, as: () => ({ kind: 'customer', customerId, clientId: '' }) }
    },
    operator: (headers, lookup) => named(headers['x-platform-user'], lookup),
    sandbox: (headers, lookup) => named(headers['x-platform-user'] ?? UNNAMED_OPERATOR, lookup),
  }
}

function named(header: string | string[] | undefined, { count }: CallerLookup): Caller {
  const name = single(header)
  if (!OPERATOR_NAME.test(name)) {
    const message = name === '' ? 'the request names no operator' : 'the header X-Platform-User is not a valid name'
    throw new DomainError('UNAUTHENTICATED', message, {
      next: 'send 1 to 64 printable ASCII characters without spaces in the header X-Platform-User',
    })
  }
  count(`platform ${name}`)
  const as = (role: PlatformPrincipal['role']): PlatformPrincipal => ({
    kind: 'platform',
    role,
    actor: { id: name, name, role },
    proof: { realm: null, clientId: null, expiresAt: null, roles: ['OWNER'] },
  })
  return { kind: 'platform', roles: ['OWNER'], signIn: undefined, as }
}

function single(header: string | string[] | undefined): string {
  return typeof header === 'string' ? header : ''
}
