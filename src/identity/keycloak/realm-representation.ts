import type { RealmSpec } from '../provider.ts'
import { cliClient, portalClient, serviceClient } from './client-representation.ts'
import { keyComponents } from './keys.ts'
import { mailServerOf } from './mail-server.ts'
import { DEFAULT_SCOPES, clientScopes } from './scope-representation.ts'
import type { KeycloakParts } from './settings.ts'
import { USER_PROFILE, userRepresentation } from './user-representation.ts'

/** The realm's attributes that name who made it: the registration, and the one attempt of it. */
export const REGISTRATION_ATTRIBUTE = 'svcRegistrationId'
export const ATTEMPT_ATTRIBUTE = 'svcAttempt'

/** Seconds. They are those of the embedded provider (contract §Authentication). */
const LIFETIMES = {
  accessTokenLifespan: 900,
  ssoSessionIdleTimeout: 1_800,
  ssoSessionMaxLifespan: 36_000,
  offlineSessionIdleTimeout: 30 * 86_400,
  offlineSessionMaxLifespanEnabled: true,
  offlineSessionMaxLifespan: 90 * 86_400,
  actionTokenGeneratedByAdminLifespan: 43_200,
}

/** Five guesses, then a lock that grows from one minute to fifteen (contract 26). */
const BRUTE_FORCE = {
  bruteForceProtected: true,
  permanentLockout: false,
  failureFactor: 5,
  waitIncrementSeconds: 60,
  maxFailureWaitSeconds: 900,
}

/** A realm, whole, as one import: Keycloak makes all of it in one transaction, or nothing. */
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
    // Where it is, the name must be the address; a realm of customers names its users otherwise.
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
    users: usersOf(spec),
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
    // Of clients that are made later: they may ask for the realm's own scopes too.
    defaultOptionalClientScopes: scopes,
  }
}

function clientsOf({ portal, service, cli, scopes = [] }: RealmSpec) {
  return [
    ...(portal === undefined ? [] : [portalClient(portal, scopes)]),
    ...(service === undefined ? [] : [serviceClient(service)]),
    ...(cli === undefined ? [] : [cliClient(cli, scopes)]),
    // Keycloak makes it in every realm, to give out tokens for a password.
    { clientId: 'admin-cli', enabled: false, publicClient: true, directAccessGrantsEnabled: false },
  ]
}

/** People, and the user that a service client's token is of. Imported users have no role but those they are given. */
function usersOf({ slug, admin, service }: RealmSpec) {
  return [
    ...(admin === undefined
      ? []
      : [{ ...userRepresentation(admin), realmRoles: [...admin.roles, `default-roles-${slug}`] }]),
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
