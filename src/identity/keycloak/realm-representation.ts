import type { RealmSpec } from '../provider.ts'
import { cliClient, portalClient, serviceClient } from './client-representation.ts'
import { keyComponents } from './keys.ts'
import { mailServerOf } from './mail-server.ts'
import { DEFAULT_SCOPES, clientScopes } from './scope-representation.ts'
import type { KeycloakParts, KeycloakSettings } from './settings.ts'
import { USER_PROFILE, userRepresentation } from './user-representation.ts'

/** Realm attributes that name the registration that created the realm, and the single attempt. */
export const REGISTRATION_ATTRIBUTE = 'svcRegistrationId'
export const ATTEMPT_ATTRIBUTE = 'svcAttempt'

/** In seconds, the same as in the embedded provider (contract §Authentication). */
const LIFETIMES = {
  accessTokenLifespan: 900,
  ssoSessionIdleTimeout: 1_800,
  ssoSessionMaxLifespan: 36_000,
  offlineSessionIdleTimeout: 30 * 86_400,
  offlineSessionMaxLifespanEnabled: true,
  offlineSessionMaxLifespan: 90 * 86_400,
  actionTokenGeneratedByAdminLifespan: 43_200,
}

/** Five wrong passwords, then a lock that grows from one minute to fifteen, as in the embedded provider. */
const BRUTE_FORCE = {
  bruteForceProtected: true,
  permanentLockout: false,
  failureFactor: 5,
  waitIncrementSeconds: 60,
  maxFailureWaitSeconds: 900,
}

/** A complete realm as one import: Keycloak creates all of it in one transaction, or nothing. */
export function realmRepresentation({ settings, ids }: KeycloakParts, spec: RealmSpec, attempt: string) {
  const { slug, displayName, registrationId, roles } = spec
  const smtpServer = mailServerOf(settings)
  return {
    realm: slug,
    displayName,
    enabled: true,
    sslRequired: settings.sslRequired,
    registrationAllowed: false,
    loginWithEmailAllowed: true,
    duplicateEmailsAllowed: false,
    // If set, the user name must be the address; users of a customers realm have other names.
    registrationEmailAsUsername: spec.kind !== 'customers',
    resetPasswordAllowed: true,
    rememberMe: false,
    defaultSignatureAlgorithm: 'PS256',
    revokeRefreshToken: true,
    refreshTokenMaxReuse: 0,
    passwordPolicy: 'length(12) and maxLength(128) and notUsername and notEmail',
    ...LIFETIMES,
    ...BRUTE_FORCE,
    ...(smtpServer === undefined ? {} : { smtpServer }),
    roles: { realm: roles.map((name) => ({ name })) },
    ...scopesOf(spec),
    clients: clientsOf(spec).map((client) => ({ id: ids.uuid(), ...client })),
    users: usersOf(settings, spec),
    components: {
      'org.keycloak.keys.KeyProvider': keyComponents(Math.floor(Date.now() / 1000)),
      'org.keycloak.userprofile.UserProfileProvider': [
        {
          providerId: 'declarative-user-profile',
          config: { 'kc.user.profile.config': [JSON.stringify(USER_PROFILE)] },
        },
      ],
    },
    attributes: { [REGISTRATION_ATTRIBUTE]: registrationId, [ATTEMPT_ATTRIBUTE]: attempt },
  }
}

function scopesOf({ scopes = [] }: RealmSpec) {
  if (scopes.length === 0) return {}
  return {
    clientScopes: clientScopes(scopes),
    defaultDefaultClientScopes: DEFAULT_SCOPES,
    // For clients created later: they may also request the realm's own scopes.
    defaultOptionalClientScopes: scopes,
  }
}

function clientsOf({ portal, service, cli, scopes = [] }: RealmSpec) {
  return [
    ...(portal === undefined ? [] : [portalClient(portal, scopes)]),
    ...(service === undefined ? [] : [serviceClient(service)]),
    ...(cli === undefined ? [] : [cliClient(cli, scopes)]),
    // Keycloak creates this client in every realm, to issue tokens for a password.
    { clientId: 'admin-cli', enabled: false, publicClient: true, directAccessGrantsEnabled: false },
  ]
}

/** The first user and the service account. Imported users have only the listed roles. */
function usersOf(settings: KeycloakSettings, { slug, admin, service }: RealmSpec) {
  return [
    ...(admin === undefined
      ? []
      : [{ ...userRepresentation(settings, admin), realmRoles: [...admin.roles, `default-roles-${slug}`] }]),
    ...(service === undefined
      ? []
      : [
          {
            username: `service-account-${service.clientId}`,
            enabled: true,
            serviceAccountClientId: service.clientId,
            realmRoles: service.roles,
          },
        ]),
  ]
}
