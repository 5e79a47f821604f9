import { isIP } from 'node:net'
import type { Socket } from 'node:net'
import { buildConnector } from 'undici'
import { isPublicAddress } from './addresses.ts'
import type { Resolve } from './addresses.ts'
import { readIntoOne } from './reads.ts'

/** The host is not allowed or can't be resolved; `reason` is recorded. */
export class UnreachableError extends Error {
  readonly reason: 'blocked' | 'dns'

  constructor(reason: 'blocked' | 'dns') {
    super(`the webhook's host is ${reason === 'blocked' ? 'not allowed' : 'not known'}`)
    this.name = 'UnreachableError'
    this.reason = reason
  }
}

/** A name may have many addresses, and the whole attempt has only five seconds. */
const ADDRESSES_MAX = 3
const CONNECT_TIMEOUT_MS = 2_000

export type ConnectorOptions = {
  allowPrivate: boolean
  resolve: Resolve
  /** Certificates of the authorities to trust instead of the system's, for tests. */
  ca?: string | undefined
}

/**
 * Makes connections for the webhook client. The host's name is resolved once, every address is checked, and the
 * connection uses a checked address, even if the name changes a moment later (DNS rebinding); the certificate must
 * match the name. One forbidden address among several rejects them all.
 */
export function makeConnector({ allowPrivate, resolve, ca }: ConnectorOptions): buildConnector.connector {
  const connect = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    allowH2: false,
    onread: readIntoOne(),
    ...(ca === undefined ? {} : { ca }),
  })

  async function addressesOf(hostname: string): Promise<string[]> {
    const name = hostname.replace(/^\[(.*)\]$/, '$1')
    const addresses = isIP(name) === 0 ? await resolve(name) : [name]
    if (addresses.length === 0) throw new UnreachableError('dns')
    if (!allowPrivate && !addresses.every(isPublicAddress)) throw new UnreachableError('blocked')
    return addresses.slice(0, ADDRESSES_MAX)
  }

  function connectTo(address: string, options: buildConnector.Options): Promise<Socket> {
    const { promise, resolve: connected, reject } = Promise.withResolvers<Socket>()
    const { servername, ...rest } = options
    // Over TLS undici connects to `hostname` and requests the certificate of `servername`.
    const named = options.protocol === 'https:' && servername !== undefined ? { servername } : {}
    connect({ ...rest, ...named, hostname: address }, (error, socket) => {
      if (error) reject(error)
      else if (socket) connected(socket)
    })
    return promise
  }

  async function connectAny(options: buildConnector.Options): Promise<Socket> {
    let failure: unknown
    for (const address of await addressesOf(options.hostname)) {
      try {
        const socket = await connectTo(address, options)
        if (allowPrivate || isPublicAddress(socket.remoteAddress ?? '')) return socket
        socket.destroy()
        throw new UnreachableError('blocked')
      } catch (error) {
        if (error instanceof UnreachableError) throw error
        failure = error
      }
    }
    throw failure
  }

  return (options, callback) => {
    connectAny(options).then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    )
  }
}
