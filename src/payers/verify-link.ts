import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { sha256Hex } from '../lib/hmac.ts'
import { networkHashes } from '../lib/network-hash.ts'
import { contactContext } from './contact.ts'
import type { Contact } from './record.ts'
import { PAYER_NETWORK } from './request-link.ts'
import { startSession } from './session.ts'
import { countFailedVerifications, insertFailedVerification, useToken } from './sign-in-sql.ts'

/** Invalid tokens that one network may try within an hour. Guessing is hopeless anyway; the limit keeps it cheap for us. */
const FAILED_PER_HOUR = 60

type VerifyApp = Pick<App, 'pool' | 'config' | 'ids' | 'sealer'>

/**
 * Exchanges a link's token for a session. A token works once, for ten minutes; every other one gets the same error (decision 25).
 * @throws {DomainError} LINK_INVALID, RATE_LIMITED
 */
export async function verifyLink(
  app: VerifyApp,
  { token, clientAddress }: { token: string; clientAddress: string },
): Promise<{ token: string; expiresInSeconds: number; contact: Contact }> {
  const { own: requestIpHash } = networkHashes(app.config.encryptionKey, { purpose: PAYER_NETWORK, clientAddress })
  if (app.config.rateLimits) await checkFailedLimit(app, requestIpHash)
  const used = await useToken(app.pool, sha256Hex(token))
  if (used !== null) {
    const value = app.sealer.open(used.contact, contactContext('payer_tokens', used.id))
    const contact: Contact = { type: used.contact_type, value, hash: used.contact_hash }
    return { ...(await startSession(app, { contact })), contact }
  }
  if (app.config.rateLimits) await insertFailedVerification(app.pool, requestIpHash)
  throw new DomainError('LINK_INVALID', 'the link does not work: it was used before, or is older than 10 minutes', {
    next: 'ask for a new one',
  })
}

async function checkFailedLimit(app: VerifyApp, requestIpHash: string): Promise<void> {
  const { count, seconds } = await countFailedVerifications(app.pool, { requestIpHash, limit: FAILED_PER_HOUR })
  if (count < FAILED_PER_HOUR) return
  throw new DomainError('RATE_LIMITED', 'too many invalid links were tried within an hour', {
    retryAfterSeconds: seconds,
    next: `try again in ${Math.ceil(seconds / 60)} minutes`,
  })
}
