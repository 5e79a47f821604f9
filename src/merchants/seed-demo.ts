import type { App } from '../app.ts'
import { findMerchantByClientId, insertMerchant, moveDemoEndpoint } from './sql.ts'
import { generateWebhookSecret, openWebhookSecret, webhookSecretContext } from './webhook-secret.ts'

export type DemoMerchant = { id: string; client_id: string; webhook_secret: string }

const DEMO = { slug: 'demo', clientId: 'demo-server', legalName: 'Demo Shop Ltd', tradingName: 'Demo Shop' }

/** The fees a newcomer meets in the documentation: 1 % and 0.20 (decision 46). */
const FEES = { feePercentage: '0.0100', feeFlat: '0.20' }

/**
 * Makes sure that the sandbox has an approved merchant whose webhooks go to the service's own demo receiver. Repeating it
 * keeps the merchant and its secret; the receiver's address follows the service's.
 */
export async function ensureDemoMerchant(app: App): Promise<DemoMerchant> {
  const known = await findMerchantByClientId(app.pool, DEMO.clientId)
  const id = known?.id ?? app.ids.uuid()
  const url = `${app.publicUrl}/dev/webhook-receiver/${id}`
  if (known !== null) {
    await moveDemoEndpoint(app.pool, { merchantId: id, url })
    return { id, client_id: DEMO.clientId, webhook_secret: await openWebhookSecret(app, id) }
  }
  const secret = generateWebhookSecret()
  const inserted = await insertMerchant(app.pool, {
    id,
    ...DEMO,
    ...FEES,
    kybStatus: 'APPROVED',
    webhookUrl: url,
    realmSlug: DEMO.slug,
    webhookSigningSecret: app.sealer.seal(secret, webhookSecretContext(id)),
  })
  // Another process of the same database has just made it.
  return inserted ? { id, client_id: DEMO.clientId, webhook_secret: secret } : ensureDemoMerchant(app)
}
