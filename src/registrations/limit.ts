import type { CommonQueryMethods } from 'slonik'
import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { networkHash } from '../lib/network-hash.ts'
import { insertAttempt, secondsUntilAllowed } from './attempts-sql.ts'

/** Registrations that one network may ask for within an hour, those refused included (decision 32). */
const PER_HOUR = 10

/**
 * Holds a network to its registrations per hour, and counts this one, in the transaction that adds it: also one that is
 * refused for its name counts, or names could be asked for one after the other. Only where callers are slowed down at all
 * (config `SVC_RATE_LIMITS`).
 * @throws {DomainError} RATE_LIMITED
 */
export async function limitRegistrations(
  app: Pick<App, 'config'>,
  tx: CommonQueryMethods,
  clientAddress: string,
): Promise<void> {
  if (!app.config.rateLimits) return
  const ipHash = networkHash(app.config.encryptionKey, { purpose: 'registration address', clientAddress })
  const seconds = await secondsUntilAllowed(tx, { requestIpHash: ipHash, limit: PER_HOUR })
  if (seconds === null) return insertAttempt(tx, ipHash)
  throw new DomainError(
    'RATE_LIMITED',
    `an address may ask for ${PER_HOUR} registrations in an hour, and this one has`,
    {
      retryAfterSeconds: seconds,
      next: `register again in ${Math.ceil(seconds / 60)} minutes`,
    },
  )
}
