import { invalidField } from '../../../lib/errors.ts'
import { isUuid } from '../../../lib/ids.ts'
import { UserExistsError } from '../../provider.ts'
import type { NewUser } from '../../provider.ts'
import { addressOf } from './sign-in.ts'
import type { EmbeddedParts } from '../parts.ts'
import { hashPassword, passwordProblem } from './passwords.ts'
import { endSessions } from '../protocol/sessions-sql.ts'
import {
  deleteUserRow,
  findUserByEmail,
  findUserById,
  insertUser,
  updatePassword,
  updateUserEnabled,
  updateUserRoles,
} from './users-sql.ts'
import type { NewUserRow } from './users-sql.ts'

/** A new user's row, not yet inserted. */
export function newUserRow({ ids }: Pick<EmbeddedParts, 'ids'>, realm: string, user: NewUser): NewUserRow {
  const id = ids.uuid()
  return {
    id,
    realm,
    subject: user.subject ?? id,
    email: addressOf(user.email),
    displayName: user.displayName ?? null,
    roles: user.roles,
  }
}

/** @throws {UserExistsError} if the address or the subject is taken */
export async function createUser(parts: EmbeddedParts, slug: string, user: NewUser): Promise<string> {
  const row = newUserRow(parts, slug, user)
  const isInserted = await insertUser(parts.pool, row)
  if (!isInserted) throw new UserExistsError(`realm ${slug} already has this user, or does not exist`)
  return row.id
}

export async function findUser({ pool }: EmbeddedParts, slug: string, email: string): Promise<string | null> {
  return (await findUserByEmail(pool, slug, addressOf(email)))?.id ?? null
}

/** False until the user has accepted the invitation. */
export async function hasPassword({ pool }: EmbeddedParts, slug: string, userId: string): Promise<boolean> {
  const user = isUuid(userId) ? await findUserById(pool, slug, userId) : null
  return user !== null && user.password_hash !== null
}

/** Deletes the user with its sessions, refresh tokens and grants. */
export async function deleteUser({ pool }: EmbeddedParts, slug: string, userId: string): Promise<void> {
  if (!isUuid(userId)) return
  await pool.transaction(async (tx) => {
    const subject = await deleteUserRow(tx, slug, userId)
    if (subject !== null) await endSessions(tx, slug, subject)
  })
}

type UserKey = { slug: string; userId: string }

/** Applies from the next token on. */
export async function setUserRoles(
  { pool }: EmbeddedParts,
  { slug, userId }: UserKey,
  roles: readonly string[],
): Promise<void> {
  if (isUuid(userId)) await updateUserRoles(pool, { realm: slug, id: userId, roles })
}

/** Disabling signs the user out everywhere; enabling does not restore the sessions. */
export async function setUserEnabled(
  { pool }: EmbeddedParts,
  { slug, userId }: UserKey,
  isEnabled: boolean,
): Promise<void> {
  if (!isUuid(userId)) return
  await pool.transaction(async (tx) => {
    const subject = await updateUserEnabled(tx, { realm: slug, id: userId, isEnabled })
    if (subject !== null && !isEnabled) await endSessions(tx, slug, subject)
  })
}

/**
 * Sets the password and ends all sessions.
 * @throws {DomainError} VALIDATION_FAILED for a password that the user could not choose either
 */
export async function setPassword({ pool }: EmbeddedParts, { slug, userId }: UserKey, password: string): Promise<void> {
  if (!isUuid(userId)) return
  const user = await findUserById(pool, slug, userId)
  if (user === null) return
  const problem = passwordProblem(password, user.email)
  if (problem !== undefined) throw invalidField('password', 'WEAK_PASSWORD', problem)
  const passwordHash = await hashPassword(password)
  await pool.transaction(async (tx) => {
    const subject = await updatePassword(tx, { realm: slug, id: userId, passwordHash, isByLink: false })
    if (subject !== null) await endSessions(tx, slug, subject)
  })
}
