import type { JSONWebKeySet } from 'jose'
import type { CommonQueryMethods } from 'slonik'
import { IdentityUnavailableError } from '../provider.ts'
import type { IdentityProvider } from '../provider.ts'
import { createServiceClient, deleteClient, rotateServiceSecret } from './realms/clients.ts'
import { makeHandle } from './handle.ts'
import { inviteUser } from './users/invite.ts'
import { openSigningKeys, publicKeysOf } from './realms/keys.ts'
import { maintain, rotateSigningKey } from './realms/maintain.ts'
import type { EmbeddedParts } from './parts.ts'
import { resetFactor } from './users/second-factor.ts'
import { findRealm } from './realms/realms-sql.ts'
import { createRealm, deleteRealm, realmExists, setRealmEnabled } from './realms/realms.ts'
import {
  createUser,
  deleteUser,
  findUser,
  hasPassword,
  setPassword,
  setUserEnabled,
  setUserRoles,
} from './users/users.ts'
import { listUsersWithFactor } from './users/second-factor-sql.ts'
import { listUsersWithPassword } from './users/users-sql.ts'

export type { EmbeddedParts } from './parts.ts'

/** The built-in identity provider: an OpenID provider per realm, with its state in PostgreSQL. */
export function makeEmbeddedProvider(parts: EmbeddedParts): IdentityProvider {
  return {
    kind: 'embedded',
    authUrl: parts.publicUrl,
    createRealm: (spec, record) => createRealm(parts, spec, record),
    deleteRealm: (slug, registrationId) => deleteRealm(parts, slug, registrationId),
    realmExists: (slug) => realmExists(parts, slug),
    setRealmEnabled: (slug, isEnabled) => setRealmEnabled(parts, slug, isEnabled),
    createUser: (slug, user) => createUser(parts, slug, user),
    findUser: (slug, email) => findUser(parts, slug, email),
    hasPassword: (slug, userId) => hasPassword(parts, slug, userId),
    usersWithPassword: (slug, userIds) => listUsersWithPassword(parts.pool, slug, userIds),
    deleteUser: (slug, userId) => deleteUser(parts, slug, userId),
    setUserRoles: (slug, userId, roles) => setUserRoles(parts, { slug, userId }, roles),
    setUserEnabled: (slug, userId, isEnabled) => setUserEnabled(parts, { slug, userId }, isEnabled),
    setPassword: (slug, userId, password) => setPassword(parts, { slug, userId }, password),
    usersWithFactor: (slug, userIds) => listUsersWithFactor(parts.pool, slug, userIds),
    resetFactor: (slug, userId) => resetFactor(parts, { slug, userId }),
    inviteUser: (slug, userId, invitation) => inviteUser(parts, { slug, userId }, invitation),
    createServiceClient: (slug, client) => createServiceClient(parts, slug, client),
    rotateServiceSecret: (slug, clientId, secret) => rotateServiceSecret(parts, slug, { clientId, secret }),
    deleteClient: (slug, clientId) => deleteClient(parts, slug, clientId),
    keys: (slug) => keysOf(parts, slug),
    rotateSigningKey: (slug, options) => rotateSigningKey(parts, slug, options),
    handle: makeHandle(parts),
    maintain: () => maintain(parts),
    health: () => checkHealth(parts.pool),
    within: (tx) => makeEmbeddedProvider({ ...parts, pool: tx, wake: { ...parts.wake, notify: () => undefined } }),
  }
}

async function keysOf(parts: EmbeddedParts, slug: string): Promise<JSONWebKeySet | null> {
  const realm = await findRealm(parts.pool, slug)
  return realm === null ? null : publicKeysOf(openSigningKeys(parts, realm))
}

/** @throws {IdentityUnavailableError} */
async function checkHealth(pool: CommonQueryMethods): Promise<void> {
  try {
    await findRealm(pool, '')
  } catch (cause) {
    throw new IdentityUnavailableError('the identity provider cannot reach its database', { cause })
  }
}
