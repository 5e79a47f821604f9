import type { CommonQueryMethods } from 'slonik'
import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { ensureUser, ensureRecordedUser } from '../identity/ensure-user.ts'
import { DomainError } from '../lib/errors.ts'
import { syncMemberRole } from '../team/member-change.ts'
import { findMember, findMemberByEmail, insertMember, listAdmins, lockTeam, updateMember } from '../team/members-sql.ts'
import type { TeamMemberRecord } from '../team/record.ts'
import { replaceAdministrator } from './invite-sql.ts'

type AdminApp = Pick<App, 'pool' | 'ids' | 'identity'>

export type AdminRepair = {
  merchantId: string
  slug: string
  /** Null if the merchant never registered. */
  registrationId: string | null
  reason?: string | undefined
  actor: Actor
}

/** The administrator after the repair; `invite` if an invitation has to be sent. */
export type Administrator = { userId: string; email: string; invite: boolean }

/**
 * Rejects a new administrator if an existing one has signed up: operators must not be able to take over a merchant that
 * can manage itself.
 * @throws {DomainError} USER_EXISTS
 * @throws {IdentityUnavailableError}
 */
export async function rejectIfAdminSignedUp(
  { pool, identity }: AdminApp,
  { merchantId, slug }: Pick<AdminRepair, 'merchantId' | 'slug'>,
): Promise<void> {
  for (const { id, email } of await listAdmins(pool, merchantId)) {
    if (!(await identity.hasPassword(slug, id))) continue
    throw new DomainError('USER_EXISTS', `an ADMIN of the merchant has already signed up: ${email}`, {
      next: 'ask that ADMIN to invite or remove members: svc team invite',
    })
  }
}

/**
 * Replaces the administrators who have not signed up, and deletes their invitations and accounts: one of them may have
 * a mistyped address. Call `rejectIfAdminSignedUp` first.
 * @param input `email` in lower case
 * @throws {IdentityUnavailableError}
 */
export async function replaceAdmin(app: AdminApp, input: AdminRepair & { email: string }): Promise<Administrator> {
  const { merchantId, slug, email } = input
  const known = await findMemberByEmail(app.pool, { merchantId, email })
  const hasSignedUp = known !== null && (await app.identity.hasPassword(slug, known.id))
  const userId = hasSignedUp ? known.id : await accountOf(app, input, known)
  const admin = { userId, email, invite: !hasSignedUp }
  const replaced = await app.pool.transaction(async (tx) => {
    await lockTeam(tx, merchantId)
    const admins = await listAdmins(tx, merchantId)
    const others = admins.filter((admin) => admin.email !== email)
    for (const { id } of others) await updateMember(tx, { merchantId, id }, { role: 'ADMIN', isActive: false })
    await writeAdmin(tx, { merchantId, email, userId, invitedBy: input.actor.name })
    await updateRegistration(tx, input, admin)
    await record(app, tx, input, {
      action: 'registration.replace_admin',
      before: { admin_emails: admins.map((admin) => admin.email) },
      after: { admin_emails: [email] },
    })
    return others
  })
  for (const { id } of replaced) await app.identity.deleteUser(slug, id)
  await syncMemberRole(app, slug, { merchantId, id: userId })
  return admin
}

async function writeAdmin(
  tx: CommonQueryMethods,
  { merchantId, email, userId, invitedBy }: { merchantId: string; email: string; userId: string; invitedBy: string },
): Promise<void> {
  const known = await findMemberByEmail(tx, { merchantId, email })
  if (known === null) await insertMember(tx, { merchantId, id: userId, email, role: 'ADMIN', invitedBy })
  else await updateMember(tx, { merchantId, id: known.id }, { userId, role: 'ADMIN', isActive: true })
}

/** The administrator whose account the identity provider has lost; null if there is none, or another ADMIN has signed up. */
export async function findLostAdmin(
  app: AdminApp,
  { merchantId, slug, adminEmail }: Pick<AdminRepair, 'merchantId' | 'slug'> & { adminEmail: string | null },
): Promise<TeamMemberRecord | null> {
  if (app.identity.kind === 'none') return null
  const admins = await listAdmins(app.pool, merchantId)
  const admin = admins.find(({ email }) => email === adminEmail) ?? admins[0]
  if (admin === undefined || (await app.identity.findUser(slug, admin.email)) === admin.id) return null
  for (const { id } of admins) if (await app.identity.hasPassword(slug, id)) return null
  return admin
}

/**
 * Creates the administrator's account again if the identity provider has lost it. If another ADMIN has signed up,
 * nothing is done, because that one can invite again.
 * @param input `adminEmail` is the one who registered the merchant, if it registered
 * @returns null if nothing had to be done
 * @throws {IdentityUnavailableError}
 */
export async function restoreAdmin(
  app: AdminApp,
  input: AdminRepair & { adminEmail: string | null },
): Promise<Administrator | null> {
  const { merchantId, slug } = input
  const admin = await findLostAdmin(app, input)
  if (admin === null) return null
  const { email } = admin
  const userId = await accountOf(app, { ...input, email }, admin)
  await app.pool.transaction(async (tx) => {
    await lockTeam(tx, merchantId)
    await writeAdmin(tx, { merchantId, email, userId, invitedBy: admin.invited_by })
    await updateRegistration(tx, input, { userId, email, invite: true })
    const change = { before: { admin_user_id: admin.id }, after: { admin_user_id: userId } }
    await record(app, tx, input, { action: 'registration.restore_admin', ...change })
  })
  await syncMemberRole(app, slug, { merchantId, id: userId })
  return { userId, email, invite: true }
}

function accountOf(
  app: AdminApp,
  { merchantId, slug, email }: { merchantId: string; slug: string; email: string },
  known: TeamMemberRecord | null,
): Promise<string> {
  const wanted = {
    realm: slug,
    email,
    isRemoved: async (id: string) => (await findMember(app.pool, { merchantId, id }))?.is_active === false,
  }
  return known === null
    ? ensureUser(app.identity, wanted)
    : ensureRecordedUser(app.identity, { ...wanted, userId: known.id })
}

/** Updates the registration, if there is one, to the same administrator. */
async function updateRegistration(
  tx: CommonQueryMethods,
  { registrationId: id }: AdminRepair,
  admin: Administrator,
): Promise<void> {
  if (id !== null) await replaceAdministrator(tx, { id, ...admin })
}

type Change = { action: string; before: Record<string, unknown>; after: Record<string, unknown> }

function record(app: AdminApp, tx: CommonQueryMethods, input: AdminRepair, change: Change): Promise<void> {
  const { actor, reason, merchantId, slug } = input
  return recordAction(app, tx, { actor, reason, merchantId, subjectId: slug, ...change })
}
