import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { clientAddressOf } from './client-address.ts'

/** Addresses that are not reachable over the internet: requests from them have not crossed it. */
const PRIVATE = new BlockList()
PRIVATE.addSubnet('127.0.0.0', 8)
PRIVATE.addSubnet('10.0.0.0', 8)
PRIVATE.addSubnet('172.16.0.0', 12)
PRIVATE.addSubnet('192.168.0.0', 16)
PRIVATE.addSubnet('169.254.0.0', 16)
PRIVATE.addAddress('::1', 'ipv6')
PRIVATE.addSubnet('fc00::', 7, 'ipv6')
PRIVATE.addSubnet('fe80::', 10, 'ipv6')

/** Which callers must use TLS, and whether a trusted proxy in front reports the protocol (config.ts). */
export type TlsRule = { sslRequired: 'none' | 'external' | 'all'; trustProxy: boolean }

/** Each hop adds to the end, so only the last entry is from our own proxy; the caller controls the earlier ones. */
function lastOf(header: string | string[] | undefined): string | undefined {
  const text = Array.isArray(header) ? header.join(',') : header
  const last = text?.split(',').at(-1)?.trim()
  return last === '' ? undefined : last
}

export function isPrivateAddress(address: string): boolean {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
  const version = isIP(plain)
  return version !== 0 && PRIVATE.check(plain, version === 6 ? 'ipv6' : 'ipv4')
}

/**
 * Whether a request must be rejected for lack of TLS (decision 62): `external` exempts private addresses, `all` exempts
 * none. The service itself does not terminate TLS, so only a trusted proxy can report it.
 */
export function lacksTls(req: IncomingMessage, config: TlsRule): boolean {
  if (config.sslRequired === 'none') return false
  if (config.trustProxy && lastOf(req.headers['x-forwarded-proto'])?.toLowerCase() === 'https') return false
  return config.sslRequired === 'all' || !isPrivateAddress(clientAddressOf(req, config.trustProxy))
}
