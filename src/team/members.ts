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
 * A person may do what both say: our row and the roles at the identity provider. So the row is changed first, and a
 * provider that fails then leaves less than the row says, never more. Repeating the request takes up what is missing.
 */

/** The merchant's active team. */
export function listTeam(app: Pick<App, 'pool'>, merchantId: string): Promise<readonly TeamMemberRecord[]> {
  return listMembers(app.pool, merchantId)
}

/**
 * Changes what a member may do, from now on and whatever their tokens say.
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
 * Takes someone off the team at once, and the account with its sessions and tokens. Repeating it heals a removal that the
 * identity provider did not hear of.
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
  // No id of ours has it, and PostgreSQL can't read it.
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
  return new DomainError('TEAM_MEMBER_NOT_FOUND', 'the team has no such member')
}
