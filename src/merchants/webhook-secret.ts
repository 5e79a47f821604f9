import { randomBytes } from 'node:crypto'
import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import type { SealContext } from '../lib/seal.ts'
import { findWebhookSecret } from './sql.ts'

/** A fresh signing secret: 256 bits as 64 hex characters (specification, Merchant). */
export function generateWebhookSecret(): string {
  return randomBytes(32).toString('hex')
}

/** Where a merchant's signing secret is sealed to; it opens nowhere else. */
export function webhookSecretContext(merchantId: string): SealContext {
  return { table: 'merchants', column: 'webhook_signing_secret', rowId: merchantId, merchantId }
}

/**
 * The merchant's signing secret in plain: for signing, and for showing it to its owner.
 * @throws {DomainError} MERCHANT_NOT_FOUND
 */
export async function openWebhookSecret(app: Pick<App, 'pool' | 'sealer'>, merchantId: string): Promise<string> {
  const merchant = await findWebhookSecret(app.pool, merchantId)
  if (merchant === null) throw new DomainError('MERCHANT_NOT_FOUND', 'there is no such merchant')
  return app.sealer.open(merchant.webhook_signing_secret, webhookSecretContext(merchantId))
}
