import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { admitUser, settleRoles } from '../identity/admit-user.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import type { PlatformRole } from '../lib/permissions.ts'
import { PLATFORM_REALM, clientIdsOf } from '../lib/realms.ts'
import { ensurePlatform } from './ensure-platform.ts'
import type { PlatformUser } from './record.ts'
import { findPlatformUser } from './sql.ts'
import {
  findStaffByEmail,
  findStaffMember,
  insertStaff,
  listOwners,
  listPlatformUsers,
  lockStaff,
  updateStaff,
} from './staff-sql.ts'

/*
 * Like a merchant's team (merchants/team.ts): a person may do what both our row and the identity provider say. The row
 * is changed first, so a provider that fails leaves less than the row says; repeating the request makes up for it.
 */

type StaffApp = Pick<App, 'pool' | 'ids' | 'identity' | 'config' | 'publicUrl'>

/** The platform's active staff. */
export function listStaff(app: Pick<App, 'pool'>): Promise<readonly PlatformUser[]> {
  return listPlatformUsers(app.pool)
}

export type StaffInvitation = {
  /** In lower case. */
  email: string
  displayName?: string | undefined
  role: PlatformRole
  reason?: string | undefined
  actor: Actor
  /** `link` returns the invitation instead of mailing it, for the first operator (decision 62). */
  deliver?: 'mail' | 'link'
  /** Only while the platform has no other OWNER. */
  onlyFirst?: boolean
}

/**
 * Invites someone to the staff. Who has not taken the invitation yet gets another one, with the role asked for now.
 * @returns the link where it was asked for, and there is an identity provider
 * @throws {DomainError} USER_EXISTS, LAST_OWNER
 * @throws {IdentityUnavailableError}
 */
export async function addStaff(
  app: StaffApp,
  input: StaffInvitation,
): Promise<{ member: PlatformUser; link: string | null }> {
  await ensurePlatform(app)
  if (input.onlyFirst === true) refuseSecond(await listOwners(app.pool), input.email)
  const known = await findStaffByEmail(app.pool, input.email)
  const member = known === null ? await admit(app, input) : await inviteAgain(app, { ...input, known })
  await settle(app, member)
  const link = await app.identity.inviteUser(PLATFORM_REALM, member.keycloak_user_id, {
    clientId: clientIdsOf(PLATFORM_REALM).portal,
    lifespanSeconds: app.config.inviteSeconds,
    deliver: input.deliver ?? 'mail',
    merchantId: null,
  })
  return { member, link }
}

async function admit(app: StaffApp, input: StaffInvitation): Promise<PlatformUser> {
  const { email, role } = input
  const displayName = input.displayName ?? email.split('@', 1)[0] ?? email
  const userId = await admitUser(app.identity, {
    realm: PLATFORM_REALM,
    email,
    displayName,
    isRemoved: async (found) => (await findPlatformUser(app.pool, found))?.is_active === false,
  })
  const id = app.ids.uuid()
  const added = await app.pool.transaction(async (tx) => {
    await lockStaff(tx)
    if (input.onlyFirst === true) refuseSecond(await listOwners(tx), email)
    const member = await insertStaff(tx, { id, userId, email, displayName, role })
    if (member !== null) await record(app, tx, { ...input, id, action: 'staff.add', after: { email, role } })
    return member
  })
  // Somebody else has just invited the same person.
  const member = added ?? (await findStaffByEmail(app.pool, email))
  if (member === null) throw new Error('a staff member is neither new nor there')
  return member
}

function refuseSecond(owners: readonly PlatformUser[], email: string): void {
  const other = owners.find((owner) => owner.email !== email)
  if (other === undefined) return
  throw new DomainError('USER_EXISTS', `the platform has an OWNER already: ${other.email}`, {
    next: 'an OWNER adds others: svc staff add --email … --role OWNER',
  })
}

