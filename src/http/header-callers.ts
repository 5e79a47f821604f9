import type { IncomingHttpHeaders } from 'node:http'
import { identifyCustomer } from '../accounts/identify.ts'
import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { SCOPES } from '../lib/permissions.ts'
import { cacheLookup } from '../lib/cached-lookup.ts'
import { identifyMerchant } from '../merchants/identify.ts'
import type { MerchantClient } from '../merchants/record.ts'
import type { MerchantPrincipal, PlatformPrincipal } from './principal.ts'
import type { Asked, Caller, CallersOptions } from './callers.ts'

/** Who calls where there is no identity provider: whoever the headers say (decision 57). */
export type HeaderCallers = {
  /** @throws {DomainError} UNAUTHENTICATED, UNKNOWN_CLIENT */
  merchant(headers: IncomingHttpHeaders, asked: Asked): Promise<Caller>
  /** @throws {DomainError} UNAUTHENTICATED */
  operator(headers: IncomingHttpHeaders): Caller
  /** A customer by the external id. @throws {DomainError} UNAUTHENTICATED */
  customer(headers: IncomingHttpHeaders): Promise<Caller>
  /** An operator who need not give a name (decision 60). @throws {DomainError} UNAUTHENTICATED */
  sandbox(headers: IncomingHttpHeaders): Caller
}

/** Clients that a process remembers. */
const REMEMBERED_MAX = 10_000

const EXTERNAL_ID = /^[\x21-\x7e]{1,255}$/
const OPERATOR_NAME = /^[\x21-\x7e]{1,64}$/
/** Who makes things in the sandbox without giving a name. */
const NOBODY = 'sandbox'

/** Any of a merchant's client ids acts as its ADMIN, any name as an OWNER of the platform. */
export function makeHeaderCallers(app: App, { rememberMs }: CallersOptions): HeaderCallers {
  const look = (clientId: string): Promise<MerchantClient | null> => identifyMerchant(app, clientId)
  const find = cacheLookup(look, { forMs: rememberMs, max: REMEMBERED_MAX })
  return {
    merchant: async (headers, { isFresh }) => {
      const clientId = single(headers['x-merchant-client-id'])
      if (clientId === '') {
        throw new DomainError('UNAUTHENTICATED', 'the request does not say which merchant it comes from', {
          next: 'send the header X-Merchant-Client-Id',
        })
      }
      const client = await (isFresh ? look(clientId) : find(clientId))
      if (client === null) throw new DomainError('UNKNOWN_CLIENT', 'no merchant has this client id')
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
      return { kind: 'merchant', roles: ['ADMIN'], isActive: client.is_active, as }
    },
    customer: async (headers) => {
      const externalId = single(headers['x-customer-id'])
      const customerId = EXTERNAL_ID.test(externalId) ? await identifyCustomer(app, { clientId: '', externalId }) : null
      if (customerId === null) {
        const message =
          externalId === '' ? 'the request does not say which customer it comes from' : 'no customer has this id'
        throw new DomainError('UNAUTHENTICATED', message, {
          next: 'send the header X-Customer-Id; svc up tells a customer to try with, and svc sandbox accounts lists others',
        })
      }
      return { kind: 'customer', scopes: SCOPES, as: () => ({ kind: 'customer', customerId, clientId: '' }) }
    },
    operator: (headers) => named(headers['x-platform-user']),
    sandbox: (headers) => named(headers['x-platform-user'] ?? NOBODY),
  }
}

function named(header: string | string[] | undefined): Caller {
  const name = single(header)
  if (!OPERATOR_NAME.test(name)) {
    const message = name === '' ? 'the request does not say which operator it comes from' : 'X-Platform-User is no name'
    throw new DomainError('UNAUTHENTICATED', message, {
      next: 'send 1 to 64 printable ASCII characters without spaces in the header X-Platform-User',
    })
  }
  const as = (role: PlatformPrincipal['role']): PlatformPrincipal => ({
    kind: 'platform',
    role,
    actor: { id: name, name, role },
    proof: { realm: null, clientId: null, expiresAt: null, roles: ['OWNER'] },
  })
  return { kind: 'platform', roles: ['OWNER'], as }
}

function single(header: string | string[] | undefined): string {
  return typeof header === 'string' ? header : ''
}
