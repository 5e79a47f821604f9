import type { App } from '../app.ts'
import { webhookSecretContext } from '../signing/secret.ts'
import { findFirstAndLastSecrets } from './sql.ts'

/** The configured master keys do not open what this database holds. */
export class MasterKeyError extends Error {
  override readonly name = 'MasterKeyError'
}

/**
 * Tries the master keys on sealed values before anything starts: a process with another key could sign no webhook, and
 * would seal new secrets that the other processes can't open. The first and the last merchant's are tried, for values are
 * sealed anew from the first to the last: a previous key that was dropped on the way is found out too. A database
 * without merchants holds nothing to try them on.
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
    return `SVC_ENCRYPTION_KEY is not the key that the secrets in this database were sealed under: that is ${needed}, and this is ${kid}`
  return `neither SVC_ENCRYPTION_KEY (${kid}) nor SVC_ENCRYPTION_KEY_PREVIOUS (${previousKids.join(', ')}) is the key ${needed} that secrets in this database were sealed under`
}
