import { IdentityUnavailableError } from '../provider.ts'
import type { IdentityProvider } from '../provider.ts'
import { makeAdmin } from './admin.ts'
import type { Admin } from './admin.ts'
import { createServiceClient, deleteClient, rotateServiceSecret } from './clients.ts'
import { inviteUser } from './invite.ts'
import { keysOf, rotateSigningKey } from './keys.ts'
import { createRealm, deleteRealm, realmExists, setRealmEnabled } from './realms.ts'
import type { KeycloakParts } from './settings.ts'
import {
  createUser,
  deleteUser,
  findUser,
  hasPassword,
  resetFactor,
  setPassword,
  setUserEnabled,
  setUserRoles,
  usersWithPassword,
} from './users.ts'

const HEALTH_TIMEOUT_MS = 5_000
const HEALTH_BYTES_MAX = 64 * 1024

/** The operator's own Keycloak as identity provider, with one realm for each merchant (decision 46). */
export function makeKeycloakProvider(parts: KeycloakParts): IdentityProvider {
  const { settings } = parts
  const admin = makeAdmin(settings)
  const keycloak = { ...parts, admin }
  return {
    kind: 'keycloak',
    authUrl: settings.authUrl,
    createRealm: (spec, record) => createRealm(keycloak, spec, record),
    deleteRealm: (slug, registrationId) => deleteRealm(keycloak, slug, registrationId),
    realmExists: (slug) => realmExists(keycloak, slug),
    setRealmEnabled: (slug, isEnabled) => setRealmEnabled(keycloak, slug, isEnabled),
    createUser: (slug, user) => createUser(keycloak, slug, user),
    findUser: (slug, email) => findUser(admin, slug, email),
    hasPassword: (slug, userId) => hasPassword(admin, { slug, userId }),
    usersWithPassword: (slug, userIds) => usersWithPassword(admin, slug, userIds),
    deleteUser: (slug, userId) => deleteUser(admin, { slug, userId }),
    setUserRoles: (slug, userId, roles) => setUserRoles(keycloak, { slug, userId }, roles),
    setUserEnabled: (slug, userId, isEnabled) => setUserEnabled(admin, { slug, userId }, isEnabled),
    setPassword: (slug, userId, password) => setPassword(admin, { slug, userId }, password),
    resetFactor: (slug, userId) => resetFactor(admin, { slug, userId }),
    inviteUser: (slug, userId, invitation) => inviteUser(keycloak, { slug, userId }, invitation),
    createServiceClient: (slug, client) => createServiceClient(admin, slug, client),
    rotateServiceSecret: (slug, clientId, secret) => rotateServiceSecret(admin, slug, { clientId, secret }),
    deleteClient: (slug, clientId) => deleteClient(admin, slug, clientId),
    keys: (slug) => keysOf(admin, slug),
    rotateSigningKey: (slug, options) => rotateSigningKey(admin, slug, options),
    health: () => checkHealth(admin),
  }
}

/** Checks that Keycloak responds and accepts our admin client. @throws {IdentityUnavailableError} */
async function checkHealth(admin: Admin): Promise<void> {
  const to = 'report its status'
  const limits = { timeoutMs: HEALTH_TIMEOUT_MS, bytesMax: HEALTH_BYTES_MAX }
  const { status } = await admin.getWithoutToken({ to, path: '/realms/master', ...limits })
  if (status !== 200)
    throw new IdentityUnavailableError(`the identity provider could not ${to}: it responded with ${status}`)
  await admin.call({ to: 'accept the admin client', method: 'GET', path: '/admin/realms/master' })
}
