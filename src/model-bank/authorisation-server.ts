import { Provider, errors } from 'oidc-provider'
import type { Account, AdapterPayload, Configuration, KoaContextWithOIDC } from 'oidc-provider'
import { z } from 'zod'
import type { Books, Consent } from './books.ts'
import { clientCertificateOf, hasSubject } from './client-certificate.ts'
import type { Directory } from './directory.ts'
import type { Faults } from './faults.ts'
import { makeProtocolState } from './protocol-state.ts'
import type { ProtocolRows } from './protocol-state.ts'
import type { Quirks } from './quirks.ts'
import { SIGNING_ALGORITHM } from './signing-keys.ts'
import type { SigningKey } from './signing-keys.ts'

export const SCA = 'urn:openbanking:psd2:sca'
export const SCOPES = ['openid', 'payments']
/** One payer is enough: what differs between payments is the consent. */
export const PAYER = 'payer-0001'
export const INTENT_CLAIM = 'openbanking_intent_id'

export const INTERACTION_PATH = '/interaction'
export const TOKEN_PATH = '/token'
export const PUSHED_REQUEST_PATH = '/par'
export const DISCOVERY_PATH = '/.well-known/openid-configuration'
export const AUTHORISATION_PATH = '/authorize'
export const JWKS_PATH = '/jwks'
export const REGISTRATION_PATH = '/register'

const ANOTHER_BANK = 'https://another-bank.example'

const LIFETIMES = { AccessToken: 300, AuthorizationCode: 60, ClientCredentials: 300, IdToken: 600 }
const DAY_SECONDS = 86_400

export type AuthorisationServerParts = {
  issuer: string
  signingKey: SigningKey
  /** The keys that sign messages: announced beside the one for id tokens. */
  messageKeys: readonly SigningKey[]
  books: Books
  directory: Directory
  quirks: Quirks
  faults: Faults
  protocol: ProtocolRows
}

export type AuthorisationServer = { provider: Provider; endAccessTokens(): void }

/** The bank's authorisation server: FAPI 1.0 Advanced, as the Open Banking security profile asks. */
export function makeAuthorisationServer(parts: AuthorisationServerParts): AuthorisationServer {
  const { issuer, signingKey } = parts
  const { adapter, endAccessTokens } = makeProtocolState(parts.protocol, (clientId) => findClient(parts, clientId))
  const provider = new Provider(issuer, {
    adapter,
    jwks: { keys: [signingKey.privateJwk] },
    routes: {
      authorization: AUTHORISATION_PATH,
      token: TOKEN_PATH,
      jwks: JWKS_PATH,
      pushed_authorization_request: PUSHED_REQUEST_PATH,
      revocation: '/revoke',
    },
    scopes: SCOPES,
    claims: { openid: ['sub', INTENT_CLAIM], acr: null, auth_time: null },
    acrValues: [SCA, 'urn:openbanking:psd2:ca'],
    responseTypes: ['code id_token'],
    clientAuthMethods: ['private_key_jwt', 'tls_client_auth'],
    enabledJWA: onlyPs256(),
    clientDefaults: { id_token_signed_response_alg: SIGNING_ALGORITHM },
    cookies: { keys: [crypto.randomUUID()] },
    interactions: { url: (_ctx, { uid }) => `${INTERACTION_PATH}/${uid}` },
    findAccount: (ctx, sub, token) => findPayer(ctx, parts.books, { sub, token }),
    // Each request is approved by itself: nothing that the payer granted before counts.
    loadExistingGrant: async ({ oidc }) => {
      const grantId = oidc.result?.consent?.grantId
      return grantId === undefined ? undefined : oidc.provider.Grant.find(grantId)
    },
    expiresWithSession: async () => false,
    rotateRefreshToken: true,
    issueRefreshToken: async (_ctx, client, code) =>
      client.grantTypeAllowed('refresh_token') && consentOfGrant(parts.books, code.grantId)?.kind === 'domestic-vrp',
    assertJwtClientAuthClaimsAndHeader: async (_ctx, { aud }) => {
      const expected = parts.quirks.has('assertion_audience_issuer') ? issuer : `${issuer}${TOKEN_PATH}`
      if (aud !== expected) throw new errors.InvalidClientAuth(`aud must be ${expected}`)
    },
    features: featuresOf(parts),
    ttl: { ...LIFETIMES, Grant: 90 * DAY_SECONDS, RefreshToken: 90 * DAY_SECONDS, Session: 3_600, Interaction: 3_600 },
    clockTolerance: 5,
  })
  alterAnnouncements(provider, parts)
  return { provider, endAccessTokens }
}

/** The library announces what it can do; banks announce what they let clients use. */
function alterAnnouncements(
  provider: Provider,
  { issuer, quirks, faults, messageKeys }: AuthorisationServerParts,
): void {
  provider.use(async (ctx, next) => {
    await next()
    if (typeof ctx.body !== 'object' || ctx.body === null) return
    const { pushed_authorization_request_endpoint: pushed, ...rest }: Record<string, unknown> = { ...ctx.body }
    if (ctx.path === JWKS_PATH && Array.isArray(rest['keys'])) {
      ctx.body = { keys: [...rest['keys'], ...messageKeys.map(({ publicJwk }) => publicJwk)] }
    }
    if (ctx.path !== DISCOVERY_PATH) return
    const hasRegistration = !quirks.has('discovery_elsewhere') && !quirks.has('no_registration_endpoint')
    ctx.body = {
      ...rest,
      ...(quirks.has('pushed_requests') ? { pushed_authorization_request_endpoint: pushed } : {}),
      ...(hasRegistration ? { registration_endpoint: `${issuer}${REGISTRATION_PATH}` } : {}),
      ...(faults.take('another_issuer', 'discovery') ? { issuer: ANOTHER_BANK } : {}),
      ...(faults.take('another_token_endpoint', 'discovery') ? { token_endpoint: `${ANOTHER_BANK}${TOKEN_PATH}` } : {}),
    }
  })
}

