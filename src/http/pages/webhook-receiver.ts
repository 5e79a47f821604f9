import type { App } from '../../app.ts'
import { isUuid } from '../../lib/ids.ts'
import { verifySignature } from '../../lib/webhook-signature.ts'
import { DomainError } from '../../lib/errors.ts'
import { openWebhookSecret } from '../../merchants/webhook-secret.ts'

export type Received = { merchantId: string; signature: string | undefined; rawBody: Buffer }

/**
 * The demo merchant's server: answers 200 to a webhook whose signature verifies, and 401 to any other. So a delivery
 * that the sandbox shows as DELIVERED was really signed and really checked.
 */
export async function receiveWebhook(app: App, { merchantId, signature, rawBody }: Received): Promise<200 | 401 | 404> {
  if (!isUuid(merchantId)) return 404
  try {
    const secret = await openWebhookSecret(app, merchantId)
    return signature !== undefined && verifySignature({ secret, body: rawBody, signature }) ? 200 : 401
  } catch (error) {
    if (error instanceof DomainError && error.code === 'MERCHANT_NOT_FOUND') return 404
    throw error
  }
}
