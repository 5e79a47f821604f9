import { randomUUID } from 'node:crypto'
import {
  ClientExistsError,
  IdentityUnavailableError,
  RealmExistsError,
  UserExistsError,
} from '../../src/identity/provider.ts'
import type { IdentityProvider, Invitation, RealmSpec } from '../../src/identity/provider.ts'

export type FakeUser = { id: string; email: string; roles: readonly string[]; password: string | null }
export type FakeRealm = { spec: RealmSpec; users: Map<string, FakeUser>; clients: Map<string, string> }

type Method = Exclude<keyof IdentityProvider, 'kind' | 'authUrl'>

/** A provider in memory, whose methods can be made to fail, before they take effect or after. */
export type FakeProvider = IdentityProvider & {
  realms: Map<string, FakeRealm>
  invitations: { realm: string; userId: string; invitation: Invitation }[]
  realm(slug: string): FakeRealm
  user(slug: string, email: string): FakeUser | undefined
  /** The next call of this method throws that the provider is away. */
  fail(method: Method, when?: 'before' | 'after'): void
  /** Runs before each call of a method. */
  onCall(hook: ((method: Method) => Promise<void>) | undefined): void
}

export function fakeProvider(): FakeProvider {
  const realms = new Map<string, FakeRealm>()
  const invitations: FakeProvider['invitations'] = []
  const failing = new Map<Method, 'before' | 'after'>()
  let hook: ((method: Method) => Promise<void>) | undefined

  const realm = (slug: string): FakeRealm => {
    const found = realms.get(slug)
    if (found === undefined) throw new Error(`no realm ${slug}`)
    return found
  }
  const byEmail = (slug: string, email: string): FakeUser | undefined =>
    [...realm(slug).users.values()].find((user) => user.email === email)
  const change = (slug: string, userId: string, changes: Partial<FakeUser>): void => {
    const user = realm(slug).users.get(userId)
    if (user === undefined) throw new Error(`no user ${userId}`)
    realm(slug).users.set(userId, { ...user, ...changes })
  }

  async function run<T>(method: Method, work: () => T): Promise<T> {
    await hook?.(method)
    const failure = failing.get(method)
    failing.delete(method)
    if (failure === 'before') throw new IdentityUnavailableError(`${method} fails`)
    const result = work()
    if (failure === 'after') throw new IdentityUnavailableError(`${method} is silent`, { mayHaveActed: true })
    return result
  }

  const addUser = (slug: string, email: string, roles: readonly string[]): string => {
    if (byEmail(slug, email) !== undefined) throw new UserExistsError(email)
    const id = randomUUID()
    realm(slug).users.set(id, { id, email, roles, password: null })
    return id
  }

  return {
    kind: 'embedded',
    authUrl: 'http://idp.example',
    realms,
    invitations,
    realm,
    user: byEmail,
    fail: (method, when = 'before') => failing.set(method, when),
    onCall: (next) => (hook = next),
    createRealm: async (spec, record) => {
      const adminUserId = await run('createRealm', () => {
        if (realms.has(spec.slug)) throw new RealmExistsError(spec.slug)
        realms.set(spec.slug, { spec, users: new Map(), clients: new Map() })
        return spec.admin === undefined ? null : addUser(spec.slug, spec.admin.email, spec.admin.roles)
      })
      const made = { adminUserId, adminRoleAssigned: true }
      await record?.(made, undefined)
      return made
    },
    deleteRealm: (slug) => run('deleteRealm', () => realms.delete(slug)),
    realmExists: (slug) => run('realmExists', () => realms.has(slug)),
    setRealmEnabled: () => run('setRealmEnabled', () => undefined),
    createUser: (slug, { email, roles }) => run('createUser', () => addUser(slug, email, roles)),
    findUser: (slug, email) => run('findUser', () => byEmail(slug, email)?.id ?? null),
    hasPassword: (slug, id) => run('hasPassword', () => (realm(slug).users.get(id)?.password ?? null) !== null),
    usersWithPassword: (slug, ids) =>
      run('usersWithPassword', () => {
        const { users } = realm(slug)
        return new Set(ids.filter((id) => (users.get(id)?.password ?? null) !== null))
      }),
    deleteUser: (slug, id) => run('deleteUser', () => void realm(slug).users.delete(id)),
    setUserRoles: (slug, id, roles) =>
      run('setUserRoles', () => {
        if (realm(slug).users.has(id)) change(slug, id, { roles })
      }),
    setUserEnabled: () => run('setUserEnabled', () => undefined),
    setPassword: (slug, id, password) => run('setPassword', () => change(slug, id, { password })),
    resetFactor: (slug, id) => run('resetFactor', () => void realm(slug).users.get(id)),
    inviteUser: (slug, userId, invitation) =>
      run('inviteUser', () => {
        change(slug, userId, {})
        invitations.push({ realm: slug, userId, invitation })
        return invitation.deliver === 'link' ? `http://idp.example/invite?token=${invitations.length}` : null
      }),
    createServiceClient: (slug, { clientId, secret }) =>
      run('createServiceClient', () => {
        if (realm(slug).clients.has(clientId)) throw new ClientExistsError('the client id is taken')
        realm(slug).clients.set(clientId, secret)
      }),
    rotateServiceSecret: (slug, clientId, secret) =>
      run('rotateServiceSecret', () => {
        if (!realm(slug).clients.has(clientId)) throw new Error('no such client')
        realm(slug).clients.set(clientId, secret)
      }),
    deleteClient: (slug, clientId) => run('deleteClient', () => void realm(slug).clients.delete(clientId)),
    keys: () => Promise.resolve(null),
    health: () => run('health', () => undefined),
  }
}
