import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { DomainError } from '../lib/errors.ts'
import { isSlug } from '../lib/realms.ts'
import { claimSlug } from './claim-slug.ts'
import { sendInvite } from './invite-admins.ts'
import { clearWarning, recordInvited } from './invite-sql.ts'
import { ADMIN_ROLE_NOT_ASSIGNED, provision } from './provision.ts'
import type { RegistrationRecord } from './record.ts'
import { findRegistration } from './sql.ts'
import { rollBack } from './roll-back.ts'

export type RepairInput = {
  slug: string
  /** Takes a half-made realm away and frees its name, instead of finishing it. */
  rollback: boolean
  reason?: string | undefined
  actor: Actor
}

/** `repaired` says in words what was done. */
export type Repaired = { slug: string; status: 'COMPLETE' | 'FAILED'; repaired: string[] }

/**
 * Heals a registration (decisions 47 and 48): finishes what is half-made or takes it back, gives the administrator its
 * role, and sends the invitation that did not go out. Repeating it is safe; what it did stands in the audit trail.
 * @throws {DomainError} REGISTRATION_NOT_FOUND, REGISTRATION_COMPLETE for a rollback of a merchant that is there,
 *   REGISTRATION_UNDER_WAY
 * @throws {IdentityUnavailableError}
 */
export async function repairRegistration(app: App, input: RepairInput): Promise<Repaired> {
  const known = isSlug(input.slug) ? await findRegistration(app.pool, input.slug) : null
  if (known === null) throw new DomainError('REGISTRATION_NOT_FOUND', 'there is no such registration')
  if (known.is_underway) throw underWay()
  if (known.status === 'COMPLETE') return repairComplete(app, known, input)
  if (known.status === 'FAILED') return clearLeftovers(app, known, input)
  return input.rollback ? takeBack(app, known, input) : finish(app, known, input)
}

function underWay(): DomainError {
  return new DomainError('REGISTRATION_UNDER_WAY', 'the registration is being worked on at this moment', {
    retryAfterSeconds: 60,
    next: 'look again in a minute',
  })
}

async function takeBack(app: App, known: RegistrationRecord, input: RepairInput): Promise<Repaired> {
  const wasLeft = await rollBack(app, known, {
    failure: 'an operator took it back',
    onlyLeft: true,
    record: (tx) =>
      recordRepair(app, tx, { known, input, action: 'registration.rollback', after: { status: 'FAILED' } }),
  })
  if (!wasLeft) throw underWay()
  return { slug: known.slug, status: 'FAILED', repaired: ['took back what was half-made; the name is free again'] }
}

/** A failed registration has nothing left, unless a slow provider made its realm after everyone had given up. */
async function clearLeftovers(app: App, known: RegistrationRecord, input: RepairInput): Promise<Repaired> {
  if (!(await app.identity.deleteRealm(known.slug, known.id))) {
    return { slug: known.slug, status: 'FAILED', repaired: [] }
  }
  await recordRepair(app, app.pool, { known, input, action: 'registration.rollback', after: { status: 'FAILED' } })
  return { slug: known.slug, status: 'FAILED', repaired: ['took away the realm that was left of it'] }
}

/** Begins once more with what the merchant asked for. Nobody has seen the new secrets: the merchant makes its own. */
async function finish(app: App, known: RegistrationRecord, input: RepairInput): Promise<Repaired> {
  const claimed = {
    id: app.ids.uuid(),
    slug: known.slug,
    companyName: known.company_name,
    tradingName: known.trading_name,
    adminEmail: known.admin_email,
  }
  await claimSlug(app, { ...claimed, clientAddress: null })
  await provision(app, { ...claimed, operator: { actor: input.actor, reason: input.reason } })
  app.wake.notify('invite-admins')
  return {
    slug: known.slug,
    status: 'COMPLETE',
    repaired: ['finished the registration; the administrator is invited, and rotates the server client for its secret'],
  }
}

async function repairComplete(app: App, known: RegistrationRecord, input: RepairInput): Promise<Repaired> {
  if (input.rollback) {
    throw new DomainError('REGISTRATION_COMPLETE', 'the registration is complete, so it is not taken back', {
      next: 'disable the merchant instead: svc merchants disable <id>',
    })
  }
  const repaired: string[] = []
  if (await assignRole(app, known, input)) repaired.push('gave the administrator its role')
  if (await invite(app, known, input)) repaired.push('invited the administrator')
  return { slug: known.slug, status: 'COMPLETE', repaired }
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

async function invite(app: App, known: RegistrationRecord, input: RepairInput): Promise<boolean> {
  const { id, slug, merchant_id, admin_user_id, invited_at } = known
  if (merchant_id === null || admin_user_id === null || invited_at !== null) return false
  await sendInvite(app, { slug, merchant_id, admin_user_id })
  await app.pool.transaction(async (tx) => {
    await recordInvited(tx, id)
    await recordRepair(app, tx, { known, input, action: 'registration.invite', after: { invited: true } })
  })
  return true
}

type Recorded = {
  known: RegistrationRecord
  input: RepairInput
  action: string
  after: Readonly<Record<string, unknown>>
}

function recordRepair(
  app: App,
  db: Parameters<typeof recordAction>[1],
  { known, input, action, after }: Recorded,
): Promise<void> {
  const { status, warnings, failure, merchant_id } = known
  return recordAction(app, db, {
    actor: input.actor,
    action,
    merchantId: merchant_id,
    subjectId: known.slug,
    reason: input.reason,
    before: { status, warnings, failure },
    after,
  })
}
