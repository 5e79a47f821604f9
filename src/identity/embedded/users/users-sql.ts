import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../../../db/sql.ts'
import { UserRecord } from '../record.ts'

const Subject = z.object({ subject: z.string() })
const Id = z.object({ id: z.string() })

const userColumns = sql.fragment`id, realm, subject, email, display_name, password_hash, roles, is_enabled, sessions_valid_from`

/** The user that a `sub` names, enabled or not. */
export function findUserBySubject(db: CommonQueryMethods, realm: string, subject: string): Promise<UserRecord | null> {
  return db.maybeOne(sql.prepared('find_idp_user_by_subject', UserRecord)`
    select ${userColumns} from idp.users where realm = ${realm} and subject = ${subject}
  `)
}

/** The same, which nobody else changes until the transaction ends. */
export function lockUser(db: CommonQueryMethods, realm: string, id: string): Promise<UserRecord | null> {
  return db.maybeOne(sql.type(UserRecord)`
    select ${userColumns} from idp.users where realm = ${realm} and id = ${id}::uuid for update
  `)
}

/** The user that signs in with this address, in lower case. */
export function findUserByEmail(db: CommonQueryMethods, realm: string, email: string): Promise<UserRecord | null> {
  return db.maybeOne(sql.prepared('find_idp_user_by_email', UserRecord)`
    select ${userColumns} from idp.users where realm = ${realm} and email = ${email}
  `)
}

export function findUserById(db: CommonQueryMethods, realm: string, id: string): Promise<UserRecord | null> {
  return db.maybeOne(sql.type(UserRecord)`
    select ${userColumns} from idp.users where realm = ${realm} and id = ${id}::uuid
  `)
}

export type NewUserRow = {
  id: string
  realm: string
  subject: string
  email: string
  displayName: string | null
  roles: readonly string[]
}

/** @returns whether the realm is there, and address and subject were free in it */
export async function insertUser(db: CommonQueryMethods, user: NewUserRow): Promise<boolean> {
  const inserted = await db.maybeOne(sql.type(Id)`
    insert into idp.users (id, realm, subject, email, display_name, roles)
    select ${user.id}::uuid, r.slug, ${user.subject}, ${user.email}, ${user.displayName},
      ${sql.array([...user.roles], 'text')}
    from idp.realms r
    where r.slug = ${user.realm}
    on conflict do nothing
    returning id
  `)
  return inserted !== null
}

/** @returns the subject whose sessions end with it; null where there was no such user */
export async function deleteUserRow(db: CommonQueryMethods, realm: string, id: string): Promise<string | null> {
  const deleted = await db.maybeOne(sql.type(Subject)`
    delete from idp.users where realm = ${realm} and id = ${id}::uuid returning subject
  `)
  return deleted?.subject ?? null
}

export async function updateUserRoles(
  db: CommonQueryMethods,
  { realm, id, roles }: { realm: string; id: string; roles: readonly string[] },
): Promise<void> {
  await db.query(sql.typeAlias('void')`
    update idp.users set roles = ${sql.array([...roles], 'text')} where realm = ${realm} and id = ${id}::uuid
  `)
}

/** @returns the subject; null where there is no such user */
export async function updateUserEnabled(
  db: CommonQueryMethods,
  { realm, id, isEnabled }: { realm: string; id: string; isEnabled: boolean },
): Promise<string | null> {
  const updated = await db.maybeOne(sql.type(Subject)`
    update idp.users set is_enabled = ${isEnabled} where realm = ${realm} and id = ${id}::uuid returning subject
  `)
  return updated?.subject ?? null
}

/** Sets the password, and forgets the guesses before it. @returns the subject; null where there is no such user */
export async function updatePassword(
  db: CommonQueryMethods,
  { realm, id, passwordHash }: { realm: string; id: string; passwordHash: string },
): Promise<string | null> {
  const updated = await db.maybeOne(sql.type(Subject)`
    update idp.users
    set password_hash = ${passwordHash}, failed_logins = 0, locked_until = null
    where realm = ${realm} and id = ${id}::uuid
    returning subject
  `)
  return updated?.subject ?? null
}
