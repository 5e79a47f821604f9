import { randomUUID } from 'node:crypto'
import { IdentityUnavailableError, RealmExistsError, UserExistsError } from '../../src/identity/provider.ts'
import type { CreatedRealm, IdentityProvider, RealmSpec } from '../../src/identity/provider.ts'

type RemoteUser = { id: string; email: string; roles: string[]; invitations: number }
export type RemoteRealm = { spec: RealmSpec; isEnabled: boolean; users: RemoteUser[] }

/** What goes wrong at a provider that is somewhere else. */
export type Faults = {
  /** Nothing answers. */
  isAway?: boolean
  /** Before the realm is there, or after it is there and before anything is recorded, or after everything is. */
  failCreate?: 'before' | 'after' | 'after recording'
  failDelete?: boolean
  failInvite?: boolean
  /** The user is made without its role (decision 48). */
  withoutRole?: boolean
}

/**
 * An identity provider with its own store, as Keycloak is: nothing it does joins a transaction of ours. `faults` are
 * looked at with every call.
 */
export function makeRemoteIdentity(): IdentityProvider & { realms: Map<string, RemoteRealm>; faults: Faults } {
  const realms = new Map<string, RemoteRealm>()
  const faults: Faults = {}

  /** A turn of the event loop, so that callers run into each other as over a network. */
  async function called(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    if (faults.isAway === true) throw new IdentityUnavailableError('connection refused')
  }

  function makeRealm(spec: RealmSpec): CreatedRealm {
    if (realms.has(spec.slug)) throw new RealmExistsError(spec.slug)
    const roles = faults.withoutRole === true ? [] : [...(spec.admin?.roles ?? [])]
    const admin = spec.admin && { id: randomUUID(), email: spec.admin.email, roles, invitations: 0 }
    realms.set(spec.slug, { spec, isEnabled: true, users: admin === undefined ? [] : [admin] })
    return { adminUserId: admin?.id ?? null, adminRoleAssigned: faults.withoutRole !== true }
  }

  function userOf(slug: string, id: string): RemoteUser | undefined {
    return realms.get(slug)?.users.find((user) => user.id === id)
  }

  return {
    realms,
    faults,
    kind: 'keycloak',
    authUrl: 'https://id.example',
    createRealm: async (spec, record) => {
      await called()
      if (faults.failCreate === 'before') throw new IdentityUnavailableError('it broke before')
      const made = makeRealm(spec)
      if (faults.failCreate === 'after') throw new IdentityUnavailableError('it broke after')
      try {
        await record?.(made, undefined)
      } catch (error) {
        realms.delete(spec.slug)
        throw error
      }
      if (faults.failCreate === 'after recording') throw new IdentityUnavailableError('it broke at last')
      return made
    },
    deleteRealm: async (slug, registrationId) => {
      await called()
      if (faults.failDelete === true) throw new IdentityUnavailableError('it does not delete')
      return realms.get(slug)?.spec.registrationId === registrationId && realms.delete(slug)
    },
    realmExists: async (slug) => {
      await called()
      return realms.has(slug)
    },
    setRealmEnabled: async (slug, isEnabled) => {
      await called()
      const realm = realms.get(slug)
      if (realm !== undefined) realm.isEnabled = isEnabled
    },
    createUser: async (slug, { email, roles }) => {
      await called()
      const users = realms.get(slug)?.users ?? []
      if (users.some((user) => user.email === email)) throw new UserExistsError(email)
      const user = { id: randomUUID(), email, roles: [...roles], invitations: 0 }
      users.push(user)
      return user.id
    },
    findUser: async (slug, email) => {
      await called()
      return realms.get(slug)?.users.find((user) => user.email === email)?.id ?? null
    },
    hasPassword: async () => false,
    usersWithPassword: async () => new Set(),
    deleteUser: called,
    setUserRoles: async (slug, id, roles) => {
      await called()
      const user = userOf(slug, id)
      if (user !== undefined) user.roles = [...roles]
    },
    setUserEnabled: called,
    setPassword: called,
    resetFactor: async () => called(),
    inviteUser: async (slug, id) => {
      await called()
      if (faults.failInvite === true) throw new Error('550 mailbox of nobody@nowhere.example unavailable')
      const user = userOf(slug, id)
      if (user !== undefined) user.invitations += 1
      return null
    },
    createServiceClient: called,
    rotateServiceSecret: called,
    deleteClient: called,
    keys: async () => null,
    health: called,
  }
}
