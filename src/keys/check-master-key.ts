import type { App } from '../app.ts'
import { LOOKUP_KEY_CONTEXT } from '../db/lookup-hash.ts'
import { findLookupKey } from '../db/lookup-keys-sql.ts'
import type { SealContext } from '../lib/seal.ts'
import { webhookSecretContext } from '../signing/secret.ts'
import { findFirstAndLastSecrets } from './sql.ts'

/** The configured master keys can't open the secrets of this database. */
export class MasterKeyError extends Error {
  override readonly name = 'MasterKeyError'
}

/**
 * Tries the master keys on sealed values before anything starts: a process with another key could not sign webhooks,
 * and would seal secrets that other processes can't open. The first and the last merchant's secrets are tried, because
 * resealing runs from the first to the last: this also finds a previous key that was dropped too early. The key of
 * keyed hashes, which is made here for a new database, is tried in any case.
 * @throws {MasterKeyError}
 */
export async function checkMasterKey(app: Pick<App, 'pool' | 'sealer' | 'lookupHash'>): Promise<void> {
  for (const { id, webhook_signing_secret } of await findFirstAndLastSecrets(app.pool))
    tryToOpen(app, webhook_signing_secret, webhookSecretContext(id))
  const lookupKey = await findLookupKey(app.pool)
  if (lookupKey !== null) tryToOpen(app, lookupKey, LOOKUP_KEY_CONTEXT)
  await app.lookupHash('EMAIL', '')
}

function tryToOpen({ sealer }: Pick<App, 'sealer'>, sealed: string, context: SealContext): void {
  try {
    sealer.open(sealed, context)
  } catch (cause) {
    throw new MasterKeyError(messageFor(sealer, sealed), { cause })
  }
}

function messageFor({ kid, previousKids, kidOf }: App['sealer'], sealed: string): string {
  const needed = kidOf(sealed)
  if (previousKids.length === 0)
    return `SVC_ENCRYPTION_KEY (${kid}) is not the key that the secrets in this database were sealed with (${needed})`
  return `neither SVC_ENCRYPTION_KEY (${kid}) nor SVC_ENCRYPTION_KEY_PREVIOUS (${previousKids.join(', ')}) is the key that secrets in this database were sealed with (${needed})`
}
