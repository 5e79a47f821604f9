import type { App } from '../app.ts'
import { insertMerchant } from '../merchants/sql.ts'
import { generateWebhookSecret, webhookSecretContext } from '../merchants/webhook-secret.ts'
import { checkWebhookUrl } from '../webhooks/check-url.ts'
import type { NewSandboxMerchant, SandboxMerchant } from '../wire/sandbox.ts'

/**
 * Makes a merchant for one test run, so that runs share nothing (decision 60).
 * @param input `operator` is who asked for it; a held merchant is held in this name
 * @throws {DomainError} VALIDATION_FAILED at `webhook_url`
 */
export async function createSandboxMerchant(
  app: App,
  input: NewSandboxMerchant & { operator: string },
): Promise<SandboxMerchant> {
  if (input.webhook_url !== null) checkWebhookUrl(input.webhook_url, { allowPrivate: app.config.webhookAllowPrivate })
  const id = app.ids.uuid()
  const slug = `sandbox-${id.slice(-12)}`
  const secret = generateWebhookSecret()
  const merchant = {
    id,
    clientId: `${slug}-server`,
    legalName: input.name,
    tradingName: input.name,
    kybStatus: input.kyb_status,
    feePercentage: input.fee_percentage,
    feeFlat: input.fee_flat,
    webhookUrl: input.webhook_url,
    payoutHeldBy: input.payout_held ? input.operator : null,
    realmSlug: slug,
    webhookSigningSecret: app.sealer.seal(secret, webhookSecretContext(id)),
  }
  if (!(await insertMerchant(app.pool, merchant))) throw new Error('a new id was taken')
  const { operator: _, ...shown } = input
  return { merchant_id: id, client_id: merchant.clientId, ...shown, webhook_signing_secret: secret }
}