async function inviteAgain(app: StaffApp, input: StaffInvitation & { known: PlatformUser }): Promise<PlatformUser> {
  const { known, email, role } = input
  if (await app.identity.hasPassword(PLATFORM_REALM, known.keycloak_user_id)) {
    throw new DomainError('USER_EXISTS', 'the staff has a member with this e-mail address', {
      next: 'change the role with PUT /api/v1/admin/staff/{id}; who forgot the password asks for a new one when signing in',
    })
  }
  const member = await setRole(app, { ...input, id: known.id })
  await app.pool.transaction((tx) =>
    record(app, tx, { ...input, id: known.id, action: 'staff.reinvite', after: { email, role } }),
  )
  return member
}

type StaffChange = { id: string; reason?: string | undefined; actor: Actor }

/**
 * Changes what a staff member may do, from now on and whatever their tokens say.
 * @throws {DomainError} STAFF_NOT_FOUND, LAST_OWNER
 * @throws {IdentityUnavailableError}
 */
export async function changeStaffRole(
  app: StaffApp,
  input: StaffChange & { role: PlatformRole },
): Promise<PlatformUser> {
  const member = await setRole(app, input)
  await settle(app, member)
  return member
}

function setRole(app: StaffApp, input: StaffChange & { role: PlatformRole }): Promise<PlatformUser> {
  const { role } = input
  return app.pool.transaction(async (tx) => {
    const member = await lockMember(tx, input.id)
    if (!member.is_active) throw staffNotFound()
    if (member.role === role) return member
    await keepAnOwner(tx, member)
    await record(app, tx, { ...input, action: 'staff.role', before: { role: member.role }, after: { role } })
    return updateStaff(tx, input.id, { role, isActive: true })
  })
}

/**
 * Takes someone off the staff at once, and the account with its sessions and tokens. Repeating it heals a removal that
 * the identity provider did not hear of.
 * @throws {DomainError} STAFF_NOT_FOUND, LAST_OWNER
 * @throws {IdentityUnavailableError}
 */
export async function removeStaff(app: StaffApp, input: StaffChange): Promise<PlatformUser> {
  const removed = await app.pool.transaction(async (tx) => {
    const member = await lockMember(tx, input.id)
    if (!member.is_active) return member
    await keepAnOwner(tx, member)
    const before = { email: member.email, role: member.role }
    await record(app, tx, { ...input, action: 'staff.remove', before })
    return updateStaff(tx, input.id, { role: member.role, isActive: false })
  })
  await app.identity.deleteUser(PLATFORM_REALM, removed.keycloak_user_id)
  return removed
}

async function lockMember(tx: DatabaseTransactionConnection, id: string): Promise<PlatformUser> {
  if (!isUuid(id)) throw staffNotFound()
  await lockStaff(tx)
  const member = await findStaffMember(tx, id)
  if (member === null) throw staffNotFound()
  return member
}

async function keepAnOwner(tx: DatabaseTransactionConnection, { id, role }: PlatformUser): Promise<void> {
  if (role !== 'OWNER' || (await listOwners(tx)).some((owner) => owner.id !== id)) return
  throw new DomainError('LAST_OWNER', 'the staff has no other OWNER', { next: 'make another member an OWNER first' })
}

function settle(app: StaffApp, { id, keycloak_user_id }: PlatformUser): Promise<void> {
  return settleRoles(app.identity, {
    realm: PLATFORM_REALM,
    userId: keycloak_user_id,
    currentRole: async () => {
      const member = await findStaffMember(app.pool, id)
      return member?.is_active === true ? member.role : null
    },
  })
}

type Recorded = StaffChange & { action: string; before?: Record<string, unknown>; after?: Record<string, unknown> }

function record(app: StaffApp, tx: DatabaseTransactionConnection, input: Recorded): Promise<void> {
  const { actor, action, id, reason, before, after } = input
  return recordAction(app, tx, { actor, action, merchantId: null, subjectId: id, reason, before, after })
}

function staffNotFound(): DomainError {
  return new DomainError('STAFF_NOT_FOUND', 'the staff has no such member')
}