function onlyPs256(): Configuration['enabledJWA'] {
  return {
    idTokenSigningAlgValues: [SIGNING_ALGORITHM],
    requestObjectSigningAlgValues: [SIGNING_ALGORITHM],
    clientAuthSigningAlgValues: [SIGNING_ALGORITHM],
  }
}

function featuresOf({ books, quirks }: AuthorisationServerParts): Configuration['features'] {
  return {
    devInteractions: { enabled: false },
    userinfo: { enabled: false },
    resourceIndicators: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    dPoP: { enabled: false },
    claimsParameter: { enabled: true },
    clientCredentials: { enabled: true },
    revocation: { enabled: true },
    fapi: { enabled: true, profile: '1.0 Final' },
    pushedAuthorizationRequests: { enabled: true },
    requestObjects: {
      enabled: true,
      requireSignedRequestObject: true,
      assertJwtClaimsAndHeader: async (ctx, claims) => {
        if (quirks.has('nonce_in_query') && ctx.query['nonce'] !== claims['nonce']) {
          throw new errors.InvalidRequest('nonce must be in the query')
        }
        checkRequestObject(books, claims)
      },
    },
    mTLS: {
      enabled: true,
      certificateBoundAccessTokens: true,
      tlsClientAuth: true,
      getCertificate: ({ req }) => clientCertificateOf(req),
      certificateAuthorized: ({ req }) => clientCertificateOf(req) !== undefined,
      certificateSubjectMatches: ({ req }, property, expected) => {
        const certificate = clientCertificateOf(req)
        return (
          property === 'tls_client_auth_subject_dn' && certificate !== undefined && hasSubject(certificate, expected)
        )
      },
    },
  }
}

/** Clients as the library reads them: as registered, with the keys that the directory lists for them now. */
function findClient(
  { books, directory, quirks }: AuthorisationServerParts,
  clientId: string,
): AdapterPayload | undefined {
  const registration = books.registrations.get(clientId)
  if (registration === undefined) return undefined
  return {
    ...registration.metadata,
    client_id: clientId,
    require_pushed_authorization_requests: quirks.has('pushed_requests'),
    jwks: { keys: [...directory.keysOf(registration.softwareId).keys] },
  }
}

/** No tokens for a consent that has ended. Which consent it is shows when claims are made, not before. */
function findPayer(
  { oidc }: KoaContextWithOIDC,
  books: Books,
  { sub, token }: { sub: string; token: unknown },
): Account | undefined {
  const ofToken = typeof token === 'object' && token !== null && 'grantId' in token ? token.grantId : undefined
  const grantId = typeof ofToken === 'string' ? ofToken : undefined
  const status = consentOfGrant(books, grantId)?.status
  if (status === 'revoked' || status === 'rejected') return undefined
  return {
    accountId: sub,
    claims: async () => {
      const consent = consentOfGrant(books, grantId ?? oidc.entities.Grant?.jti)
      return { sub, ...(consent === undefined ? {} : { [INTENT_CLAIM]: consent.id }) }
    },
  }
}

function consentOfGrant(books: Books, grantId: string | undefined): Consent | undefined {
  if (grantId === undefined) return undefined
  return [...books.consents.values()].find((consent) => consent.grantId === grantId)
}

const RequestObject = z.object({
  client_id: z.string(),
  redirect_uri: z.string(),
  nonce: z.string().min(8),
  state: z.string().min(8),
  exp: z.number(),
  nbf: z.number(),
  claims: z.object({
    id_token: z.object({
      [INTENT_CLAIM]: z.object({ value: z.string(), essential: z.literal(true) }),
      acr: z.object({ essential: z.literal(true), values: z.array(z.string()).min(1) }),
    }),
  }),
})

/** What the library leaves to us: the window of time, the exact redirect address, and the consent that is meant. */
function checkRequestObject(books: Books, claims: unknown): void {
  const result = RequestObject.safeParse(claims)
  if (!result.success) {
    const [issue] = result.error.issues
    throw new errors.InvalidRequestObject(
      `${issue?.path.join('.') ?? 'a claim'} is missing or wrong in the request object`,
    )
  }
  const { client_id: clientId, redirect_uri: redirectUri, exp, nbf, claims: requested } = result.data
  if (exp <= nbf || exp - nbf > 3_600) throw new errors.InvalidRequestObject('exp must follow nbf within an hour')
  const registered = books.registrations.get(clientId)?.metadata['redirect_uris']
  if (!Array.isArray(registered) || !registered.includes(redirectUri)) {
    throw new errors.InvalidRequestObject('redirect_uri is not registered')
  }
  const consent = books.consents.get(requested.id_token[INTENT_CLAIM].value)
  if (consent?.clientId !== clientId)
    throw new errors.InvalidRequestObject('openbanking_intent_id is no consent of this client')
}
