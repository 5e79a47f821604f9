import type { CreatedRealm, IdentityProvider } from './provider.ts'

/**
 * No identity provider (decision 57): headers identify the caller, on loopback addresses and never in live mode. Realms
 * are only names without accounts; a created user gets an id but can't sign in.
 */
export function makeNoProvider(ids: { uuid(): string }): IdentityProvider {
  const nothing = (): Promise<void> => Promise.resolve()
  return {
    kind: 'none',
    authUrl: null,
    createRealm: async ({ admin }, record) => {
      const made: CreatedRealm = { adminUserId: admin === undefined ? null : ids.uuid(), adminRoleAssigned: true }
      await record?.(made, undefined)
      return made
    },
    deleteRealm: () => Promise.resolve(false),
    realmExists: () => Promise.resolve(false),
    setRealmEnabled: nothing,
    createUser: () => Promise.resolve(ids.uuid()),
    findUser: () => Promise.resolve(null),
    hasPassword: () => Promise.resolve(false),
    usersWithPassword: () => Promise.resolve(new Set()),
    deleteUser: nothing,
    setUserRoles: nothing,
    setUserEnabled: nothing,
    setPassword: nothing,
    resetFactor: nothing,
    inviteUser: () => Promise.resolve(null),
    createServiceClient: nothing,
    rotateServiceSecret: nothing,
    deleteClient: nothing,
    keys: () => Promise.resolve(null),
    health: nothing,
  }
}
