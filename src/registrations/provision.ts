import type { CommonQueryMethods } from 'slonik'
import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import type { CreatedRealm } from '../identity/provider.ts'
import { RealmExistsError } from '../identity/provider.ts'
import { DomainError } from '../lib/errors.ts'
import { clientIdsOf } from '../lib/realms.ts'
import { realmExists } from './claim-slug.ts'
import { merchantRealm } from './realm-spec.ts'
import { completeRegistration, findRegistration } from './sql.ts'
import { failureReason, rollBack } from './roll-back.ts'
import { insertMerchant } from '../merchants/sql.ts'
import { insertMember } from '../team/members-sql.ts'
import { generateWebhookSecret, webhookSecretContext } from '../signing/secret.ts'

/** The user was created, but its role could not be assigned (decision 48). */
export const ADMIN_ROLE_NOT_ASSIGNED = 'ADMIN_ROLE_NOT_ASSIGNED'

export type ClaimedRegistration = {
  /** The registration's id, which has claimed the slug. */
  id: string
  slug: string
  companyName: string
  tradingName: string
  adminEmail: string
  /** The operator who requested it; undefined if the merchant registered itself. */
  operator?: { actor: Actor; reason?: string | undefined } | undefined
}

export type Provisioned = {
  merchantId: string
  clientId: string
  /** The secret of `clientId`. It is not stored. */
  clientSecret: string
  webhookSecret: string
  warnings: string[]
}

/**
 * Creates a registration's realm and all records of it, or nothing. If any step fails, what was created is deleted and
 * the slug is free again (decision 47).
 * @throws {DomainError} REALM_EXISTS
 * @throws {IdentityUnavailableError}
 */
export async function provision(app: App, claimed: ClaimedRegistration): Promise<Provisioned> {
  const merchantId = app.ids.for('registered merchant', claimed.slug).uuid()
  const clientSecret = app.ids.token()
  const webhookSecret = generateWebhookSecret()
  const clientId = clientIdsOf(claimed.slug).server
  const realm = merchantRealm(app, {
    slug: claimed.slug,
    displayName: claimed.tradingName,
    registrationId: claimed.id,
    secret: clientSecret,
    serverRole: null,
    admin: { email: claimed.adminEmail },
  })
  const sealed = app.sealer.seal(webhookSecret, webhookSecretContext(merchantId))
  const merchant: NewMerchantRecords = { ...claimed, merchantId, clientId, sealed }
  try {
    const made = await app.identity.createRealm(realm, (created, db) =>
      db === undefined
        ? writeRecordsSeparately(app, merchant, created)
        : writeMerchantRecords(app, db, merchant, created),
    )
    return { merchantId, clientId, clientSecret, webhookSecret, warnings: warningsOf(made) }
  } catch (error) {
    const warnings = await rollBackFailed(app, merchant, error)
    if (warnings !== undefined) return { merchantId, clientId, clientSecret, webhookSecret, warnings }
    throw error instanceof RealmExistsError ? realmExists(claimed.slug, error) : error
  }
}

type NewMerchantRecords = ClaimedRegistration & { merchantId: string; clientId: string; sealed: string }

/**
 * Writes the records of a realm at an external provider; if this fails, the realm is deleted. A commit whose response
 * was lost may have succeeded; then the realm has to stay.
 */
async function writeRecordsSeparately(app: App, records: NewMerchantRecords, made: CreatedRealm): Promise<void> {
  try {
    await app.pool.transaction((tx) => writeMerchantRecords(app, tx, records, made))
  } catch (error) {
    const known = await findRegistration(app.pool, records.slug)
    if (known?.merchant_id !== records.merchantId) throw error
  }
}

/** Writes all records in one transaction. The audit entry comes last, because it locks the whole trail. */
async function writeMerchantRecords(
  app: App,
  db: CommonQueryMethods,
  records: NewMerchantRecords,
  made: CreatedRealm,
): Promise<void> {
  const { id, slug, merchantId, clientId, companyName, tradingName, adminEmail, sealed, operator } = records
  const createdBy = operator?.actor.name ?? 'registration'
  const inserted = await insertMerchant(db, {
    id: merchantId,
    clientId,
    legalName: companyName,
    tradingName,
    kybStatus: 'PENDING',
    feePercentage: app.config.feePercentage,
    feeFlat: app.config.feeFlat,
    webhookUrl: null,
    realmSlug: slug,
    webhookSigningSecret: sealed,
    serverRole: null,
    createdBy,
  })
  if (!inserted) throw realmExists(slug)
  if (made.adminUserId !== null) {
    const admin = { merchantId, id: made.adminUserId, email: adminEmail, role: 'ADMIN' } as const
    await insertMember(db, { ...admin, invitedBy: createdBy })
  }
  const warnings = warningsOf(made)
  if (!(await completeRegistration(db, { id, merchantId, adminUserId: made.adminUserId, warnings }))) {
    throw new DomainError('SERVICE_UNAVAILABLE', 'the registration took too long and was rolled back', {
      next: 'register again',
    })
  }
  await recordAction(app, db, {
    actor: operator?.actor ?? { id: made.adminUserId ?? id, name: 'registration', role: 'NONE' },
    action: 'merchant.register',
    merchantId,
    subjectId: merchantId,
    reason: operator?.reason,
    after: { realm_slug: slug, legal_name: companyName, trading_name: tradingName, kyb_status: 'PENDING', warnings },
  })
}

function warningsOf(made: CreatedRealm): string[] {
  return made.adminRoleAssigned ? [] : [ADMIN_ROLE_NOT_ASSIGNED]
}

/**
 * Rolls back what was created before `cause`. A commit whose response was lost may have completed the registration:
 * then nothing is rolled back, and its warnings are returned.
 */
async function rollBackFailed(app: App, records: NewMerchantRecords, cause: unknown): Promise<string[] | undefined> {
  const log = app.log.child({ registration_id: records.id, slug: records.slug })
  try {
    if (await rollBack(app, records, { failure: failureReason(cause), onlyAbandoned: false })) {
      log.warn({ err: cause }, 'a registration failed and was rolled back')
      return undefined
    }
    const known = await findRegistration(app.pool, records.slug)
    if (known?.merchant_id === records.merchantId) return known.warnings
    // Another process has rolled it back, perhaps before the realm was created.
    await app.identity.deleteRealm(records.slug, records.id)
    return undefined
  } catch (error) {
    log.error({ err: cause }, 'a registration failed')
    log.error({ err: error }, 'rollback failed; the sweeper retries after the lease')
    return undefined
  }
}
