import { RealmExistsError, UserExistsError } from './provider.ts'
import type { CreatedRealm, IdentityProvider } from './provider.ts'

const nothing = (): Promise<void> => Promise.resolve()

/**
 * A provider that reads and changes nothing, for a dry run: what exists already is rejected as in the real request, and
 * what would be created gets an id that is not kept. Whether the provider would accept a change is not known.
 */
export function makeUnchangedProvider(provider: IdentityProvider, ids: { uuid(): string }): IdentityProvider {
  return {
    ...provider,
    createRealm: async ({ slug, admin }, record) => {
      if (await provider.realmExists(slug)) throw new RealmExistsError(`realm ${slug} exists`)
      const made: CreatedRealm = { adminUserId: admin === undefined ? null : ids.uuid(), adminRoleAssigned: true }
      await record?.(made, undefined)
      return made
    },
    deleteRealm: (slug) => provider.realmExists(slug),
    setRealmEnabled: nothing,
    createUser: async (slug, { email }) => {
      if ((await provider.findUser(slug, email)) !== null) throw new UserExistsError(`realm ${slug} has this user`)
      return ids.uuid()
    },
    deleteUser: nothing,
    setUserRoles: nothing,
    setUserEnabled: nothing,
    setPassword: nothing,
    resetFactor: nothing,
    inviteUser: () => Promise.resolve(null),
    createServiceClient: nothing,
    rotateServiceSecret: nothing,
    deleteClient: nothing,
    ...(provider.rotateSigningKey === undefined ? {} : { rotateSigningKey: nothing }),
  }
}
