import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { clientAddressOf } from './client-address.ts'

/** Addresses that nobody reaches over the internet: what comes from there has not crossed it. */
const PRIVATE = new BlockList()
PRIVATE.addSubnet('127.0.0.0', 8)
PRIVATE.addSubnet('10.0.0.0', 8)
PRIVATE.addSubnet('172.16.0.0', 12)
PRIVATE.addSubnet('192.168.0.0', 16)
PRIVATE.addSubnet('169.254.0.0', 16)
PRIVATE.addAddress('::1', 'ipv6')
PRIVATE.addSubnet('fc00::', 7, 'ipv6')
PRIVATE.addSubnet('fe80::', 10, 'ipv6')

/** Who has to come over TLS, and whether a proxy stands in front that says how it was asked (config.ts). */
export type TlsRule = { sslRequired: 'none' | 'external' | 'all'; trustProxy: boolean }

/** Each hop adds to the end, so only the last entry is our own proxy's; those before it are whatever the caller wrote. */
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
 * Whether a request has to be refused for want of TLS (decision 62): `external` lets private addresses speak in clear,
 * `all` nobody. The service itself speaks no TLS, so only a proxy that is trusted can say that it did.
 */
export function lacksTls(req: IncomingMessage, config: TlsRule): boolean {
  if (config.sslRequired === 'none') return false
  if (config.trustProxy && lastOf(req.headers['x-forwarded-proto'])?.toLowerCase() === 'https') return false
  return config.sslRequired === 'all' || !isPrivateAddress(clientAddressOf(req, config.trustProxy))
}
