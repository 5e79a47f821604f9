import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { admitUser, settleRoles } from '../identity/admit-user.ts'
import { DomainError } from '../lib/errors.ts'
import type { MerchantRole } from '../lib/permissions.ts'
import { clientIdsOf } from '../lib/realms.ts'
import { realmOf } from './merchant-realm.ts'
import type { TeamMemberRecord } from './record.ts'
import {
  findMember,
  findMemberByEmail,
  hasOtherAdmin,
  insertMember,
  listMembers,
  lockTeam,
  updateMember,
} from './members-sql.ts'
import type { MemberKey } from './members-sql.ts'

/*
 * A person may do what both say: our row and the roles at the identity provider. So the row is changed first, and a
 * provider that fails then leaves less than the row says, never more. Repeating the request takes up what is missing.
 */

type TeamApp = Pick<App, 'pool' | 'ids' | 'identity' | 'config'>

/** The merchant's active team. */
export function listTeam(app: Pick<App, 'pool'>, merchantId: string): Promise<readonly TeamMemberRecord[]> {
  return listMembers(app.pool, merchantId)
}

export type MemberInvitation = { merchantId: string; email: string; role: MerchantRole; actor: Actor }

/**
 * Invites someone by e-mail (an address in lower case). Who has not taken the invitation yet gets another one, with the
 * role that is asked for now.
 * @throws {DomainError} USER_EXISTS, LAST_ADMIN
 * @throws {IdentityUnavailableError}
 */
export async function inviteMember(app: TeamApp, input: MemberInvitation): Promise<TeamMemberRecord> {
  const { merchantId, email } = input
  const realm = await realmOf(app, merchantId)
  const known = await findMemberByEmail(app.pool, { merchantId, email })
  const member = known === null ? await admit(app, realm, input) : await inviteAgain(app, realm, { ...input, known })
  await settle(app, realm, { merchantId, id: member.id })
  await app.identity.inviteUser(realm, member.id, {
    clientId: clientIdsOf(realm).portal,
    lifespanSeconds: app.config.inviteSeconds,
    deliver: 'mail',
    merchantId,
  })
  return member
}

async function admit(app: TeamApp, realm: string, input: MemberInvitation): Promise<TeamMemberRecord> {
  const { merchantId, email, role, actor } = input
  const id = await admitUser(app.identity, {
    realm,
    email,
    isRemoved: async (userId) => (await findMember(app.pool, { merchantId, id: userId }))?.is_active === false,
  })
  const added = await app.pool.transaction(async (tx) => {
    const member = await insertMember(tx, { merchantId, id, email, role, invitedBy: actor.name })
    if (member !== null) await record(app, tx, { ...input, id, action: 'team.invite', after: { email, role } })
    return member
  })
  // Somebody else has just invited the same person.
  const member = added ?? (await findMemberByEmail(app.pool, { merchantId, email }))
  if (member === null) throw new Error('a team member is neither new nor there')
  return member
}

type Again = MemberInvitation & { known: TeamMemberRecord }

async function inviteAgain(app: TeamApp, realm: string, { known, ...input }: Again): Promise<TeamMemberRecord> {
  const { email, role } = input
  if (await app.identity.hasPassword(realm, known.id)) {
    throw new DomainError('USER_EXISTS', 'the team has a member with this e-mail address', {
      next: 'change the role with PUT /api/v1/portal/team/{id}; who forgot the password asks for a new one when signing in',
    })
  }
  const member = await setRole(app, { ...input, id: known.id })
  await app.pool.transaction((tx) =>
    record(app, tx, { ...input, id: known.id, action: 'team.reinvite', after: { email, role } }),
  )
  return member
}

/**
 * Changes what a member may do, from now on and whatever their tokens say.
 * @throws {DomainError} TEAM_MEMBER_NOT_FOUND, LAST_ADMIN
 * @throws {IdentityUnavailableError}
 */
export async function changeMemberRole(
  app: TeamApp,
  input: MemberKey & { role: MerchantRole; actor: Actor },
): Promise<TeamMemberRecord> {
  const member = await setRole(app, input)
  await settle(app, await realmOf(app, input.merchantId), input)
  return member
}

function setRole(
  app: TeamApp,
  { role, ...input }: MemberKey & { role: MerchantRole; actor: Actor },
): Promise<TeamMemberRecord> {
  return app.pool.transaction(async (tx) => {
    const member = await lockMember(tx, input)
    if (!member.is_active) throw memberNotFound()
    if (member.role === role) return member
    await keepAnAdmin(tx, input, member)
    const before = { role: member.role }
    await record(app, tx, { ...input, action: 'team.role', before, after: { role } })
    return updateMember(tx, input, { role, isActive: true })
  })
}

/**
 * Takes someone off the team at once, and the account with its sessions and tokens. Repeating it heals a removal that the
 * identity provider did not hear of.
 * @throws {DomainError} TEAM_MEMBER_NOT_FOUND, LAST_ADMIN
 * @throws {IdentityUnavailableError}
 */
export async function removeMember(app: TeamApp, input: MemberKey & { actor: Actor }): Promise<TeamMemberRecord> {
  const removed = await app.pool.transaction(async (tx) => {
    const member = await lockMember(tx, input)
    if (!member.is_active) return member
    await keepAnAdmin(tx, input, member)
    const before = { email: member.email, role: member.role }
    await record(app, tx, { ...input, action: 'team.remove', before })
    return updateMember(tx, input, { role: member.role, isActive: false })
  })
  await app.identity.deleteUser(await realmOf(app, input.merchantId), input.id)
  return removed
}

async function lockMember(tx: DatabaseTransactionConnection, key: MemberKey): Promise<TeamMemberRecord> {
  // No id of ours has it, and PostgreSQL can't read it.
  if (key.id.includes('\u0000')) throw memberNotFound()
  await lockTeam(tx, key.merchantId)
  const member = await findMember(tx, key)
  if (member === null) throw memberNotFound()
  return member
}

async function keepAnAdmin(
  tx: DatabaseTransactionConnection,
  key: MemberKey,
  { role }: TeamMemberRecord,
): Promise<void> {
  if (role !== 'ADMIN' || (await hasOtherAdmin(tx, key))) return
  throw new DomainError('LAST_ADMIN', 'the team has no other ADMIN', {
    next: 'make another member an ADMIN first',
  })
}

function settle(app: TeamApp, realm: string, { merchantId, id }: MemberKey): Promise<void> {
  return settleRoles(app.identity, {
    realm,
    userId: id,
    currentRole: async () => {
      const member = await findMember(app.pool, { merchantId, id })
      return member?.is_active === true ? member.role : null
    },
  })
}

type Recorded = MemberKey & {
  actor: Actor
  action: string
  before?: Record<string, unknown>
  after?: Record<string, unknown>
}

function record(app: TeamApp, tx: DatabaseTransactionConnection, { id, ...action }: Recorded): Promise<void> {
  return recordAction(app, tx, { ...action, subjectId: id })
}

function memberNotFound(): DomainError {
  return new DomainError('TEAM_MEMBER_NOT_FOUND', 'the team has no such member')
}
