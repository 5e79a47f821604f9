import type { App } from '../app.ts'
import { findAnyWebhookSecret } from './sql.ts'
import { webhookSecretContext } from './webhook-secret.ts'

/** The configured master key opens nothing of what this database holds. */
export class MasterKeyError extends Error {
  override readonly name = 'MasterKeyError'
}

/**
 * Tries the master key on a sealed value before anything starts: a process with another key could sign no webhook, and
 * would seal new secrets that the other processes can't open. A database without merchants holds nothing to try it on.
 * @throws {MasterKeyError}
 */
export async function checkMasterKey(app: Pick<App, 'pool' | 'sealer'>): Promise<void> {
  const merchant = await findAnyWebhookSecret(app.pool)
  if (merchant === null) return
  try {
    app.sealer.open(merchant.webhook_signing_secret, webhookSecretContext(merchant.id))
  } catch (cause) {
    throw new MasterKeyError('SVC_ENCRYPTION_KEY is not the key that the secrets in this database were sealed under', {
      cause,
    })
  }
}
