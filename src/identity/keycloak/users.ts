import { z } from 'zod'
import { runEach } from '../../lib/paged-job.ts'
import { IdentityUnavailableError, UserExistsError } from '../provider.ts'
import type { NewUser } from '../provider.ts'
import { adminPath } from './admin.ts'
import type { Admin } from './admin.ts'
import { addRoles, setRoles } from './roles.ts'
import type { KeycloakSettings } from './settings.ts'
import { REQUIRED_ACTIONS, SET_UP_FACTOR, addressOf, userRepresentation } from './user-representation.ts'

export type UserKey = { slug: string; userId: string }

const ASKED_AT_ONCE = 5

const Users = z.array(z.object({ id: z.string(), email: z.string().optional() }))
const Credentials = z.array(z.object({ id: z.string(), type: z.string() }))
const Actions = z.object({ requiredActions: z.array(z.string()).default([]) })

/** @throws {UserExistsError} if the address or the subject is taken */
export async function createUser(
  { admin, settings }: { admin: Admin; settings: KeycloakSettings },
  slug: string,
  user: NewUser,
): Promise<string> {
  const to = 'create a user'
  const path = adminPath(slug, 'users')
  const body = userRepresentation(settings, user)
  const made = await admin.call({ to, method: 'POST', path, body, acceptedStatuses: [409] })
  if (made.status === 409) throw new UserExistsError(`realm ${slug} already has this user`)
  const userId = idFromLocation(to, made.location)
  try {
    await addRoles(admin, { slug, userId }, user.roles)
  } catch (error) {
    // An incomplete user is deleted, so that a retry does not fail because it exists.
    await deleteUser(admin, { slug, userId }).catch(() => undefined)
    throw error
  }
  return userId
}

/** The id of the resource that a POST created. */
export function idFromLocation(to: string, location: string | undefined): string {
  const id = location?.split('/').at(-1)
  if (id === undefined || id === '') {
    throw new IdentityUnavailableError(`the identity provider could not ${to}: its response has no Location`)
  }
  return id
}

/** The id of the user with this address; null if there is none. */
export async function findUser(admin: Admin, slug: string, email: string): Promise<string | null> {
  const address = addressOf(email)
  const path = `${adminPath(slug, 'users')}?email=${encodeURIComponent(address)}&exact=true&briefRepresentation=true`
  const found = await admin.read({ to: 'find a user', path }, Users)
  return found?.find((user) => user.email?.toLowerCase() === address)?.id ?? null
}

/** False until the user has accepted the invitation. */
export async function hasPassword(admin: Admin, key: UserKey): Promise<boolean> {
  return (await readCredentials(admin, key)).some(({ type }) => type === 'password')
}

/** Asked for each of them, a few at once: Keycloak has no question about many. */
export async function usersWithPassword(
  admin: Admin,
  slug: string,
  userIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const having = new Set<string>()
  await runEach(userIds, {
    concurrency: ASKED_AT_ONCE,
    work: async (userId) => {
      if (await hasPassword(admin, { slug, userId })) having.add(userId)
    },
    onFailure: (error) => {
      throw error
    },
  })
  return having
}

/** Empty if the user does not exist. */
async function readCredentials(admin: Admin, { slug, userId }: UserKey): Promise<z.infer<typeof Credentials>> {
  const to = "read a user's credentials"
  return (await admin.read({ to, path: adminPath(slug, 'users', userId, 'credentials') }, Credentials)) ?? []
}

/** Deletes the user with its sessions and refresh tokens. */
export async function deleteUser(admin: Admin, { slug, userId }: UserKey): Promise<void> {
  await admin.call({
    to: 'delete a user',
    method: 'DELETE',
    path: adminPath(slug, 'users', userId),
    acceptedStatuses: [404],
  })
}

/**
 * A role that requires a second factor lets the user set one up at the next sign-in, unless there is one. A sign-in of
 * before may lack it, so it ends.
 */
export async function setUserRoles(
  { admin, settings }: { admin: Admin; settings: KeycloakSettings },
  key: UserKey,
  roles: readonly string[],
): Promise<void> {
  const needsFactor = roles.some((role) => settings.secondFactorRoles.has(role))
  if (needsFactor) {
    const isSetUp = (await readCredentials(admin, key)).some(({ type }) => type === 'otp')
    if (!isSetUp) await changeActions(admin, key, (actions) => new Set([...actions, SET_UP_FACTOR]))
  }
  await setRoles(admin, key, roles)
  if (needsFactor) await endSessions(admin, key)
}

/** Removes authenticator apps and recovery codes, ends all sessions, and lets the user set up another app. */
export async function resetFactor(admin: Admin, key: UserKey): Promise<void> {
  const factors = (await readCredentials(admin, key)).filter(({ type }) => type !== 'password')
  for (const { id } of factors) {
    const path = adminPath(key.slug, 'users', key.userId, 'credentials', id)
    await admin.call({ to: 'remove a second factor', method: 'DELETE', path, acceptedStatuses: [404] })
  }
  await changeActions(admin, key, (actions) => new Set([...actions, SET_UP_FACTOR]))
  await endSessions(admin, key)
}

/** Does nothing if the user does not exist. */
async function changeActions(
  admin: Admin,
  key: UserKey,
  change: (actions: readonly string[]) => ReadonlySet<string>,
): Promise<void> {
  const path = adminPath(key.slug, 'users', key.userId)
  const user = await admin.read({ to: 'read a user', path }, Actions)
  if (user !== null) await updateUser(admin, key, { requiredActions: [...change(user.requiredActions)] })
}

/** Disabling signs the user out everywhere; enabling does not restore the sessions. */
export async function setUserEnabled(admin: Admin, key: UserKey, isEnabled: boolean): Promise<void> {
  const exists = await updateUser(admin, key, { enabled: isEnabled })
  if (exists && !isEnabled) await endSessions(admin, key)
}

/** Sets the password, ends all sessions and clears the required actions of an invitation. */
export async function setPassword(admin: Admin, key: UserKey, password: string): Promise<void> {
  const to = 'set a password'
  const body = { type: 'password', value: password, temporary: false }
  const path = adminPath(key.slug, 'users', key.userId, 'reset-password')
  const { status } = await admin.call({ to, method: 'PUT', path, body, acceptedStatuses: [404] })
  if (status === 404) return
  await changeActions(admin, key, (actions) => new Set(actions.filter((each) => !REQUIRED_ACTIONS.includes(each))))
  await endSessions(admin, key)
}

/** Returns false if the user does not exist. Omitted members stay unchanged. */
async function updateUser(
  admin: Admin,
  { slug, userId }: UserKey,
  changes: { enabled?: boolean; requiredActions?: string[] },
): Promise<boolean> {
  const path = adminPath(slug, 'users', userId)
  const { status } = await admin.call({
    to: 'change a user',
    method: 'PUT',
    path,
    body: changes,
    acceptedStatuses: [404],
  })
  return status !== 404
}

/** Ends the user's sessions and rejects everything issued before (`notBefore`). */
async function endSessions(admin: Admin, { slug, userId }: UserKey): Promise<void> {
  const path = adminPath(slug, 'users', userId, 'logout')
  await admin.call({ to: 'sign a user out', method: 'POST', path, mayRepeat: true, acceptedStatuses: [404] })
}
