import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { MerchantRole } from '../lib/permissions.ts'
import { TeamMemberRecord } from './record.ts'

const columns = sql.fragment`id, email, role, is_active, invited_by, created_at`

const Count = z.object({ count: z.int() })

export type MemberKey = { merchantId: string; id: string }

/** Active members, oldest first. */
export function listMembers(tx: CommonQueryMethods, merchantId: string): Promise<readonly TeamMemberRecord[]> {
  return tx.any(sql.type(TeamMemberRecord)`
    select ${columns}
    from team_members
    where merchant_id = ${merchantId} and is_active
    order by created_at, id
  `)
}

/** A member, active or not. */
export function findMember(tx: CommonQueryMethods, { merchantId, id }: MemberKey): Promise<TeamMemberRecord | null> {
  return tx.maybeOne(sql.type(TeamMemberRecord)`
    select ${columns} from team_members where merchant_id = ${merchantId} and id = ${id}
  `)
}

export function findMemberByEmail(
  tx: CommonQueryMethods,
  { merchantId, email }: { merchantId: string; email: string },
): Promise<TeamMemberRecord | null> {
  return tx.maybeOne(sql.type(TeamMemberRecord)`
    select ${columns} from team_members where merchant_id = ${merchantId} and email = ${email} and is_active
  `)
}

/**
 * Serialises changes of a merchant's team until the transaction ends, so that two concurrent removals can't remove the
 * last ADMIN.
 */
export async function lockTeam(tx: CommonQueryMethods, merchantId: string): Promise<void> {
  await tx.query(sql.type(z.object({ locked: z.unknown() }))`
    select pg_advisory_xact_lock(hashtextextended(${`team ${merchantId}`}, 0)) as locked
  `)
}

/** Active ADMINs, oldest first. */
export function listAdmins(tx: CommonQueryMethods, merchantId: string): Promise<readonly TeamMemberRecord[]> {
  return tx.any(sql.type(TeamMemberRecord)`
    select ${columns}
    from team_members
    where merchant_id = ${merchantId} and is_active and role = 'ADMIN'
    order by created_at, id
  `)
}

/** The number of active members. */
export async function countMembers(tx: CommonQueryMethods, merchantId: string): Promise<number> {
  const { count } = await tx.one(sql.type(Count)`
    select count(*)::int4 as count from team_members where merchant_id = ${merchantId} and is_active
  `)
  return count
}

export type NewMember = MemberKey & { email: string; role: MerchantRole; invitedBy: string }

/** Inserts an active member; null if the address or the person exists. */
export function insertMember(tx: CommonQueryMethods, member: NewMember): Promise<TeamMemberRecord | null> {
  return tx.maybeOne(sql.type(TeamMemberRecord)`
    insert into team_members (merchant_id, id, email, role, invited_by)
    values (${member.merchantId}, ${member.id}, ${member.email}, ${member.role}, ${member.invitedBy})
    on conflict do nothing
    returning ${columns}
  `)
}

/** Changes a member. `userId` is a new id if the provider has lost the account. */
export function updateMember(
  tx: CommonQueryMethods,
  { merchantId, id }: MemberKey,
  { userId = id, role, isActive }: { userId?: string; role: MerchantRole; isActive: boolean },
): Promise<TeamMemberRecord> {
  return tx.one(sql.type(TeamMemberRecord)`
    update team_members
    set id = ${userId}, role = ${role}, is_active = ${isActive}, updated_at = now()
    where merchant_id = ${merchantId} and id = ${id}
    returning ${columns}
  `)
}
