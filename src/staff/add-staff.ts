import type { Actor } from '../audit/record.ts'
import { ensureUser, ensureRecordedUser } from '../identity/ensure-user.ts'
import { inviteAfter, inviteWithin } from '../identity/invite-within.ts'
import type { SentWithin } from '../identity/invite-within.ts'
import { checkInvitation } from '../identity/invitation-limit.ts'
import type { InviteInput } from '../identity/invitation-limit.ts'
import { DomainError } from '../lib/errors.ts'
import type { PlatformRole } from '../lib/permissions.ts'
import { PLATFORM_REALM, clientIdsOf } from '../lib/realms.ts'
import { ensurePlatform } from './ensure-platform.ts'
import type { PlatformUser } from './record.ts'
import { ownersAbleToSignIn, requireAnotherOwner, recordStaffAction, syncStaffRole } from './staff-change.ts'
import type { StaffApp } from './staff-change.ts'
import { findPlatformUser, findStaffByEmail, insertStaff, listOwners, lockStaff, updateStaff } from './users-sql.ts'

export type StaffInvitation = {
  /** The address in lower case. */
  email: string
  displayName?: string | undefined
  role: PlatformRole
  reason?: string | undefined
  actor: Actor
  /** `link` returns the invitation's link instead of mailing it, for the first operator (decision 62). */
  deliver?: 'mail' | 'link'
  /** Succeeds only while the platform has no other OWNER that the identity provider knows. */
  isFirstOwner?: boolean
}

/**
 * Invites someone to the staff. A member who has not accepted yet gets another invitation, with the new role and name;
 * an account that the identity provider has lost is created again.
 * @returns the link if it was requested and there is an identity provider
 * @throws {DomainError} USER_EXISTS, LAST_OWNER, RATE_LIMITED for too many invitations
 * @throws {IdentityUnavailableError}
 */
export async function addStaff(
  app: StaffApp,
  input: StaffInvitation,
): Promise<{ member: PlatformUser; link: string | null }> {
  await ensurePlatform(app)
  const lostOwnerIds = input.isFirstOwner === true ? await lostOwners(app) : []
  if (input.isFirstOwner === true) rejectSecondOwner(await listOwners(app.pool), input.email, lostOwnerIds)
  const known = await findStaffByEmail(app.pool, input.email)
  const { member, sent } =
    known === null ? await admit(app, { ...input, lostOwnerIds }) : await inviteAgain(app, { ...input, known })
  await syncStaffRole(app, member)
  return { member, link: await inviteAfter(app, sent, invitationOf(app, input, member)) }
}

type Invited = { member: PlatformUser; sent: SentWithin }

function invitationOf({ config }: StaffApp, { deliver = 'mail' }: StaffInvitation, member: PlatformUser): InviteInput {
  return {
    realm: PLATFORM_REALM,
    userId: member.keycloak_user_id,
    email: member.email,
    invitation: {
      clientId: clientIdsOf(PLATFORM_REALM).portal,
      lifespanSeconds: config.inviteSeconds,
      deliver,
      merchantId: null,
    },
  }
}

/** OWNERs that the identity provider does not know, because it was set up again or is newer than our rows. */
async function lostOwners({ pool, identity }: StaffApp): Promise<string[]> {
  if (identity.kind === 'none') return []
  const owners = await listOwners(pool)
  const found = await Promise.all(owners.map(({ email }) => identity.findUser(PLATFORM_REALM, email)))
  return owners.filter((owner, index) => found[index] !== owner.keycloak_user_id).map(({ id }) => id)
}

function rejectSecondOwner(owners: readonly PlatformUser[], email: string, lostOwnerIds: readonly string[]): void {
  const other = owners.find((owner) => owner.email !== email && !lostOwnerIds.includes(owner.id))
  if (other === undefined) return
  throw new DomainError('USER_EXISTS', `the platform already has an OWNER: ${other.email}`, {
    next: 'ask an OWNER to add you: svc staff invite --email … --role OWNER',
  })
}

async function admit(app: StaffApp, input: StaffInvitation & { lostOwnerIds: readonly string[] }): Promise<Invited> {
  const { email, role } = input
  await checkMail(app, input)
  const displayName = input.displayName ?? email.split('@', 1)[0] ?? email
  const userId = await ensureUser(app.identity, staffUserInput(app, email, displayName))
  const id = app.ids.uuid()
  return app.pool.transaction(async (tx) => {
    await lockStaff(tx)
    if (input.isFirstOwner === true) rejectSecondOwner(await listOwners(tx), email, input.lostOwnerIds)
    const added = await insertStaff(tx, { id, userId, email, displayName, role })
    // A concurrent request has invited the same person.
    const member = added ?? (await findStaffByEmail(tx, email))
    if (member === null) throw new Error('a staff member was neither inserted nor found')
    const sent = await inviteWithin(app.identity, tx, invitationOf(app, input, member))
    // Last: until the commit all other recorded actions wait for this one.
    if (added !== null) await recordStaffAction(app, tx, { ...input, id, action: 'staff.add', after: { email, role } })
    return { member, sent }
  })
}

async function checkMail(app: StaffApp, { deliver, email }: StaffInvitation): Promise<void> {
  if (deliver !== 'link') await checkInvitation(app, PLATFORM_REALM, email)
}

function staffUserInput({ pool }: StaffApp, email: string, displayName: string) {
  return {
    realm: PLATFORM_REALM,
    email,
    displayName,
    isRemoved: async (found: string) => (await findPlatformUser(pool, found))?.is_active === false,
  }
}

async function inviteAgain(
  app: StaffApp,
  { known, ...input }: StaffInvitation & { known: PlatformUser },
): Promise<Invited> {
  const { email, role } = input
  if (await app.identity.hasPassword(PLATFORM_REALM, known.keycloak_user_id)) {
    throw new DomainError('USER_EXISTS', 'a staff member with this e-mail address already exists', {
      next: 'change the role with PUT /api/v1/admin/staff/{id}; a forgotten password is reset on the sign-in page',
      nextStep: { operation: 'changeStaffRole', params: { id: known.id } },
    })
  }
  await checkMail(app, input)
  const signsIn = await ownersAbleToSignIn(app, known)
  const displayName = input.displayName ?? known.display_name
  const userId = await ensureRecordedUser(app.identity, {
    ...staffUserInput(app, email, displayName),
    userId: known.keycloak_user_id,
  })
  const again = await app.pool.transaction(async (tx) => {
    await lockStaff(tx)
    const member = await findStaffByEmail(tx, email)
    if (member === null) return null
    if (member.role !== role) await requireAnotherOwner(tx, member, signsIn)
    const next = { ...member, keycloak_user_id: userId, display_name: displayName, role }
    const { id } = member
    const change = { before: auditedStaff(member), after: { ...auditedStaff(next), email } }
    const updated = await updateStaff(tx, id, next)
    const sent = await inviteWithin(app.identity, tx, invitationOf(app, input, updated))
    await recordStaffAction(app, tx, { ...input, id, action: 'staff.reinvite', ...change })
    return { member: updated, sent }
  })
  // A concurrent request has removed the person.
  return again ?? admit(app, { ...input, lostOwnerIds: [] })
}

function auditedStaff({ keycloak_user_id, display_name, role }: PlatformUser): Record<string, unknown> {
  return { keycloak_user_id, display_name, role }
}
