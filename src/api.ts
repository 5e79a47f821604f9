import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { App } from './app.ts'
import { makeServer } from './http/server.ts'
import { listen } from './lib/listen.ts'
import { listenForProbes } from './observe/probes.ts'
import { reportSuperuser } from './observe/report-superuser.ts'

/** A listening API. */
export type RunningApi = {
  /** The address it listens on, which may differ from the public one. */
  url: string
  port: number
  /**
   * Serves on for SVC_DRAIN_SECONDS while it is not ready, and asks each client to close its connection; then stops
   * accepting connections, completes the requests in progress, closes.
   */
  stop(): Promise<void>
}

/** Time for requests in progress to complete before their connections are closed, in milliseconds. */
const DRAIN_MS = 10_000
const IDLE_CHECK_MS = 50

/**
 * Listens on the configured address.
 * @throws {WrongHostError}
 * @throws with code EADDRINUSE if the port is in use, EACCES if the address is not permitted
 */
export async function startApi(app: App): Promise<RunningApi> {
  await reportSuperuser(app)
  let isDraining = false
  const server = makeServer(app, { isDraining: () => isDraining })
  app.streams.open()
  const inProgress = trackResponses(server, () => isDraining)
  const probes = await listenForProbes(app, () => isDraining)
  const stopSharing = app.config.rateLimits ? await app.rates.share() : undefined
  await listen(server, app.config.port, app.config.host).catch(async (error: unknown) => {
    await stopSharing?.()
    await probes?.stop()
    throw error
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port')
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return {
    url: `http://${host}:${address.port}`,
    port: address.port,
    stop: async () => {
      isDraining = true
      closeAfterResponse(inProgress)
      await delay(app.config.drainSeconds * 1_000)
      const stopped = stop(server)
      // Streams do not end by themselves.
      app.streams.end()
      await stopped
      await stopSharing?.()
      await probes?.stop()
    },
  }
}

/** The responses in progress. Once the server drains, each one closes its connection. */
function trackResponses(server: Server, isDraining: () => boolean): ReadonlySet<ServerResponse> {
  const inProgress = new Set<ServerResponse>()
  server.prependListener('request', (_req: unknown, res: ServerResponse) => {
    if (isDraining()) res.setHeader('connection', 'close')
    inProgress.add(res)
    res.once('close', () => inProgress.delete(res))
  })
  return inProgress
}

function closeAfterResponse(inProgress: ReadonlySet<ServerResponse>): void {
  for (const res of inProgress) if (!res.headersSent) res.setHeader('connection', 'close')
}

async function stop(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  // A connection becomes idle when its last response is sent, which may be after the first check.
  const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS)
  const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS)
  await closed
  clearInterval(idle)
  clearTimeout(cut)
}
