import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { DomainError } from '../lib/errors.ts'
import type { MerchantRole } from '../lib/permissions.ts'
import { adminsAbleToSignIn, requireAnotherAdmin, recordMemberAction, syncMemberRole } from './member-change.ts'
import type { TeamApp } from './member-change.ts'
import { findMember, listMembers, lockTeam, updateMember } from './members-sql.ts'
import type { MemberKey } from './members-sql.ts'
import { realmOf } from './merchant-realm.ts'
import type { TeamMemberRecord } from './record.ts'

/*
 * A member may do what both our row and the identity provider's roles allow. The row is changed first, so after a
 * provider failure the member may do less than the row says, never more. Repeating the request repairs that.
 */

/** The merchant's active team. */
export function listTeam(app: Pick<App, 'pool'>, merchantId: string): Promise<readonly TeamMemberRecord[]> {
  return listMembers(app.pool, merchantId)
}

/**
 * Changes a member's role, effective at once even for existing tokens.
 * @throws {DomainError} TEAM_MEMBER_NOT_FOUND, LAST_ADMIN
 * @throws {IdentityUnavailableError}
 */
export async function changeTeamRole(
  app: TeamApp,
  { role, ...input }: MemberKey & { role: MerchantRole; actor: Actor },
): Promise<TeamMemberRecord> {
  const { realm, member: known } = await readMember(app, input)
  const signsIn =
    role === 'ADMIN' ? new Set<string>() : await adminsAbleToSignIn(app, realm, { ...input, member: known })
  const changed = await app.pool.transaction(async (tx) => {
    const member = await lockMember(tx, input)
    if (!member.is_active) throw memberNotFound()
    if (member.role === role) return member
    await requireAnotherAdmin(tx, { ...input, member, signsIn })
    const before = { role: member.role }
    await recordMemberAction(app, tx, { ...input, action: 'team.role', before, after: { role } })
    return updateMember(tx, input, { role, isActive: true })
  })
  await syncMemberRole(app, realm, input)
  return changed
}

/**
 * Removes a member at once, with account, sessions and tokens. Repeating it repairs a removal that the identity
 * provider missed.
 * @throws {DomainError} TEAM_MEMBER_NOT_FOUND, LAST_ADMIN
 * @throws {IdentityUnavailableError}
 */
export async function removeTeamMember(app: TeamApp, input: MemberKey & { actor: Actor }): Promise<TeamMemberRecord> {
  const { realm, member: known } = await readMember(app, input)
  const signsIn = await adminsAbleToSignIn(app, realm, { ...input, member: known })
  const removed = await app.pool.transaction(async (tx) => {
    const member = await lockMember(tx, input)
    if (!member.is_active) return member
    await requireAnotherAdmin(tx, { ...input, member, signsIn })
    const before = { email: member.email, role: member.role }
    await recordMemberAction(app, tx, { ...input, action: 'team.remove', before })
    return updateMember(tx, input, { role: member.role, isActive: false })
  })
  await app.identity.deleteUser(realm, input.id)
  return removed
}

async function readMember(app: TeamApp, key: MemberKey): Promise<{ realm: string; member: TeamMemberRecord }> {
  // No id contains a NUL, and PostgreSQL rejects it.
  const member = key.id.includes('\u0000') ? null : await findMember(app.pool, key)
  if (member === null) throw memberNotFound()
  return { realm: await realmOf(app, key.merchantId), member }
}

async function lockMember(tx: DatabaseTransactionConnection, key: MemberKey): Promise<TeamMemberRecord> {
  await lockTeam(tx, key.merchantId)
  const member = await findMember(tx, key)
  if (member === null) throw memberNotFound()
  return member
}

function memberNotFound(): DomainError {
  return new DomainError('TEAM_MEMBER_NOT_FOUND', 'team member not found')
}
