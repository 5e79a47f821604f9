import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../../../db/sql.ts'
import { isUuid } from '../../../lib/ids.ts'
import { UserRecord } from '../record.ts'

const Subject = z.object({ subject: z.string() })
const Id = z.object({ id: z.string() })

const UserAddress = z.object({ id: z.string(), email: z.string(), has_password: z.boolean() })
export type UserAddress = z.infer<typeof UserAddress>

const userColumns = sql.fragment`
  id, realm, subject, email, display_name, password_hash, roles, is_enabled, sessions_valid_from,
  coalesce(password_linked_at > clock_timestamp() - interval '1 hour', false) as is_address_proved`

/** The user with this `sub`, enabled or not. */
export function findUserBySubject(tx: CommonQueryMethods, realm: string, subject: string): Promise<UserRecord | null> {
  return tx.maybeOne(sql.prepared('find_idp_user_by_subject', UserRecord)`
    select ${userColumns} from idp.users where realm = ${realm} and subject = ${subject}
  `)
}

/** The user, locked until the transaction ends. */
export function lockUser(tx: CommonQueryMethods, realm: string, id: string): Promise<UserRecord | null> {
  return tx.maybeOne(sql.type(UserRecord)`
    select ${userColumns} from idp.users where realm = ${realm} and id = ${id}::uuid for update
  `)
}

/** The user with this address, in lower case. */
export function findUserByEmail(tx: CommonQueryMethods, realm: string, email: string): Promise<UserRecord | null> {
  return tx.maybeOne(sql.prepared('find_idp_user_by_email', UserRecord)`
    select ${userColumns} from idp.users where realm = ${realm} and email = ${email}
  `)
}

export function findUserById(tx: CommonQueryMethods, realm: string, id: string): Promise<UserRecord | null> {
  return tx.maybeOne(sql.type(UserRecord)`
    select ${userColumns} from idp.users where realm = ${realm} and id = ${id}::uuid
  `)
}

/**
 * The user that a link may be sent to. The row stays locked until the transaction ends, so that requests for one user
 * run one after another.
 */
export function lockUserByEmail(tx: CommonQueryMethods, realm: string, email: string): Promise<UserAddress | null> {
  return tx.maybeOne(sql.type(UserAddress)`
    select id, email, password_hash is not null as has_password
    from idp.users
    where realm = ${realm} and email = ${email} and is_enabled
    for update
  `)
}

/** Which of a realm's users have a password. */
export async function listUsersWithPassword(
  tx: CommonQueryMethods,
  realm: string,
  userIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await tx.any(sql.type(Id)`
    select id from idp.users
    where realm = ${realm} and id = any(${sql.array(userIds.filter(isUuid), 'uuid')}) and password_hash is not null
  `)
  return new Set(rows.map(({ id }) => id))
}

export type NewUserRow = {
  id: string
  realm: string
  subject: string
  email: string
  displayName: string | null
  roles: readonly string[]
}

/** @returns whether it was inserted: false if the realm does not exist, or the address or subject is taken */
export async function insertUser(tx: CommonQueryMethods, user: NewUserRow): Promise<boolean> {
  const inserted = await tx.maybeOne(sql.type(Id)`
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

/** @returns the subject whose sessions have to end; null if there was no such user */
export async function deleteUserRow(tx: CommonQueryMethods, realm: string, id: string): Promise<string | null> {
  const deleted = await tx.maybeOne(sql.type(Subject)`
    delete from idp.users where realm = ${realm} and id = ${id}::uuid returning subject
  `)
  return deleted?.subject ?? null
}

export async function updateUserRoles(
  tx: CommonQueryMethods,
  { realm, id, roles }: { realm: string; id: string; roles: readonly string[] },
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    update idp.users set roles = ${sql.array([...roles], 'text')} where realm = ${realm} and id = ${id}::uuid
  `)
}

/** @returns the subject; null where there is no such user */
export async function updateUserEnabled(
  tx: CommonQueryMethods,
  { realm, id, isEnabled }: { realm: string; id: string; isEnabled: boolean },
): Promise<string | null> {
  const updated = await tx.maybeOne(sql.type(Subject)`
    update idp.users set is_enabled = ${isEnabled} where realm = ${realm} and id = ${id}::uuid returning subject
  `)
  return updated?.subject ?? null
}

/**
 * Sets the password and resets the attempt count.
 * @param isByLink whether the person has proved to read the address
 * @returns the subject; null if there is no such user
 */
export async function updatePassword(
  tx: CommonQueryMethods,
  { realm, id, passwordHash, isByLink }: { realm: string; id: string; passwordHash: string; isByLink: boolean },
): Promise<string | null> {
  const updated = await tx.maybeOne(sql.type(Subject)`
    update idp.users
    set password_hash = ${passwordHash}, password_linked_at = case when ${isByLink} then now() end, failed_logins = 0, locked_until = null
    where realm = ${realm} and id = ${id}::uuid
    returning subject
  `)
  return updated?.subject ?? null
}
