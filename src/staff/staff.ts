import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import type { PlatformRole } from '../lib/permissions.ts'
import { PLATFORM_REALM } from '../lib/realms.ts'
import type { PlatformUser } from './record.ts'
import { rejectOwnFactor } from '../identity/own-factor.ts'
import { resetUserFactor } from '../identity/reset-user-factor.ts'
import { ownersAbleToSignIn, requireAnotherOwner, recordStaffAction, syncStaffRole } from './staff-change.ts'
import type { StaffApp, StaffChange } from './staff-change.ts'
import { findStaffMember, listPlatformUsers, lockStaff, updateStaff } from './users-sql.ts'

/*
 * As in a merchant's team, a member may do what both our row and the identity provider allow. The row is changed first,
 * so after a provider failure the member may do less than the row says; repeating the request repairs that.
 */

/** The platform's active staff. */
export function listStaff(app: Pick<App, 'pool'>): Promise<readonly PlatformUser[]> {
  return listPlatformUsers(app.pool)
}

/**
 * Changes a staff member's role, effective at once even for existing tokens.
 * @throws {DomainError} STAFF_NOT_FOUND, LAST_OWNER
 * @throws {IdentityUnavailableError}
 */
export async function changeStaffRole(
  app: StaffApp,
  { role, ...input }: StaffChange & { role: PlatformRole },
): Promise<PlatformUser> {
  const known = await readMember(app, input.id)
  const signsIn = role === 'OWNER' ? new Set<string>() : await ownersAbleToSignIn(app, known)
  const changed = await app.pool.transaction(async (tx) => {
    const member = await lockMember(tx, input.id)
    if (!member.is_active) throw staffNotFound()
    if (member.role === role) return member
    await requireAnotherOwner(tx, member, signsIn)
    await recordStaffAction(app, tx, { ...input, action: 'staff.role', before: { role: member.role }, after: { role } })
    return updateStaff(tx, member.id, { ...member, role })
  })
  await syncStaffRole(app, changed)
  return changed
}

/**
 * Removes a staff member at once, with account, sessions and tokens. Repeating it repairs a removal that the identity
 * provider missed.
 * @throws {DomainError} STAFF_NOT_FOUND, LAST_OWNER
 * @throws {IdentityUnavailableError}
 */
export async function removeStaff(app: StaffApp, input: StaffChange): Promise<PlatformUser> {
  const signsIn = await ownersAbleToSignIn(app, await readMember(app, input.id))
  const removed = await app.pool.transaction(async (tx) => {
    const member = await lockMember(tx, input.id)
    if (!member.is_active) return member
    await requireAnotherOwner(tx, member, signsIn)
    const before = { email: member.email, role: member.role }
    await recordStaffAction(app, tx, { ...input, action: 'staff.remove', before })
    return updateStaff(tx, member.id, { ...member, is_active: false })
  })
  await app.identity.deleteUser(PLATFORM_REALM, removed.keycloak_user_id)
  return removed
}

/**
 * Resets the second factor of a staff member, who sets up another at the next sign-in.
 * @throws {DomainError} STAFF_NOT_FOUND, OWN_FACTOR
 * @throws {IdentityUnavailableError}
 */
export async function resetStaffFactor(app: StaffApp, input: StaffChange): Promise<PlatformUser> {
  const member = await readMember(app, input.id)
  if (!member.is_active) throw staffNotFound()
  rejectOwnFactor(input.actor, member.keycloak_user_id)
  // The trail has it first: an unrecorded reset would be worse than a recorded one that has to be repeated.
  await recordStaffAction(app, app.pool, { ...input, action: 'staff.reset_factor' })
  await resetUserFactor(app, PLATFORM_REALM, member.keycloak_user_id)
  return member
}

async function readMember(app: StaffApp, id: string): Promise<PlatformUser> {
  const member = isUuid(id) ? await findStaffMember(app.pool, id) : null
  if (member === null) throw staffNotFound()
  return member
}

async function lockMember(tx: DatabaseTransactionConnection, id: string): Promise<PlatformUser> {
  await lockStaff(tx)
  const member = await findStaffMember(tx, id)
  if (member === null) throw staffNotFound()
  return member
}

function staffNotFound(): DomainError {
  return new DomainError('STAFF_NOT_FOUND', 'staff member not found')
}
