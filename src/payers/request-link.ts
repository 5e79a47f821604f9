import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { DomainError, invalidField } from '../lib/errors.ts'
import { networkHashes } from '../lib/network-hash.ts'
import type { NetworkHashes } from '../lib/network-hash.ts'
import type { PayerContact } from '../wire/payer.ts'
import { contactContext, contactOf } from './contact.ts'
import { insertLinkRequest, secondsToNextRequest, tryLockRequestCount } from './sign-in-sql.ts'

/** Links that one network may request within an hour (decision 32). */
const PER_NETWORK = 20

/** The purpose of the hash of a network. */
export const PAYER_NETWORK = 'payer address'

type RequestApp = Pick<App, 'pool' | 'config' | 'ids' | 'wake' | 'sealer' | 'lookupHash'>

type RequestLink = {
  body: PayerContact
  clientAddress: string
  /** The language of the message, such as `cy`; one that is not known gets it in English. */
  language?: string
}

/**
 * Records a request for a sign-in link. It does not look up the contact, so that neither the response nor its time
 * reveals whether the contact is known; a job sends the link later, or does not (send-links.ts; decision 25). The job also
 * limits the links for each contact: here only the requesting network is limited.
 * @throws {DomainError} VALIDATION_FAILED at `phone`, RATE_LIMITED
 */
export async function requestLink(
  app: RequestApp,
  { body, clientAddress, language = 'en' }: RequestLink,
): Promise<void> {
  const contact = await contactOf(app, body)
  if (contact.type === 'PHONE' && app.config.mode === 'live' && app.config.sms === undefined) {
    throw invalidField('phone', 'NOT_OFFERED', 'links are sent by e-mail only; enter an e-mail address')
  }
  const network = networkHashes(app.config.encryptionKey, { purpose: PAYER_NETWORK, clientAddress })
  const id = app.ids.uuid()
  const sealed = app.sealer.seal(contact.value, contactContext('payer_link_requests', id))
  await app.pool.transaction(async (tx) => {
    if (app.config.rateLimits) await checkNetworkLimit(tx, network)
    await insertLinkRequest(tx, { id, contact, sealed, network, language })
  })
  app.wake.notify('send-payer-links')
}

/**
 * Rejected requests are not counted. Simultaneous requests of one network are rejected instead of waiting for each other:
 * waiting, a stranger's burst could occupy all database connections.
 */
async function checkNetworkLimit(tx: DatabaseTransactionConnection, network: NetworkHashes): Promise<void> {
  if (!(await tryLockRequestCount(tx, network.own)))
    throw rateLimited('this network requests several links at the same moment', 1)
  const seconds = await secondsToNextRequest(tx, network, PER_NETWORK)
  if (seconds !== null) throw rateLimited('this network has requested too many links within an hour', seconds)
}

function rateLimited(message: string, seconds: number): DomainError {
  const minutes = Math.ceil(seconds / 60)
  return new DomainError('RATE_LIMITED', message, {
    retryAfterSeconds: seconds,
    next: seconds === 1 ? 'try again' : `use the last link that was sent, or try again in ${minutes} minutes`,
  })
}
