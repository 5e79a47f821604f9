import { createServer } from 'node:net'
import { once } from 'node:events'

const HOST = '127.0.0.1'

/**
 * The port to listen on: the wanted one if it is free, any free one for 0. Payers' addresses carry the port, so it must be
 * known before the API listens.
 * @throws with code EADDRINUSE or EACCES as the operating system says
 */
export async function claimPort(wanted: number): Promise<number> {
  const server = createServer()
  server.listen({ port: wanted, host: HOST, exclusive: true })
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('the operating system gave no port')
  return address.port
}
