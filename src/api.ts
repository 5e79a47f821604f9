import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import type { App } from './app.ts'
import { makeServer } from './http/server.ts'

/** A listening API. */
export type RunningApi = {
  /** The address it listens on, which may differ from the public one. */
  url: string
  port: number
  /** Stops accepting connections, completes the requests in progress, closes. */
  stop(): Promise<void>
}

/** Time for requests in progress to complete before their connections are closed, in milliseconds. */
const DRAIN_MS = 10_000
const IDLE_CHECK_MS = 50

/**
 * Listens on the configured address.
 * @throws with code EADDRINUSE if the port is in use, EACCES if the address is not permitted
 */
export async function startApi(app: App): Promise<RunningApi> {
  const server = makeServer(app)
  app.streams.open()
  const inProgress = trackResponses(server)
  server.listen(app.config.port, app.config.host)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port')
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return {
    url: `http://${host}:${address.port}`,
    port: address.port,
    stop: () => {
      const stopped = stop(server, inProgress)
      // Streams do not end by themselves.
      app.streams.end()
      return stopped
    },
  }
}

/** The responses in progress. Once the server stops, each one closes its connection. */
function trackResponses(server: Server): ReadonlySet<ServerResponse> {
  const inProgress = new Set<ServerResponse>()
  server.prependListener('request', (_req: unknown, res: ServerResponse) => {
    if (!server.listening) res.setHeader('connection', 'close')
    inProgress.add(res)
    res.once('close', () => inProgress.delete(res))
  })
  return inProgress
}

async function stop(server: Server, inProgress: ReadonlySet<ServerResponse>): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  for (const res of inProgress) if (!res.headersSent) res.setHeader('connection', 'close')
  server.closeIdleConnections()
  // A connection becomes idle when its last response is sent, which may be after the first check.
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS)
  const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS)
  await closed
  clearInterval(idle)
  clearTimeout(cut)
}
