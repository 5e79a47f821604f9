import type { CommonQueryMethods } from 'slonik'
import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { networkHashes } from '../lib/network-hash.ts'
import { insertAttempt, lockNetwork, secondsUntilAllowed } from './attempts-sql.ts'

/** Maximum number of registrations of one network within an hour, including rejected ones (decision 32). */
const PER_HOUR = 10

/**
 * Limits a network's registrations per hour and counts this one, in the transaction that inserts it. A registration
 * rejected for its name counts too, because otherwise names could be probed. Only if rate limits are configured
 * (`SVC_RATE_LIMITS`).
 * @throws {DomainError} RATE_LIMITED
 */
export async function limitRegistrations(
  app: Pick<App, 'config'>,
  tx: CommonQueryMethods,
  clientAddress: string,
): Promise<void> {
  if (!app.config.rateLimits) return
  const network = networkHashes(app.config.encryptionKey, { purpose: 'registration address', clientAddress })
  await lockNetwork(tx, network)
  const seconds = await secondsUntilAllowed(tx, { network, limit: PER_HOUR })
  if (seconds === null) return insertAttempt(tx, network)
  throw new DomainError('RATE_LIMITED', `too many registrations from this network: at most ${PER_HOUR} an hour`, {
    retryAfterSeconds: seconds,
    next: `register again in ${Math.ceil(seconds / 60)} minutes`,
  })
}
