import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { PlatformRole } from '../lib/permissions.ts'
import { PlatformUser } from './record.ts'

const columns = sql.fragment`
  id, keycloak_user_id, email, display_name, role::text as role, is_active, created_at, last_seen_at
`

/** The staff member with this `sub`, active or not. */
export function findPlatformUser(tx: CommonQueryMethods, subject: string): Promise<PlatformUser | null> {
  return tx.maybeOne(sql.prepared('find_platform_user', PlatformUser)`
    select ${columns} from platform_users where keycloak_user_id = ${subject}
  `)
}

/** Updated at most once a minute, however many processes the person uses. */
export async function markSeen(tx: CommonQueryMethods, userId: string): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    update platform_users
    set last_seen_at = now()
    where id = ${userId} and (last_seen_at is null or last_seen_at < now() - interval '1 minute')
  `)
}

/** Active staff, oldest first. */
export function listPlatformUsers(tx: CommonQueryMethods): Promise<readonly PlatformUser[]> {
  return tx.any(sql.type(PlatformUser)`
    select ${columns} from platform_users where is_active order by created_at, id
  `)
}

/** A staff member, active or not. */
export function findStaffMember(tx: CommonQueryMethods, id: string): Promise<PlatformUser | null> {
  return tx.maybeOne(sql.type(PlatformUser)`
    select ${columns} from platform_users where id = ${id}
  `)
}

export function findStaffByEmail(tx: CommonQueryMethods, email: string): Promise<PlatformUser | null> {
  return tx.maybeOne(sql.type(PlatformUser)`
    select ${columns} from platform_users where email = ${email} and is_active
  `)
}

/**
 * Serialises changes of the staff until the transaction ends, so that two concurrent removals can't remove the last
 * OWNER.
 */
export async function lockStaff(tx: CommonQueryMethods): Promise<void> {
  await tx.query(sql.type(z.object({ locked: z.unknown() }))`
    select pg_advisory_xact_lock(hashtextextended('platform_users', 0)) as locked
  `)
}

/** Active OWNERs, oldest first. */
export function listOwners(tx: CommonQueryMethods): Promise<readonly PlatformUser[]> {
  return tx.any(sql.type(PlatformUser)`
    select ${columns} from platform_users where is_active and role = 'OWNER' order by created_at, id
  `)
}

export type NewStaff = { id: string; userId: string; email: string; displayName: string; role: PlatformRole }

/** Inserts an active member; null if the address or the account exists. */
export function insertStaff(tx: CommonQueryMethods, staff: NewStaff): Promise<PlatformUser | null> {
  return tx.maybeOne(sql.type(PlatformUser)`
    insert into platform_users (id, keycloak_user_id, email, display_name, role)
    values (${staff.id}, ${staff.userId}, ${staff.email}, ${staff.displayName}, ${staff.role}::platform_role)
    on conflict do nothing
    returning ${columns}
  `)
}

export type StaffRow = Pick<PlatformUser, 'keycloak_user_id' | 'display_name' | 'role' | 'is_active'>

export function updateStaff(tx: CommonQueryMethods, id: string, row: StaffRow): Promise<PlatformUser> {
  return tx.one(sql.type(PlatformUser)`
    update platform_users
    set keycloak_user_id = ${row.keycloak_user_id}, display_name = ${row.display_name},
      role = ${row.role}::platform_role, is_active = ${row.is_active}, updated_at = now()
    where id = ${id}
    returning ${columns}
  `)
}
