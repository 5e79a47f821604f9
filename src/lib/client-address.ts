import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/** An IPv4 address as a socket of IPv6 tells it. */
const MAPPED = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i

/** The part of a request that says where it comes from. */
type RequestOrigin = Pick<IncomingMessage, 'headers'> & { socket: { remoteAddress?: string | undefined } }

/**
 * Where a request comes from. Behind a proxy that is the last hop of X-Forwarded-For, the one that the proxy itself has
 * written; whatever stands before it came from outside.
 */
export function clientAddressOf(req: RequestOrigin, trustProxy: boolean): string {
  const forwarded = req.headers['x-forwarded-for']
  const lastHop = typeof forwarded === 'string' ? forwarded.slice(forwarded.lastIndexOf(',') + 1).trim() : ''
  const address = trustProxy && isIP(lastHop) !== 0 ? lastHop : (req.socket.remoteAddress ?? '')
  return address.replace(MAPPED, '')
}
