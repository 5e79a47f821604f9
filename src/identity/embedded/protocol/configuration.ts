import { errors, interactionPolicy } from 'oidc-provider'
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider'
import { issuerOf } from '../../../lib/realms.ts'
import { ACR, asksForFactor } from '../../../lib/sign-in-levels.ts'
import { findAccount } from './accounts.ts'
import type { PastSignIn } from './accounts.ts'
import { makeAdapters } from './adapter.ts'
import { OWN_CLIENT_MEMBERS } from '../realms/clients.ts'
import { loadGrant } from './grants.ts'
import { SIGNING_ALGORITHM, openCookieKeys, openSigningKeys } from '../realms/keys.ts'
import { devicePages } from '../pages/device.ts'
import { errorPage } from '../pages/error.ts'
import { logoutPages } from '../pages/logout.ts'
import { themeOf } from '../pages/style.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { RealmRecord } from '../record.ts'
import { ACCESS_TOKEN_SECONDS, LIFETIMES } from './lifetimes.ts'
import { fillAccessToken } from './token-claims.ts'

/** Keycloak's paths below a realm, so that no URL changes when moving between the two providers. */
const PROTOCOL = '/protocol/openid-connect'
const ROUTES = {
  authorization: `${PROTOCOL}/auth`,
  token: `${PROTOCOL}/token`,
  jwks: `${PROTOCOL}/certs`,
  userinfo: `${PROTOCOL}/userinfo`,
  end_session: `${PROTOCOL}/logout`,
  revocation: `${PROTOCOL}/revoke`,
  device_authorization: `${PROTOCOL}/auth/device`,
  code_verification: '/device',
}

export const AUTHORIZATION_PATH = ROUTES.authorization
export const USERINFO_PATH = ROUTES.userinfo
export const LOGOUT_PATH = ROUTES.end_session
export const TOKEN_PATH = ROUTES.token
export const DEVICE_AUTHORIZATION_PATH = ROUTES.device_authorization
/** Public even while the realm is disabled: tokens issued before can still be verified. */
export const OPEN_PATHS: readonly string[] = [ROUTES.jwks, '/.well-known/openid-configuration']

/**
 * The library also accepts paths in upper case and with a trailing slash; our own comparisons need the canonical form.
 */
export function canonicalPath(path: string): string {
  const folded = path.toLowerCase().replace(/(?<=.)\/$/, '')
  return Object.values(ROUTES).find((route) => route === folded) ?? path
}

/** The path a realm is mounted at, without a trailing slash. */
export function mountOf({ publicUrl }: Pick<EmbeddedParts, 'publicUrl'>, slug: string): string {
  return new URL(issuerOf(publicUrl, slug)).pathname
}

/** The resource of all access tokens of a realm. Without a resource the library would issue opaque tokens. */
function resourceOf(parts: EmbeddedParts, slug: string): string {
  return `${issuerOf(parts.publicUrl, slug)}/account`
}

/** The protocol library's configuration for a realm. */
export function configurationOf(parts: EmbeddedParts, realm: RealmRecord): Configuration {
  const mount = mountOf(parts, realm.slug)
  return {
    adapter: makeAdapters(parts, realm.slug),
    clients: [],
    jwks: { keys: openSigningKeys(parts, realm) },
    routes: ROUTES,
    findAccount: (ctx, subject, source) => findAccount(parts, realm, { subject, signIn: signInOf(ctx, source) }),
    ...protocolOf(parts, realm),
    cookies: {
      keys: openCookieKeys(parts, realm),
      // Realms share a host. The library separates the short-lived cookies by itself.
      long: { httpOnly: true, sameSite: 'lax', signed: true, path: `${mount}/` },
      short: { httpOnly: true, sameSite: 'lax', signed: true },
    },
    interactions: { policy: promptPolicy(), url: (_ctx, { uid }) => `${mount}/interaction/${uid}` },
    features: featuresOf(parts, realm),
    renderError: errorPage(themeOf(realm)),
  }
}

