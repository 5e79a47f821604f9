import ipaddr from 'ipaddr.js'
import type { CommonQueryMethods } from 'slonik'
import type { App } from '../app.ts'
import { deriveKey } from '../lib/derive.ts'
import { DomainError } from '../lib/errors.ts'
import { hmacHex } from '../lib/hmac.ts'
import { insertAttempt, secondsToWait } from './attempts-sql.ts'

/** Registrations that one network may ask for within an hour, those refused included (decision 32). */
const PER_HOUR = 10

/** Bits of an IPv6 address that its holder can't choose: the rest of it is all one customer's. */
const IPV6_NETWORK_BYTES = 8

/**
 * What stands for the caller's address in the table: the same for the same network, and useless to whoever reads it, for
 * the key is derived from the master key.
 */
function requestIpHash({ config }: Pick<App, 'config'>, clientAddress: string): string {
  const key = deriveKey(config.encryptionKey, 'registration address').toString('hex')
  return hmacHex(key, Buffer.from(networkOf(clientAddress), 'utf8'))
}

function networkOf(clientAddress: string): string {
  // What is no address, as a socket that has just closed has none, is one network too.
  if (!ipaddr.isValid(clientAddress)) return 'unknown'
  const address = ipaddr.process(clientAddress)
  if (address.kind() === 'ipv4') return address.toString()
  return Buffer.from(address.toByteArray().slice(0, IPV6_NETWORK_BYTES)).toString('hex')
}

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
  const ipHash = requestIpHash(app, clientAddress)
  const seconds = await secondsToWait(tx, { requestIpHash: ipHash, limit: PER_HOUR })
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
