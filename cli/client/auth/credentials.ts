import { CUSTOMERS_REALM } from '../../../src/lib/realms.ts'
import { CHECKOUT_TOKEN_HEADER } from '../../../src/wire/checkout.ts'
import type { Access } from '../../../src/wire/operation.ts'
import { CliError } from '../../base/errors.ts'
import type { Client } from '../call.ts'
import { clientCredentialsSource } from './token-source.ts'
import type { ServiceClient, Token, TokenSource } from './token-source.ts'
import type { OperationAccess } from './wrong-profile-kind.ts'

export type Http = Pick<Client, 'dispatcher' | 'timeoutMs'>

type Headers = Record<string, string>

/** What chose the identity of a command, as messages name it: `name` is a client id, or that of the profile. */
export type Chosen = {
  by: '--client-id' | 'SVC_CLIENT_ID' | 'SVC_TOKEN' | 'profile' | 'dev'
  name: string | undefined
}

export type Identity = { clientId: string | undefined; realm: string | undefined }

/** How a client proves who it acts as. Made by the builders below; nothing is requested before the first call needs it. */
export type Credentials = {
  /** The merchant that a merchant's operations act for, as far as that is known: to show it, and to find what is its own. */
  readonly merchant: Identity | undefined
  /** The operator that an operator's operations act for; undefined where names are enough, or it is not known yet. */
  readonly platform?: Identity | undefined
  /** The bank's customer that Open Banking operations act for, as far as that is known. */
  readonly customer?: Identity | undefined
  /** What chose it, for the message that says how to choose another; undefined where the program made it itself. */
  readonly chosen?: Chosen | undefined
  /**
   * The headers that an operation asks for; none where anyone may call it.
   * @throws {CliError} NOT_SIGNED_IN where nothing proves what it asks for
   */
  headersFor(operation: OperationAccess, http: Http): Promise<Headers>
  /** After the service refused these headers: whether there are others now. */
  refresh(operation: OperationAccess, http: Http, refused: Readonly<Headers>): Promise<boolean>
  /** After it refused the others too: forgets the session that they are of, and says so. Undefined where it is none. */
  end(operation: OperationAccess, refused: Readonly<Headers>): Promise<CliError | undefined>
  /** The token that an operation would be called with; undefined where names are enough. */
  token(operation: OperationAccess, http: Http): Promise<(Token & Pick<TokenSource, 'realm' | 'clientId'>) | undefined>
  /** The same operator, acting for another merchant; its secret counts only where there is an identity provider. */
  asMerchant(merchant: ServiceClient): Credentials
  /** The same operator, acting for a customer of the bank: by its client where there is an identity provider, else by its id. */
  asCustomer(customer: ActingCustomer): Credentials
}

/** A customer with the client that may act for it; undefined without an identity provider. */
type ActingCustomer = { customerId: string; client: ServiceClient | undefined }

/** Without an identity provider names are enough (decision 57). */
export function headerCredentials(names: {
  clientId: string | undefined
  platformUser: string | undefined
  customerId?: string | undefined
}): Credentials {
  const { clientId, platformUser, customerId } = names
  return {
    merchant: clientId === undefined ? undefined : { clientId, realm: undefined },
    customer: customerId === undefined ? undefined : { clientId: undefined, realm: undefined },
    async headersFor({ access }) {
      if (access.includes('merchant') && clientId !== undefined) return { 'x-merchant-client-id': clientId }
      if (asksForPlatform(access)) return platformUser === undefined ? {} : { 'x-platform-user': platformUser }
      if (access.includes('merchant')) throw notSignedIn()
      if (!access.includes('customer')) return {}
      if (customerId === undefined) throw noCustomer()
      return { 'x-customer-id': customerId }
    },
    refresh: async () => false,
    end: async () => undefined,
    token: async () => undefined,
    asMerchant: (merchant) => headerCredentials({ ...names, clientId: merchant.clientId }),
    asCustomer: (customer) => headerCredentials({ ...names, customerId: customer.customerId }),
  }
}

/**
 * Clients with a secret: tokens by client_credentials, asked for when first needed and kept in memory until shortly
 * before they expire. The merchant's client proves a merchant's operations, the platform's those of operators,
 * a customer's those of Open Banking.
 */
export function serviceCredentials(parts: {
  authUrl: string
  merchant?: ServiceClient | undefined
  platform?: ServiceClient | undefined
  customer?: ServiceClient | undefined
}): Credentials {
  const { authUrl, merchant, platform, customer } = parts
  return tokenCredentials({
    authUrl,
    merchant: merchant && clientCredentialsSource(authUrl, merchant),
    platform: platform && clientCredentialsSource(authUrl, platform),
    customer: customer && clientCredentialsSource(authUrl, customer),
  })
}

type TokenParts = {
  authUrl: string
  merchant: TokenSource | undefined
  platform: TokenSource | undefined
  customer?: TokenSource | undefined
  /** What to say where none that is asked for is there. */
  refuse?: (asked: OperationAccess) => CliError
}

