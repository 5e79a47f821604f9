import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/** The prefix of an IPv4 address on an IPv6 socket. */
const MAPPED = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i

/** The parts of a request that determine its client address. */
type RequestOrigin = Pick<IncomingMessage, 'headers'> & { socket: { remoteAddress?: string | undefined } }

/**
 * The client address of a request. Behind a trusted proxy it is the last hop of X-Forwarded-For, which the proxy itself
 * has written; earlier hops come from outside and can be forged.
 */
export function clientAddressOf(req: RequestOrigin, trustProxy: boolean): string {
  const forwarded = req.headers['x-forwarded-for']
  const lastHop = typeof forwarded === 'string' ? forwarded.slice(forwarded.lastIndexOf(',') + 1).trim() : ''
  const address = trustProxy && isIP(lastHop) !== 0 ? lastHop : (req.socket.remoteAddress ?? '')
  return address.replace(MAPPED, '')
}
