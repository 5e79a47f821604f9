import { rejectOwnFactor } from '../identity/own-factor.ts'
import { resetUserFactor } from '../identity/reset-user-factor.ts'
import type { Actor } from '../audit/record.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { findMerchant } from '../merchants/sql.ts'
import { recordAction } from '../audit/record-action.ts'
import type { TeamApp } from './member-change.ts'
import { findMember, findMemberByEmail } from './members-sql.ts'
import type { MemberKey } from './members-sql.ts'
import { realmOf } from './merchant-realm.ts'
import type { TeamMemberRecord } from './record.ts'

/**
 * Resets the second factor of a team member. Nothing is changed or recorded for a member who has none.
 * @throws {DomainError} TEAM_MEMBER_NOT_FOUND, OWN_FACTOR
 * @throws {IdentityUnavailableError}
 */
export async function resetTeamFactor(
  app: TeamApp,
  { actor, ...key }: MemberKey & { actor: Actor },
): Promise<TeamMemberRecord> {
  // No id contains a NUL, and PostgreSQL rejects it.
  const member = key.id.includes('\u0000') ? null : await findMember(app.pool, key)
  rejectOwnFactor(actor, key.id)
  return reset(app, member, { merchantId: key.merchantId, actor })
}

type MemberReset = { merchantId: string; email: string; reason?: string | undefined; actor: Actor }

/**
 * The same by an operator, for an ADMIN whom no other ADMIN can help.
 * @throws {DomainError} MERCHANT_NOT_FOUND, TEAM_MEMBER_NOT_FOUND
 * @throws {IdentityUnavailableError}
 */
export async function resetMemberFactor(app: TeamApp, { email, ...input }: MemberReset): Promise<TeamMemberRecord> {
  const { merchantId } = input
  if (!isUuid(merchantId) || (await findMerchant(app.pool, merchantId)) === null) {
    throw new DomainError('MERCHANT_NOT_FOUND', 'merchant not found')
  }
  return reset(app, await findMemberByEmail(app.pool, { merchantId, email }), input)
}

async function reset(
  app: TeamApp,
  member: TeamMemberRecord | null,
  { merchantId, reason, actor }: Omit<MemberReset, 'email'>,
): Promise<TeamMemberRecord> {
  if (member?.is_active !== true) throw new DomainError('TEAM_MEMBER_NOT_FOUND', 'team member not found')
  const realm = await realmOf(app, merchantId)
  const having = await app.identity.usersWithFactor?.(realm, [member.id])
  if (having?.has(member.id) === false) return member
  // The trail has it first, as for staff.
  await recordAction(app, app.pool, { actor, action: 'team.reset_factor', merchantId, subjectId: member.id, reason })
  await resetUserFactor(app, realm, member.id)
  return member
}
