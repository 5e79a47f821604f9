import { z } from 'zod'
import { IdentityUnavailableError, UserExistsError } from '../provider.ts'
import type { NewUser } from '../provider.ts'
import { adminPath } from './admin.ts'
import type { Admin } from './admin.ts'
import { addRoles, setRoles } from './roles.ts'
import { addressOf, userRepresentation } from './user-representation.ts'

export type UserKey = { slug: string; userId: string }

const Users = z.array(z.object({ id: z.string(), email: z.string().optional() }))
const Credentials = z.array(z.object({ type: z.string() }))

/** @throws {UserExistsError} if the address or the subject is taken */
export async function createUser(admin: Admin, slug: string, user: NewUser): Promise<string> {
  const to = 'create a user'
  const path = adminPath(slug, 'users')
  const made = await admin.call({ to, method: 'POST', path, body: userRepresentation(user), acceptedStatuses: [409] })
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
export async function hasPassword(admin: Admin, { slug, userId }: UserKey): Promise<boolean> {
  const to = "read a user's credentials"
  const found = await admin.read({ to, path: adminPath(slug, 'users', userId, 'credentials') }, Credentials)
  return found?.some(({ type }) => type === 'password') ?? false
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

export function setUserRoles(admin: Admin, key: UserKey, roles: readonly string[]): Promise<void> {
  return setRoles(admin, key, roles)
}

/** Disabling signs the user out everywhere; enabling does not restore the sessions. */
export async function setUserEnabled(admin: Admin, key: UserKey, isEnabled: boolean): Promise<void> {
  const exists = await updateUser(admin, key, { enabled: isEnabled })
  if (exists && !isEnabled) await endSessions(admin, key)
}

/** Sets the password, ends all sessions and clears the required actions. */
export async function setPassword(admin: Admin, key: UserKey, password: string): Promise<void> {
  const to = 'set a password'
  const body = { type: 'password', value: password, temporary: false }
  const path = adminPath(key.slug, 'users', key.userId, 'reset-password')
  const { status } = await admin.call({ to, method: 'PUT', path, body, acceptedStatuses: [404] })
  if (status === 404) return
  await updateUser(admin, key, { requiredActions: [] })
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
