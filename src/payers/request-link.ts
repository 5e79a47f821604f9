import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { DomainError, invalidField } from '../lib/errors.ts'
import { networkHash } from '../lib/network-hash.ts'
import type { PayerContact } from '../wire/payer.ts'
import { contactOf } from './contact.ts'
import { insertLinkRequest, secondsToNextRequest, tryLockRequestCount } from './sign-in-sql.ts'

/** Links that may be asked for within an hour from one network (decision 32). */
const PER_NETWORK = 20

/** What the hash of a network is made for. */
export const PAYER_NETWORK = 'payer address'

type RequestApp = Pick<App, 'pool' | 'config' | 'ids' | 'wake'>

/**
 * Takes down that a link is asked for. Nothing here looks whether the contact is known, and the same is done either way,
 * so neither the answer nor its time tells; a job looks later, and sends or does not (payers/send-links.ts; decision 25).
 * How many links a contact has been sent is its matter too: only the network that asks is ever refused.
 * @throws {DomainError} VALIDATION_FAILED at `phone`, RATE_LIMITED
 */
export async function requestLink(
  app: RequestApp,
  { body, clientAddress }: { body: PayerContact; clientAddress: string },
): Promise<void> {
  const contact = contactOf(body)
  if (contact.type === 'PHONE' && app.config.mode === 'live' && app.config.sms === undefined) {
    throw invalidField('phone', 'NOT_OFFERED', 'links are sent by e-mail alone; give an e-mail address')
  }
  const requestIpHash = networkHash(app.config.encryptionKey, { purpose: PAYER_NETWORK, clientAddress })
  await app.pool.transaction(async (tx) => {
    if (app.config.rateLimits) await checkNetworkLimit(tx, requestIpHash)
    await insertLinkRequest(tx, { id: app.ids.uuid(), contact, requestIpHash })
  })
  app.wake.notify('send-payer-links')
}

/**
 * Who is refused is not counted. Nobody waits for anybody: a network whose requests come at the same moment is told to
 * come again, or a stranger could hold up the connections that everybody needs.
 */
async function checkNetworkLimit(tx: DatabaseTransactionConnection, requestIpHash: string): Promise<void> {
  if (!(await tryLockRequestCount(tx, requestIpHash)))
    throw rateLimited('this network asks for links at the same moment', 1)
  const seconds = await secondsToNextRequest(tx, requestIpHash, PER_NETWORK)
  if (seconds !== null) throw rateLimited('this network has asked for too many links within an hour', seconds)
}

function rateLimited(message: string, seconds: number): DomainError {
  const minutes = Math.ceil(seconds / 60)
  return new DomainError('RATE_LIMITED', message, {
    retryAfterSeconds: seconds,
    next: seconds === 1 ? 'try again' : `look for the last one, or ask again in ${minutes} minutes`,
  })
}
