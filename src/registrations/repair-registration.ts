import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import { invalidField } from '../lib/errors.ts'
import { isSlug } from '../lib/realms.ts'
import { claimSlug } from './claim-slug.ts'
import { provision } from './provision.ts'
import type { RegistrationRecord } from './record.ts'
import { recordRepair, registrationUnderWay } from './repair-input.ts'
import type { RepairInput, RepairResult } from './repair-input.ts'
import { repairMerchant } from './repair-merchant.ts'
import { findRegistration } from './sql.ts'
import { rollBack } from './roll-back.ts'

/**
 * Repairs a registration (decisions 47 and 48): completes an incomplete one or rolls it back. For an existing merchant,
 * registered or not, it creates a realm and administrator account missing at the identity provider, assigns the
 * administrator's role, and sends an overdue invitation. With `adminEmail` it replaces an administrator who has not
 * signed up. Repeating it is safe; the audit trail records what it did.
 * @throws {DomainError} REGISTRATION_NOT_FOUND; REGISTRATION_COMPLETE for a rollback of an existing merchant;
 *   REGISTRATION_UNDER_WAY; USER_EXISTS for `adminEmail` if an administrator has signed up; VALIDATION_FAILED for
 *   `adminEmail` if there is nothing to administer; RATE_LIMITED for too many invitations
 * @throws {IdentityUnavailableError}
 */
export async function repairRegistration(app: App, input: RepairInput): Promise<RepairResult> {
  const known = isSlug(input.slug) ? await findRegistration(app.pool, input.slug) : null
  if (known?.is_underway === true) throw registrationUnderWay()
  if (known === null || known.status === 'COMPLETE') return repairMerchant(app, known, input)
  if (input.adminEmail !== undefined && (input.rollback || known.status === 'FAILED')) {
    throw invalidField('admin_email', 'NOT_APPLICABLE', 'must be omitted: this registration has no administrator')
  }
  if (known.status === 'FAILED') return clearLeftovers(app, known, input)
  return input.rollback ? rollBackByOperator(app, known, input) : finish(app, known, input)
}

async function rollBackByOperator(app: App, known: RegistrationRecord, input: RepairInput): Promise<RepairResult> {
  const isRolledBack = await rollBack(app, known, {
    failure: 'an operator rolled it back',
    onlyAbandoned: true,
    record: (tx) =>
      recordRepair(app, tx, { known, input, action: 'registration.rollback', after: { status: 'FAILED' } }),
  })
  if (!isRolledBack) throw registrationUnderWay()
  return {
    slug: known.slug,
    status: 'FAILED',
    repaired: ['rolled back the incomplete registration; its name is free again'],
  }
}

/** A failed registration has no leftovers, unless a slow provider created its realm after it was given up. */
async function clearLeftovers(app: App, known: RegistrationRecord, input: RepairInput): Promise<RepairResult> {
  if (!(await app.identity.deleteRealm(known.slug, known.id))) {
    return { slug: known.slug, status: 'FAILED', repaired: [] }
  }
  await recordRepair(app, app.pool, { known, input, action: 'registration.rollback', after: { status: 'FAILED' } })
  return { slug: known.slug, status: 'FAILED', repaired: ['deleted its leftover realm'] }
}

/**
 * Starts again with the merchant's original input. The new secrets are not shown: the merchant rotates its own.
 */
async function finish(app: App, known: RegistrationRecord, input: RepairInput): Promise<RepairResult> {
  const claimed = {
    id: app.ids.uuid(),
    slug: known.slug,
    companyName: known.company_name,
    tradingName: known.trading_name,
    adminEmail: input.adminEmail ?? known.admin_email,
  }
  await claimSlug(app, { ...claimed, clientAddress: null })
  const { merchantId } = await provision(app, { ...claimed, operator: { actor: input.actor, reason: input.reason } })
  if (claimed.adminEmail !== known.admin_email) {
    const change = { before: { admin_emails: [known.admin_email] }, after: { admin_emails: [claimed.adminEmail] } }
    const { actor, reason } = input
    const action = { actor, reason, action: 'registration.replace_admin', merchantId, subjectId: known.slug }
    await recordAction(app, app.pool, { ...action, ...change })
  }
  app.wake.notify('invite-admins')
  return {
    slug: known.slug,
    status: 'COMPLETE',
    repaired: [
      'completed the registration; the administrator is invited, and rotates the server client to get its secret',
    ],
  }
}
