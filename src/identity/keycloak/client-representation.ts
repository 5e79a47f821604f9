import type { RealmSpec, ServiceClientSpec } from '../provider.ts'
import { DEFAULT_SCOPES } from './scope-representation.ts'

/** What a terminal on the same machine listens on: Keycloak takes any port of a loopback address (RFC 8252). */
const LOOPBACK_REDIRECTS = ['http://127.0.0.1/callback', 'http://[::1]/callback', 'http://localhost/callback']

/** Between addresses of a list that is kept as one attribute. */
const SEPARATOR = '##'

const S256 = { 'pkce.code.challenge.method': 'S256' }

/** What a client of any kind may not: tokens in an address, and tokens for a password (contract 17). */
const COMMON = {
  enabled: true,
  protocol: 'openid-connect',
  implicitFlowEnabled: false,
  directAccessGrantsEnabled: false,
  // Realm roles reach a token only of a client that may have all of them.
  fullScopeAllowed: true,
}

const PUBLIC = { ...COMMON, publicClient: true, standardFlowEnabled: true, serviceAccountsEnabled: false }

export function portalClient(portal: NonNullable<RealmSpec['portal']>, scopes: readonly string[]) {
  return {
    ...PUBLIC,
    ...scopesOf(scopes),
    clientId: portal.clientId,
    // Where Keycloak's own pages lead back to, such as the last one of an invitation.
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
    // Anything on the machine can claim to be the command line, so the person is asked.
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

/** A realm's own scopes are in a token only when they are asked for. Who names some must name them all. */
function scopesOf(scopes: readonly string[]) {
  if (scopes.length === 0) return {}
  return { defaultClientScopes: DEFAULT_SCOPES, optionalClientScopes: [...scopes, 'offline_access'] }
}
