import type { Actor } from '../audit/record.ts'
import { ensureUser, ensureRecordedUser } from '../identity/ensure-user.ts'
import { inviteAfter, inviteWithin } from '../identity/invite-within.ts'
import type { SentWithin } from '../identity/invite-within.ts'
import { checkInvitation } from '../identity/invitation-limit.ts'
import type { InviteInput } from '../identity/invitation-limit.ts'
import { DomainError } from '../lib/errors.ts'
import type { MerchantRole } from '../lib/permissions.ts'
import { clientIdsOf } from '../lib/realms.ts'
import { adminsAbleToSignIn, requireAnotherAdmin, recordMemberAction, syncMemberRole } from './member-change.ts'
import type { TeamApp } from './member-change.ts'
import { countMembers, findMember, findMemberByEmail, insertMember, lockTeam, updateMember } from './members-sql.ts'
import { existingRealmOf } from './merchant-realm.ts'
import type { TeamMemberRecord } from './record.ts'

/** Active members of a team. Anybody can register a merchant, and a change of an ADMIN asks about all ADMINs. */
const MEMBERS_MAX = 100

export type MemberInvitation = { merchantId: string; email: string; role: MerchantRole; actor: Actor }

/**
 * Invites someone by e-mail (an address in lower case). A member who has not accepted yet gets another invitation with
 * the new role; an account that the identity provider has lost is created again, with another id.
 * @throws {DomainError} USER_EXISTS, LAST_ADMIN, TEAM_LIMIT_REACHED, RATE_LIMITED for too many invitations,
 *   SERVICE_UNAVAILABLE for a merchant without a realm
 * @throws {IdentityUnavailableError}
 */
export async function inviteTeamMember(app: TeamApp, input: MemberInvitation): Promise<TeamMemberRecord> {
  const { merchantId, email } = input
  const realm = await existingRealmOf(app, merchantId)
  const known = await findMemberByEmail(app.pool, { merchantId, email })
  const { member, sent } =
    known === null ? await admit(app, realm, input) : await inviteAgain(app, realm, { ...input, known })
  await syncMemberRole(app, realm, { merchantId, id: member.id })
  await inviteAfter(app, sent, invitationOf(app, input, { realm, id: member.id }))
  return member
}

type Invited = { member: TeamMemberRecord; sent: SentWithin }

function invitationOf(
  { config }: TeamApp,
  { merchantId, email }: MemberInvitation,
  { realm, id }: { realm: string; id: string },
): InviteInput {
  return {
    realm,
    userId: id,
    email,
    invitation: {
      clientId: clientIdsOf(realm).portal,
      lifespanSeconds: config.inviteSeconds,
      deliver: 'mail',
      merchantId,
    },
  }
}

async function admit(app: TeamApp, realm: string, input: MemberInvitation): Promise<Invited> {
  const { merchantId, email, role, actor } = input
  // Also before the account is made, which would be left in the realm.
  if ((await countMembers(app.pool, merchantId)) >= MEMBERS_MAX) throw teamLimitReached()
  await checkInvitation(app, realm, email)
  const id = await ensureUser(app.identity, { realm, email, isRemoved: (userId) => isRemoved(app, merchantId, userId) })
  return app.pool.transaction(async (tx) => {
    await lockTeam(tx, merchantId)
    const added = await insertMember(tx, { merchantId, id, email, role, invitedBy: actor.name })
    if (added !== null && (await countMembers(tx, merchantId)) > MEMBERS_MAX) throw teamLimitReached()
    // A concurrent request has invited the same person.
    const member = added ?? (await findMemberByEmail(tx, { merchantId, email }))
    if (member === null) throw new Error('a team member was neither inserted nor found')
    const sent = await inviteWithin(app.identity, tx, invitationOf(app, input, { realm, id: member.id }))
    // Last: until the commit all other recorded actions wait for this one.
    if (added !== null)
      await recordMemberAction(app, tx, { ...input, id, action: 'team.invite', after: { email, role } })
    return { member, sent }
  })
}

function teamLimitReached(): DomainError {
  return new DomainError('TEAM_LIMIT_REACHED', `a team can have at most ${MEMBERS_MAX} members`, {
    next: 'remove one who no longer needs access',
    nextStep: { operation: 'listTeam', params: {} },
  })
}

async function isRemoved(app: TeamApp, merchantId: string, userId: string): Promise<boolean> {
  return (await findMember(app.pool, { merchantId, id: userId }))?.is_active === false
}

type InviteAgainInput = MemberInvitation & { known: TeamMemberRecord }

async function inviteAgain(app: TeamApp, realm: string, { known, ...input }: InviteAgainInput): Promise<Invited> {
  const { merchantId, email, role } = input
  if (await app.identity.hasPassword(realm, known.id)) {
    throw new DomainError('USER_EXISTS', 'a team member with this e-mail address already exists', {
      next: 'change the role with PUT /api/v1/portal/team/{id}; a forgotten password is reset on the sign-in page',
      nextStep: { operation: 'changeTeamRole', params: { id: known.id } },
    })
  }
  await checkInvitation(app, realm, email)
  const signsIn = await adminsAbleToSignIn(app, realm, { merchantId, member: known })
  const userId = await ensureRecordedUser(app.identity, {
    realm,
    email,
    userId: known.id,
    isRemoved: (found) => isRemoved(app, merchantId, found),
  })
  const again = await app.pool.transaction(async (tx) => {
    await lockTeam(tx, merchantId)
    const member = await findMemberByEmail(tx, { merchantId, email })
    if (member === null) return null
    if (member.role !== role) await requireAnotherAdmin(tx, { merchantId, member, signsIn })
    const before = { id: member.id, role: member.role }
    const after = { id: userId, role, email }
    const updated = await updateMember(tx, { merchantId, id: member.id }, { userId, role, isActive: true })
    const sent = await inviteWithin(app.identity, tx, invitationOf(app, input, { realm, id: updated.id }))
    await recordMemberAction(app, tx, { ...input, id: userId, action: 'team.reinvite', before, after })
    return { member: updated, sent }
  })
  // A concurrent request has removed the person.
  return again ?? admit(app, realm, input)
}
