import { SUBJECT_ATTRIBUTE } from './user-representation.ts'

/**
 * The scopes of a realm with scopes of its own (decision 58). An import with any scope creates no default ones, so
 * those of Keycloak's that our tokens need are listed here; `sub` is the user's own subject where it has one.
 */
export function clientScopes(own: readonly string[]): unknown[] {
  return [
    scope('basic', { inScope: false }, [
      mapper('sub', 'oidc-sub-mapper', { 'access.token.claim': 'true', 'introspection.token.claim': 'true' }),
      mapper('own subject', 'oidc-usermodel-attribute-mapper', {
        'user.attribute': SUBJECT_ATTRIBUTE,
        'claim.name': 'sub',
        'jsonType.label': 'String',
        ...EVERYWHERE,
      }),
      mapper('auth_time', 'oidc-usersessionmodel-note-mapper', {
        'user.session.note': 'AUTH_TIME',
        'claim.name': 'auth_time',
        'jsonType.label': 'long',
        'id.token.claim': 'true',
        'access.token.claim': 'true',
      }),
    ]),
    scope('roles', { inScope: false }, [
      mapper('realm roles', 'oidc-usermodel-realm-role-mapper', {
        'claim.name': 'realm_access.roles',
        'jsonType.label': 'String',
        multivalued: 'true',
        'access.token.claim': 'true',
      }),
    ]),
    scope('web-origins', { inScope: false }, [
      mapper('allowed web origins', 'oidc-allowed-origins-mapper', { 'access.token.claim': 'true' }),
    ]),
    scope('email', { inScope: true }, [
      mapper('email', 'oidc-usermodel-attribute-mapper', {
        'user.attribute': 'email',
        'claim.name': 'email',
        'jsonType.label': 'String',
        ...EVERYWHERE,
      }),
    ]),
    ...own.map((name) => scope(name, { inScope: true }, [])),
  ]
}

/** The scopes that every client of such a realm gets by default. */
export const DEFAULT_SCOPES = ['basic', 'roles', 'web-origins', 'email']

const EVERYWHERE = { 'id.token.claim': 'true', 'access.token.claim': 'true', 'userinfo.token.claim': 'true' }

function scope(name: string, { inScope }: { inScope: boolean }, protocolMappers: unknown[]) {
  return {
    name,
    protocol: 'openid-connect',
    attributes: { 'include.in.token.scope': String(inScope), 'display.on.consent.screen': String(inScope) },
    protocolMappers,
  }
}

function mapper(name: string, protocolMapper: string, config: Record<string, string>) {
  return { name, protocol: 'openid-connect', protocolMapper, consentRequired: false, config }
}
