import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import type { App } from './app.ts'
import { makeServer } from './http/server.ts'

/** A listening API. */
export type RunningApi = {
  /** Where it listens, which is not always where the outside reaches it. */
  url: string
  port: number
  /** Stops accepting, answers what is under way, closes. */
  stop(): Promise<void>
}

/** How long requests under way may take to end before they are cut off. */
const DRAIN_MS = 10_000
const IDLE_LOOK_MS = 50

/**
 * Listens on the configured address.
 * @throws with code EADDRINUSE when the port is taken, EACCES when the address may not be used
 */
export async function startApi(app: App): Promise<RunningApi> {
  const server = makeServer(app)
  app.streams.open()
  const underWay = trackAnswers(server)
  server.listen(app.config.port, app.config.host)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port')
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return {
    url: `http://${host}:${address.port}`,
    port: address.port,
    stop: () => {
      const stopped = stop(server, underWay)
      // They would not end by themselves.
      app.streams.end()
      return stopped
    },
  }
}

/** Answers that are not finished. Each tells its client to ask no more on this connection once the server stops. */
function trackAnswers(server: Server): ReadonlySet<ServerResponse> {
  const underWay = new Set<ServerResponse>()
  server.prependListener('request', (_req: unknown, res: ServerResponse) => {
    if (!server.listening) res.setHeader('connection', 'close')
    underWay.add(res)
    res.once('close', () => underWay.delete(res))
  })
  return underWay
}

async function stop(server: Server, underWay: ReadonlySet<ServerResponse>): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  for (const res of underWay) if (!res.headersSent) res.setHeader('connection', 'close')
  server.closeIdleConnections()
  // A connection becomes idle when its last answer is sent, which may be after the first look.
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_LOOK_MS)
  const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS)
  await closed
  clearInterval(idle)
  clearTimeout(cut)
}
