import { z } from 'zod'
import { IdentityUnavailableError } from '../provider.ts'
import { adminPath } from './admin.ts'
import type { Admin } from './admin.ts'

type Role = z.infer<typeof Role>
const Role = z.object({ id: z.string(), name: z.string() })
const Roles = z.array(Role)

/** Roles that Keycloak assigns by itself and that are not ours. */
const BUILT_IN_ROLES = /^(default-roles-.*|offline_access|uma_authorization)$/

type UserKey = { slug: string; userId: string }

/** The user's realm roles; null if the user does not exist. */
async function readRoles(admin: Admin, { slug, userId }: UserKey): Promise<Role[] | null> {
  const path = adminPath(slug, 'users', userId, 'role-mappings', 'realm')
  const roles = await admin.read({ to: "read a user's roles", path }, Roles)
  return roles?.filter(({ name }) => !BUILT_IN_ROLES.test(name)) ?? null
}

/** Adds missing roles. @throws {IdentityUnavailableError} */
export async function addRoles(admin: Admin, key: UserKey, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  const has = (await readRoles(admin, key)) ?? []
  const missing = names.filter((name) => !has.some((role) => role.name === name))
  if (missing.length === 0) return
  const body = await Promise.all(missing.map((name) => findRole(admin, key.slug, name)))
  await changeRoles(admin, key, { to: 'assign roles to a user', method: 'POST', body })
}

/** Sets exactly these roles; does nothing if the user does not exist. */
export async function setRoles(admin: Admin, key: UserKey, names: readonly string[]): Promise<void> {
  const has = await readRoles(admin, key)
  if (has === null) return
  const tooMany = has.filter(({ name }) => !names.includes(name))
  if (tooMany.length > 0) await changeRoles(admin, key, { to: 'remove a role', method: 'DELETE', body: tooMany })
  await addRoles(admin, key, names)
}

async function changeRoles(
  admin: Admin,
  { slug, userId }: UserKey,
  change: { to: string; method: 'POST' | 'DELETE'; body: Role[] },
): Promise<void> {
  // Adding or removing a role twice has no further effect.
  await admin.call({ ...change, path: adminPath(slug, 'users', userId, 'role-mappings', 'realm'), mayRepeat: true })
}

async function findRole(admin: Admin, slug: string, name: string): Promise<Role> {
  const role = await admin.read({ to: 'find a role', path: adminPath(slug, 'roles', name) }, Role)
  if (role === null) throw new IdentityUnavailableError(`the identity provider has no role ${name} in realm ${slug}`)
  return role
}
