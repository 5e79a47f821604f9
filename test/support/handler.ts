import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Test } from 'tap'
import type { IdentityProvider } from '../../src/identity/provider.ts'

/** A server that has nothing but a provider's own answers. */
export async function startHandler(t: Test, { handle }: IdentityProvider): Promise<string> {
  const server = createServer((req, res) => {
    void handle?.(req, res).then((isAnswered) => {
      if (!isAnswered) res.writeHead(404).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port')
  return `http://127.0.0.1:${String(address.port)}`
}