/** Scopes, claims, clients and tokens. */
function protocolOf(parts: EmbeddedParts, realm: RealmRecord): Configuration {
  const scopes = ['openid', 'offline_access', 'email', 'profile', ...realm.scopes]
  return {
    responseTypes: ['code'],
    scopes,
    // As in Keycloak, whose clients get the scopes `email` and `profile` without requesting them.
    claims: { openid: ['sub', 'email', 'name', 'preferred_username'], email: ['email'], profile: ['name'] },
    conformIdTokenClaims: false,
    acrValues: Object.values(ACR),
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    clientDefaults: { id_token_signed_response_alg: SIGNING_ALGORITHM },
    enabledJWA: { idTokenSigningAlgValues: [SIGNING_ALGORITHM] },
    extraClientMetadata: { properties: OWN_CLIENT_MEMBERS },
    clientBasedCORS: (_ctx, origin, client) => listOf(client['svc_web_origins']).includes(origin),
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    rotateRefreshToken: true,
    issueRefreshToken: (_ctx, client) => Promise.resolve(client.grantTypeAllowed('refresh_token')),
    loadExistingGrant: (ctx) => loadGrant(ctx, { scopes, resource: resourceOf(parts, realm.slug) }),
    formats: { customizers: { jwt: (ctx, token, jwt) => fillAccessToken({ parts, realm }, { ctx, token, jwt }) } },
    ttl: LIFETIMES,
    clockTolerance: 5,
  }
}

function featuresOf(parts: EmbeddedParts, realm: RealmRecord): Configuration['features'] {
  const resource = resourceOf(parts, realm.slug)
  const theme = themeOf(realm)
  return {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    clientCredentials: { enabled: true },
    // Introspection stays off: access tokens are JWTs that are not stored, so it would add nothing to verifying them,
    // and it would allow guessing refresh tokens.
    revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
    rpInitiatedLogout: { enabled: true, ...logoutPages(theme) },
    deviceFlow: {
      enabled: true,
      charset: 'base-20',
      mask: '****-****',
      deviceInfo: noDeviceInfo,
      ...devicePages(theme),
    },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => Promise.resolve(resource),
      useGrantedResource: () => Promise.resolve(true),
      getResourceServerInfo: (_ctx, asked) => {
        if (asked !== resource) throw new errors.InvalidTarget()
        return {
          scope: ['openid', 'email', 'profile', ...realm.scopes].join(' '),
          audience: 'account',
          accessTokenFormat: 'jwt',
          accessTokenTTL: ACCESS_TOKEN_SECONDS,
          jwt: { sign: { alg: SIGNING_ALGORITHM } },
        }
      },
    },
  }
}

/** The sign-in of a session, code or token. */
function signInOf({ oidc }: KoaContextWithOIDC, source: object | undefined): PastSignIn {
  if (source === undefined) return { at: oidc.session?.loginTs, acr: oidc.session?.acr }
  return {
    at: 'authTime' in source && typeof source.authTime === 'number' ? source.authTime : undefined,
    acr: 'acr' in source ? source.acr : undefined,
  }
}

/** The device's address is not stored, because nothing uses it. */
function noDeviceInfo(): Record<string, never> {
  return {}
}

/**
 * The library's default policy, and a new sign-in for sessions whose account is gone, whose sign-in no longer counts, or
 * that lack the second factor that the request asks for.
 */
function promptPolicy(): interactionPolicy.DefaultPolicy {
  const { Check, base } = interactionPolicy
  const policy = base()
  const isGone = ({ oidc }: KoaContextWithOIDC): boolean =>
    oidc.session?.accountId !== undefined && oidc.entities.Account === undefined
  policy
    .get('login')
    ?.checks.add(
      new Check('account_gone', 'End-User authentication is required', 'login_required', (ctx) =>
        isGone(ctx) ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT,
      ),
    )
  policy
    .get('login')
    ?.checks.add(
      new Check('factor_missing', 'A second factor is required', 'login_required', ({ oidc }) =>
        asksForFactor(oidc.params?.['acr_values']) && oidc.session?.acr !== ACR.secondFactor
          ? Check.REQUEST_PROMPT
          : Check.NO_NEED_TO_PROMPT,
      ),
    )
  return policy
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
