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
 * Heals a registration (decisions 47 and 48): finishes what is half-made or takes it back. Of a merchant that is there,
 * registered or not, it makes the realm and the administrator's account where the identity provider has them not, gives
 * the administrator its role, and sends the invitation that did not go out. With `adminEmail` it puts another
 * administrator in the place of one who has not signed up. Repeating it is safe; what it did stands in the audit trail.
 * @throws {DomainError} REGISTRATION_NOT_FOUND, REGISTRATION_COMPLETE for a rollback of a merchant that is there,
 *   REGISTRATION_UNDER_WAY, USER_EXISTS for another administrator where one has signed up, VALIDATION_FAILED for one
 *   where there can be none, RATE_LIMITED for one who is invited too often
 * @throws {IdentityUnavailableError}
 */
export async function repairRegistration(app: App, input: RepairInput): Promise<RepairResult> {
  const known = isSlug(input.slug) ? await findRegistration(app.pool, input.slug) : null
  if (known?.is_underway === true) throw registrationUnderWay()
  if (known === null || known.status === 'COMPLETE') return repairMerchant(app, known, input)
  if (input.adminEmail !== undefined && (input.rollback || known.status === 'FAILED')) {
    throw invalidField(
      'admin_email',
      'NOT_APPLICABLE',
      'must be left out where nothing is left that has an administrator',
    )
  }
  if (known.status === 'FAILED') return clearLeftovers(app, known, input)
  return input.rollback ? rollBackByOperator(app, known, input) : finish(app, known, input)
}

async function rollBackByOperator(app: App, known: RegistrationRecord, input: RepairInput): Promise<RepairResult> {
  const wasLeft = await rollBack(app, known, {
    failure: 'an operator took it back',
    onlyAbandoned: true,
    record: (tx) =>
      recordRepair(app, tx, { known, input, action: 'registration.rollback', after: { status: 'FAILED' } }),
  })
  if (!wasLeft) throw registrationUnderWay()
  return { slug: known.slug, status: 'FAILED', repaired: ['took back what was half-made; the name is free again'] }
}

/** A failed registration has nothing left, unless a slow provider made its realm after everyone had given up. */
async function clearLeftovers(app: App, known: RegistrationRecord, input: RepairInput): Promise<RepairResult> {
  if (!(await app.identity.deleteRealm(known.slug, known.id))) {
    return { slug: known.slug, status: 'FAILED', repaired: [] }
  }
  await recordRepair(app, app.pool, { known, input, action: 'registration.rollback', after: { status: 'FAILED' } })
  return { slug: known.slug, status: 'FAILED', repaired: ['took away the realm that was left of it'] }
}

/** Begins once more with what the merchant asked for. Nobody has seen the new secrets: the merchant makes its own. */
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
    repaired: ['finished the registration; the administrator is invited, and rotates the server client for its secret'],
  }
}
