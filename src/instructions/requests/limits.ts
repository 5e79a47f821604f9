import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../../app.ts'
import { DomainError } from '../../lib/errors.ts'
import { countOpen, secondsToWait } from './limits-sql.ts'

/** Look-ups that lead to nobody, of one customer within an hour [own]. */
const FAILED_LOOK_UPS_PER_HOUR = 20

/** Requests and offers of one customer that wait for a decision, and those of them that wait for the same one [own]. */
const OPEN_MAX = 100
const OPEN_MAX_OF_PAIR = 10

const RETRY_SECONDS = 3600

/**
 * Holds a customer to its failed look-ups per hour, over all processes: the directory is for finding people whom one
 * knows. Only where callers are slowed down at all (config `SVC_RATE_LIMITS`).
 * @throws {DomainError} RATE_LIMITED, also for an identifier that would lead to somebody
 */
export async function limitDirectoryLookups(
  { config }: Pick<App, 'config'>,
  tx: DatabaseTransactionConnection,
  customerId: string,
): Promise<void> {
  if (!config.rateLimits) return
  const seconds = await secondsToWait(tx, { customerId, limit: FAILED_LOOK_UPS_PER_HOUR })
  if (seconds === null) return
  throw new DomainError(
    'RATE_LIMITED',
    `you named ${FAILED_LOOK_UPS_PER_HOUR} people within the hour who are no customers of this bank`,
    { retryAfterSeconds: seconds, next: `try again in ${Math.ceil(seconds / 60)} minutes` },
  )
}

/**
 * Holds a customer to what it may have open in all, or with one other.
 * @throws {DomainError} RATE_LIMITED
 */
export async function limitOpenRequests(
  tx: DatabaseTransactionConnection,
  whose: { customerId: string; counterpartyId?: string },
): Promise<void> {
  const max = whose.counterpartyId === undefined ? OPEN_MAX : OPEN_MAX_OF_PAIR
  if ((await countOpen(tx, { ...whose, max })) < max) return
  const to = whose.counterpartyId === undefined ? '' : ' to the same customer'
  throw new DomainError('RATE_LIMITED', `${max} of your requests and offers${to} wait for a decision`, {
    retryAfterSeconds: RETRY_SECONDS,
    next: 'take back those that you need no more: reject ends one that you made',
  })
}