export function tokenCredentials(parts: TokenParts): Credentials {
  const { authUrl, merchant, platform, customer } = parts
  return {
    merchant: merchant && { clientId: merchant.clientId, realm: merchant.realm },
    platform: platform && { clientId: platform.clientId, realm: platform.realm },
    customer: customer && { clientId: customer.clientId, realm: customer.realm },
    async headersFor(operation, http) {
      const source = sourceFor(operation, parts)
      return source === undefined ? {} : { authorization: `Bearer ${(await source.token(http)).accessToken}` }
    },
    async refresh(operation, http, refused) {
      const token = bearerOf(refused)
      const source = sourceFor(operation, parts)
      return token !== undefined && source !== undefined && source.renew(http, token)
    },
    async end(operation, refused) {
      const token = bearerOf(refused)
      return token === undefined ? undefined : sourceFor(operation, parts)?.end?.(token)
    },
    async token(operation, http) {
      const source = sourceFor(operation, parts)
      if (source === undefined) return undefined
      return { ...(await source.token(http)), realm: source.realm, clientId: source.clientId }
    },
    asMerchant: (other) => tokenCredentials({ ...parts, merchant: clientCredentialsSource(authUrl, other) }),
    asCustomer: ({ client }) =>
      tokenCredentials({ ...parts, customer: client && clientCredentialsSource(authUrl, client) }),
  }
}

function bearerOf(headers: Readonly<Headers>): string | undefined {
  return /^Bearer (.+)$/.exec(headers['authorization'] ?? '')?.[1]
}

/** Credentials that need to ask the service something before they can be made; an answer is asked for once. */
export function lazyCredentials(
  merchant: Credentials['merchant'],
  make: (http: Http) => Promise<Credentials>,
): Credentials {
  let made: Promise<Credentials> | undefined
  const get = (http: Http): Promise<Credentials> => {
    made ??= make(http).catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
  return {
    merchant,
    headersFor: async (operation, http) =>
      isOpen(operation.access) ? {} : (await get(http)).headersFor(operation, http),
    refresh: async (operation, http, refused) => (await get(http)).refresh(operation, http, refused),
    end: async (operation, refused) => (await made)?.end(operation, refused),
    token: async (operation, http) => (await get(http)).token(operation, http),
    asMerchant: (other) => lazyCredentials(other, async (http) => (await get(http)).asMerchant(other)),
    asCustomer: (other) => lazyCredentials(merchant, async (http) => (await get(http)).asCustomer(other)),
  }
}

/** For operations that anyone may call, before the caller is known. */
export function noCredentials(): Credentials {
  return headerCredentials({ clientId: undefined, platformUser: undefined })
}

/** Whose token an operation asks for: where both a merchant's and an operator's do, the merchant's comes first. */
function sourceFor(asked: OperationAccess, parts: TokenParts): TokenSource | undefined {
  const { access } = asked
  const { merchant, platform, customer, refuse } = parts
  if (access.includes('merchant') && merchant !== undefined) return merchant
  if (asksForPlatform(access) && platform !== undefined) return platform
  if (access.includes('customer') && customer !== undefined) return customer
  if (isOpen(access)) return undefined
  throw refuse?.(asked) ?? notSignedIn(loginFor(access))
}

function loginFor(access: readonly Access[]): string | undefined {
  if (access.includes('merchant')) return undefined
  return asksForPlatform(access) ? 'svc login --platform' : 'svc login --customer'
}

function asksForPlatform(access: readonly Access[]): boolean {
  return access.includes('platform') || access.includes('sandbox')
}

function isOpen(access: readonly Access[]): boolean {
  return !access.includes('merchant') && !access.includes('customer') && !asksForPlatform(access)
}

export function actsAsCustomer({ merchant, customer }: Pick<Credentials, 'merchant' | 'customer'>): boolean {
  return merchant === undefined ? customer !== undefined : merchant.realm === CUSTOMERS_REALM
}

function noCustomer(): CliError {
  return new CliError('NOT_SIGNED_IN', 'nothing says which customer to act for', {
    hint: '--customer <id>, or SVC_CUSTOMER_ID; as the operator, which there are: svc sandbox accounts\nwith an identity provider: svc login --customer',
  })
}

export function notSignedIn(
  hint = 'svc login --realm <realm>\nwithout an identity provider: the same command with --client-id <id>',
): CliError {
  return new CliError('NOT_SIGNED_IN', 'not signed in', { hint })
}

/** The same service, called with these headers as the only proof; there are no others to try when they are refused. */
function provenBy(client: Client, headers: Readonly<Record<string, string>>): Client {
  const credentials: Client['credentials'] = {
    ...client.credentials,
    headersFor: async () => ({ ...headers }),
    refresh: async () => false,
    end: async () => undefined,
  }
  return { ...client, credentials }
}

/** As the payer's browser before there is a payment: the checkout token is all it has. */
export function withCheckoutToken(client: Client, token: string): Client {
  return provenBy(client, { [CHECKOUT_TOKEN_HEADER]: token })
}

/** As the payer's browser in a payment: by the state that leads it to its bank and back (decision 66). */
export function withPaymentState(client: Client, state: string): Client {
  return provenBy(client, { 'x-payment-state': state })
}

/** As the payer in the hub, by a session. */
export function withPayerSession(client: Client, sessionToken: string): Client {
  return provenBy(client, { authorization: `Bearer ${sessionToken}` })
}
