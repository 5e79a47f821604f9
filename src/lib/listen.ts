import { once } from 'node:events'
import type { Server } from 'node:http'

/** SVC_HOST is not an address of this machine. */
export class WrongHostError extends Error {
  override readonly name = 'WrongHostError'
}

const WRONG_HOST = /^(ENOTFOUND|EAI_\w+|EADDRNOTAVAIL|EAFNOSUPPORT|EINVAL)$/

/**
 * Resolves when the server listens.
 * @throws {WrongHostError}
 * @throws with code EADDRINUSE if the port is in use, EACCES if it is not permitted
 */
export async function listen(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host)
  await once(server, 'listening').catch((error: unknown) => {
    const isWrongHost = error instanceof Error && 'code' in error && WRONG_HOST.test(String(error.code))
    // Without its cause, which would look like that of a database whose name is wrong.
    throw isWrongHost ? new WrongHostError(`SVC_HOST: "${host}" does not resolve to an address of this machine`) : error
  })
}
