import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../../app.ts'
import { DomainError } from '../../lib/errors.ts'
import { countOpen, secondsToWait } from './limits-sql.ts'

/** Failed lookups of one customer per hour [own]. */
const FAILED_LOOK_UPS_PER_HOUR = 20

/** Pending requests and offers of one customer, and those to the same counterparty [own]. */
const OPEN_MAX = 100
const OPEN_MAX_OF_PAIR = 10

const RETRY_SECONDS = 3600

/**
 * Limits a customer's failed lookups per hour, across all processes: the directory is for finding known people, not for
 * enumeration. Only with rate limits enabled (config `SVC_RATE_LIMITS`).
 * @throws {DomainError} RATE_LIMITED, even for an identifier that exists
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
    `${FAILED_LOOK_UPS_PER_HOUR} identifiers within the hour did not belong to customers of this bank`,
    { retryAfterSeconds: seconds, next: `try again in ${Math.ceil(seconds / 60)} minutes` },
  )
}

/**
 * Limits a customer's open requests and offers, in total or to one counterparty.
 * @throws {DomainError} RATE_LIMITED
 */
export async function limitOpenRequests(
  tx: DatabaseTransactionConnection,
  sides: { customerId: string; counterpartyId?: string },
): Promise<void> {
  const max = sides.counterpartyId === undefined ? OPEN_MAX : OPEN_MAX_OF_PAIR
  if ((await countOpen(tx, { ...sides, max })) < max) return
  const to = sides.counterpartyId === undefined ? '' : ' to the same customer'
  throw new DomainError('RATE_LIMITED', `${max} of your requests and offers${to} wait for a decision`, {
    retryAfterSeconds: RETRY_SECONDS,
    next: 'withdraw those that you no longer need: reject ends one that you made',
  })
}
