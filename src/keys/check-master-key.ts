import type { App } from '../app.ts'
import { webhookSecretContext } from '../signing/secret.ts'
import { findFirstAndLastSecrets } from './sql.ts'

/** The configured master keys can't open the secrets of this database. */
export class MasterKeyError extends Error {
  override readonly name = 'MasterKeyError'
}

/**
 * Tries the master keys on sealed values before anything starts: a process with another key could not sign webhooks,
 * and would seal secrets that other processes can't open. The first and the last merchant's secrets are tried, because
 * resealing runs from the first to the last: this also finds a previous key that was dropped too early. Without
 * merchants there is nothing to try.
 * @throws {MasterKeyError}
 */
export async function checkMasterKey({ pool, sealer }: Pick<App, 'pool' | 'sealer'>): Promise<void> {
  for (const { id, webhook_signing_secret } of await findFirstAndLastSecrets(pool)) {
    try {
      sealer.open(webhook_signing_secret, webhookSecretContext(id))
    } catch (cause) {
      throw new MasterKeyError(messageFor(sealer, webhook_signing_secret), { cause })
    }
  }
}

function messageFor({ kid, previousKids, kidOf }: App['sealer'], sealed: string): string {
  const needed = kidOf(sealed)
  if (previousKids.length === 0)
    return `SVC_ENCRYPTION_KEY (${kid}) is not the key that the secrets in this database were sealed with (${needed})`
  return `neither SVC_ENCRYPTION_KEY (${kid}) nor SVC_ENCRYPTION_KEY_PREVIOUS (${previousKids.join(', ')}) is the key that secrets in this database were sealed with (${needed})`
}
