import type { CommonQueryMethods } from 'slonik'
import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { clientIdsOf, issuerOf } from '../lib/realms.ts'
import { merchantRealm } from '../registrations/realm-spec.ts'
import { findMerchant, insertMerchant } from '../merchants/sql.ts'
import type { NewMerchant } from '../merchants/sql.ts'
import { generateWebhookSecret, webhookSecretContext } from '../signing/secret.ts'
import { checkWebhookUrl } from '../webhooks/sending/check-url.ts'
import type { NewSandboxMerchant, SandboxMerchant } from '../wire/sandbox.ts'
import { idsForNames, idsForReference } from './reproducible-ids.ts'

/**
 * Creates a merchant with a realm for one test run, so that runs share nothing (decision 60). Its server client is an
 * ADMIN, like the demo merchant's.
 * @param input `actor` is the operator; a payout hold is recorded in this name
 * @throws {DomainError} VALIDATION_FAILED at `webhook_url`
 * @throws {IdentityUnavailableError}
 */
export async function createSandboxMerchant(
  app: App,
  { actor, reference, ...input }: NewSandboxMerchant & { actor: Actor },
): Promise<SandboxMerchant> {
  if (input.webhook_url !== null) checkWebhookUrl(input.webhook_url, { allowPrivate: app.config.webhookAllowPrivate })
  const isTaken = async (id: string): Promise<boolean> => (await findMerchant(app.pool, id)) !== null
  const { id, ownIds } = await idsForReference(app, { kind: 'merchant', reference, isTaken })
  const slug = `sandbox-${(idsForNames(app, ownIds) === ownIds ? id : app.ids.uuid()).slice(-12)}`
  const clientId = clientIdsOf(slug).server
  const clientSecret = app.ids.token()
  const webhookSecret = generateWebhookSecret()
  const merchant: NewMerchant = {
    id,
    clientId,
    legalName: input.name,
    tradingName: input.name,
    kybStatus: input.kyb_status,
    feePercentage: input.fee_percentage,
    feeFlat: input.fee_flat,
    webhookUrl: input.webhook_url,
    payoutHeldBy: input.payout_held ? actor.name : null,
    realmSlug: slug,
    serverRole: 'ADMIN',
    createdBy: actor.name,
    webhookSigningSecret: app.sealer.seal(webhookSecret, webhookSecretContext(id)),
  }
  await makeWithRealm(app, { merchant, actor, clientSecret })
  const { authUrl } = app.identity
  return {
    merchant_id: id,
    client_id: clientId,
    client_secret: authUrl === null ? null : clientSecret,
    realm_slug: slug,
    issuer: authUrl === null ? null : issuerOf(authUrl, slug),
    ...input,
    webhook_signing_secret: webhookSecret,
  }
}

type NewRealmMerchant = { merchant: NewMerchant; actor: Actor; clientSecret: string }

/** Creates realm, merchant and audit entry, or none of them. */
async function makeWithRealm(app: App, { merchant, actor, clientSecret }: NewRealmMerchant): Promise<void> {
  const { id, realmSlug: slug, tradingName } = merchant
  const realm = merchantRealm(app, {
    slug,
    displayName: tradingName,
    registrationId: id,
    secret: clientSecret,
    serverRole: 'ADMIN',
  })
  async function write(db: CommonQueryMethods): Promise<void> {
    if (!(await insertMerchant(db, merchant))) throw new Error('a new id was taken')
    await recordAction(app, db, {
      actor,
      action: 'sandbox.create_merchant',
      merchantId: id,
      subjectId: id,
      after: { realm_slug: slug, kyb_status: merchant.kybStatus, payout_held: merchant.payoutHeldBy !== null },
    })
  }
  try {
    await app.identity.createRealm(realm, (_made, db) => (db === undefined ? app.pool.transaction(write) : write(db)))
  } catch (error) {
    await app.identity.deleteRealm(slug, id).catch((cause: unknown) => {
      app.log.warn({ err: cause, slug }, 'the realm of a sandbox merchant could not be deleted')
    })
    throw error
  }
}
