import type { RealmSpec, ServiceClientSpec } from '../provider.ts'
import { DEFAULT_SCOPES } from './scope-representation.ts'

/** Redirect addresses of a terminal on the same machine: Keycloak accepts any port of a loopback address (RFC 8252). */
const LOOPBACK_REDIRECTS = ['http://127.0.0.1/callback', 'http://[::1]/callback', 'http://localhost/callback']

/** Separates the addresses of a list in one attribute. */
const SEPARATOR = '##'

const S256 = { 'pkce.code.challenge.method': 'S256' }

/** No client may get tokens in a URL (implicit flow) or for a password (direct access grant). */
const COMMON = {
  enabled: true,
  protocol: 'openid-connect',
  implicitFlowEnabled: false,
  directAccessGrantsEnabled: false,
  // Only a client with full scope gets realm roles in its tokens.
  fullScopeAllowed: true,
}

/** People's tokens name what they have shown (sign-in-flows.ts). */
const AMR = {
  name: 'amr',
  protocol: 'openid-connect',
  protocolMapper: 'oidc-amr-mapper',
  config: { 'id.token.claim': 'true', 'access.token.claim': 'true' },
}

const PUBLIC = {
  ...COMMON,
  publicClient: true,
  standardFlowEnabled: true,
  serviceAccountsEnabled: false,
  protocolMappers: [AMR],
}

export function portalClient(portal: NonNullable<RealmSpec['portal']>, scopes: readonly string[]) {
  return {
    ...PUBLIC,
    ...scopesOf(scopes),
    clientId: portal.clientId,
    // The link target on Keycloak's own pages, such as the last page of an invitation.
    ...(portal.postLogoutRedirectUris[0] === undefined ? {} : { baseUrl: portal.postLogoutRedirectUris[0] }),
    redirectUris: portal.redirectUris,
    webOrigins: portal.webOrigins,
    attributes: { ...S256, 'post.logout.redirect.uris': portal.postLogoutRedirectUris.join(SEPARATOR) },
  }
}

export function cliClient({ clientId }: { clientId: string }, scopes: readonly string[]) {
  return {
    ...PUBLIC,
    ...scopesOf(scopes),
    clientId,
    redirectUris: LOOPBACK_REDIRECTS,
    webOrigins: [],
    // Any program on the machine can claim to be the command line, so the user is asked for consent.
    consentRequired: true,
    attributes: {
      ...S256,
      'post.logout.redirect.uris': LOOPBACK_REDIRECTS.join(SEPARATOR),
      'oauth2.device.authorization.grant.enabled': 'true',
    },
  }
}

export function serviceClient({ clientId, secret }: Omit<ServiceClientSpec, 'roles'>) {
  return {
    ...COMMON,
    clientId,
    secret,
    publicClient: false,
    clientAuthenticatorType: 'client-secret',
    standardFlowEnabled: false,
    serviceAccountsEnabled: true,
    redirectUris: [],
    webOrigins: [],
  }
}

/** A realm's own scopes are only in a token that requests them. A client with explicit scopes must list all of them. */
function scopesOf(scopes: readonly string[]) {
  if (scopes.length === 0) return {}
  return { defaultClientScopes: DEFAULT_SCOPES, optionalClientScopes: [...scopes, 'offline_access'] }
}
