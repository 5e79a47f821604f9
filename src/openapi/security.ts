import type { Config } from '../config/config.ts'
import type { IdentityProvider } from '../identity/provider.ts'
import { CUSTOMERS_REALM, PLATFORM_REALM, issuerOf } from '../lib/realms.ts'
import type { Access, Operation } from '../wire/operation.ts'
import type { Json } from './schemas.ts'

/** The settings of the service that the document shows. */
export type DocumentedService = {
  publicUrl: string
  config: Pick<Config, 'mode'>
  identity: Pick<IdentityProvider, 'kind' | 'authUrl'>
}

/** The two surfaces of the service: the Open Banking API, and payment acquiring (contract §Versioning). */
export type Surface = 'a' | 'b'

type Security = Readonly<Record<Access, readonly Json[]>>

const BY_HEADERS: Security = {
  merchant: [{ merchantClientId: [] }],
  platform: [{ platformUser: [] }],
  customer: [{ customerId: [] }],
  'payment-state': [{ paymentState: [] }],
  'checkout-token': [{ checkoutToken: [] }],
  payer: [{ payerSession: [] }],
  bank: [{}],
  // The name may be left out.
  sandbox: [{ platformUser: [] }, {}],
  anyone: [{}],
}

const BY_TOKENS: Security = {
  ...BY_HEADERS,
  merchant: [{ merchantToken: [] }],
  platform: [{ platformToken: [] }],
  customer: [{ customerToken: [] }],
  sandbox: [{ platformToken: [] }],
}

/** The credentials that an operation takes, each an alternative. */
export function securityOf(operation: Operation, { identity }: DocumentedService): Json[] {
  const security = identity.kind === 'none' ? BY_HEADERS : BY_TOKENS
  return operation.access
    .flatMap((access) => security[access])
    .flatMap((requirement) => withScopes(operation, requirement))
}

/** One scope is enough, so each is an alternative of its own. Trusted headers have no scopes. */
function withScopes({ scopes = [] }: Operation, requirement: Json): Json[] {
  return 'customerToken' in requirement ? scopes.map((scope) => ({ customerToken: [scope] })) : [requirement]
}

/** The security schemes of a surface: Surface A has customers' credentials, Surface B all others. */
export function securitySchemes({ identity: { authUrl } }: DocumentedService, surface: Surface): Json {
  const { customerId, customerToken, ...others }: Json = authUrl === null ? HEADER_SCHEMES : tokenSchemes(authUrl)
  if (surface === 'b') return { ...others, ...BROWSER_SCHEMES }
  return customerToken === undefined ? { customerId } : { customerToken }
}

function header(name: string, description: string): Json {
  return { type: 'apiKey', in: 'header', name, description }
}

/** Credentials of payers' browsers, whatever the identity provider. */
const BROWSER_SCHEMES: Json = {
  paymentState: header('X-Payment-State', "The `state` of one payment, in its payer's browser."),
  checkoutToken: header('X-Checkout-Token', 'The token that a merchant signed for one order.'),
  payerSession: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The session of a payer in the hub, from `verifyPayerLink`.',
  },
}

const HEADER_SCHEMES: Json = {
  merchantClientId: header(
    'X-Merchant-Client-Id',
    'The client id of a merchant, trusted without an identity provider.',
  ),
  platformUser: header('X-Platform-User', "An operator's name, trusted without an identity provider."),
  customerId: header('X-Customer-Id', "A customer's id, trusted without an identity provider."),
}

/** Every merchant has an issuer of its own, so its scheme only describes where to find it; the platform's is known. */
function tokenSchemes(authUrl: string): Json {
  return {
    merchantToken: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: `An access token of the merchant's realm. Its discovery document is at ${discoveryOf(authUrl, '<realm>')}.`,
    },
    platformToken: {
      type: 'openIdConnect',
      openIdConnectUrl: discoveryOf(authUrl, PLATFORM_REALM),
      description: "An access token of the operators' realm.",
    },
    customerToken: {
      type: 'openIdConnect',
      openIdConnectUrl: discoveryOf(authUrl, CUSTOMERS_REALM),
      description: "An access token of the customers' realm, with the scope of the operation.",
    },
  }
}

function discoveryOf(authUrl: string, realm: string): string {
  return `${issuerOf(authUrl, realm)}/.well-known/openid-configuration`
}
