import type { App } from '../app.ts'
import { RealmExistsError } from '../identity/provider.ts'
import { DomainError } from '../lib/errors.ts'
import { isSlug } from '../lib/realms.ts'
import { findMerchantByRealm } from '../merchants/sql.ts'
import { findMemberByEmail } from '../team/members-sql.ts'
import { checkInvitation } from '../identity/invitation-limit.ts'
import { sendInvite } from './invite-admins.ts'
import { clearWarning, recordInvited } from './invite-sql.ts'
import { ADMIN_ROLE_NOT_ASSIGNED } from './provision.ts'
import type { RegistrationRecord } from './record.ts'
import { recordRepair, registrationUnderWay } from './repair-input.ts'
import type { RepairInput, RepairResult } from './repair-input.ts'
import { findLostAdmin, rejectIfAdminSignedUp, replaceAdmin, restoreAdmin } from './restore-admin.ts'
import type { Administrator } from './restore-admin.ts'
import { restoreRealm } from './restore-realm.ts'
import type { RestoreRealmInput } from './restore-realm.ts'
import { findRegistration } from './sql.ts'

/**
 * Repairs an existing merchant.
 * @param known its registration; null if it never registered, such as a sandbox merchant
 */
export async function repairMerchant(
  app: App,
  known: RegistrationRecord | null,
  input: RepairInput,
): Promise<RepairResult> {
  const merchant = isSlug(input.slug) ? await findMerchantByRealm(app.pool, input.slug) : null
  if (merchant === null) throw new DomainError('REGISTRATION_NOT_FOUND', 'registration not found')
  if (input.rollback) {
    throw new DomainError('REGISTRATION_COMPLETE', 'a complete registration cannot be rolled back', {
      next: 'disable the merchant instead: svc merchants disable <id>',
      nextStep: { operation: 'setMerchantActive', params: { id: merchant.id } },
    })
  }
  const { actor, reason } = input
  await rejectUninvitable(app, known, { merchantId: merchant.id, input })
  const repaired: string[] = []
  if (await remakeRealm(app, { merchant, realmOwner: known?.id ?? merchant.id, reason, actor })) {
    repaired.push('created its realm and clients again; rotate the server client to get its secret')
  }
  const admin = await repairAdmin(app, known, { merchantId: merchant.id, input })
  if (admin !== null) repaired.push(`created an account for the administrator ${admin.email}`)
  // The registration after the repairs above.
  const registration = known === null ? null : await findRegistration(app.pool, known.slug)
  if (registration !== null && (await assignRole(app, registration, input))) {
    repaired.push('assigned the administrator role')
  }
  if (await invite(app, { registration, merchantId: merchant.id, admin, input })) {
    repaired.push('invited the administrator')
  }
  return { slug: input.slug, status: 'COMPLETE', repaired }
}

/** Before anything is changed. */
async function rejectUninvitable(
  app: App,
  known: RegistrationRecord | null,
  { merchantId, input }: { merchantId: string; input: RepairInput },
): Promise<void> {
  const { slug, adminEmail: email } = input
  if (email === undefined) {
    const lost = await findLostAdmin(app, { merchantId, slug, adminEmail: known?.admin_email ?? null })
    if (lost !== null) await checkInvitation(app, slug, lost.email)
    return
  }
  await rejectIfAdminSignedUp(app, { merchantId, slug })
  const member = await findMemberByEmail(app.pool, { merchantId, email })
  const isToBeInvited = member === null || !(await app.identity.hasPassword(slug, member.id))
  if (isToBeInvited) await checkInvitation(app, slug, email)
}

async function remakeRealm(app: App, restoration: RestoreRealmInput): Promise<boolean> {
  try {
    return await restoreRealm(app, restoration)
  } catch (error) {
    throw error instanceof RealmExistsError ? registrationUnderWay(error) : error
  }
}

async function repairAdmin(
  app: App,
  known: RegistrationRecord | null,
  { merchantId, input }: { merchantId: string; input: RepairInput },
): Promise<Administrator | null> {
  const { slug, adminEmail, actor, reason } = input
  const repair = { merchantId, slug, registrationId: known?.id ?? null, actor, reason }
  if (adminEmail === undefined) return restoreAdmin(app, { ...repair, adminEmail: known?.admin_email ?? null })
  return replaceAdmin(app, { ...repair, email: adminEmail })
}

async function assignRole(app: App, known: RegistrationRecord, input: RepairInput): Promise<boolean> {
  const { admin_user_id: userId, warnings } = known
  if (userId === null || !warnings.includes(ADMIN_ROLE_NOT_ASSIGNED)) return false
  await app.identity.setUserRoles(known.slug, userId, ['ADMIN'])
  return app.pool.transaction(async (tx) => {
    const isCleared = await clearWarning(tx, { id: known.id, warning: ADMIN_ROLE_NOT_ASSIGNED })
    const after = { warnings: warnings.filter((warning) => warning !== ADMIN_ROLE_NOT_ASSIGNED) }
    if (isCleared) await recordRepair(app, tx, { known, input, action: 'registration.assign_role', after })
    return isCleared
  })
}

type InviteInput = {
  registration: RegistrationRecord | null
  merchantId: string
  admin: Administrator | null
  input: RepairInput
}

/**
 * Invites at once instead of waiting for the job, which retries if this fails; a merchant that never registered has no
 * job.
 */
async function invite(app: App, { registration, merchantId, admin, input }: InviteInput): Promise<boolean> {
  const { slug } = input
  if (registration === null) {
    if (admin?.invite !== true) return false
    await sendInvite(app, { slug, merchant_id: merchantId, admin_user_id: admin.userId, admin_email: admin.email })
    return true
  }
  const { id, admin_user_id, admin_email, invited_at } = registration
  if (admin_user_id === null || invited_at !== null) return false
  await sendInvite(app, { slug, merchant_id: merchantId, admin_user_id, admin_email })
  await app.pool.transaction(async (tx) => {
    await recordInvited(tx, id)
    const after = { invited: true }
    await recordRepair(app, tx, { known: registration, input, action: 'registration.invite', after })
  })
  return true
}
