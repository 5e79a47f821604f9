import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { App } from '../app.ts'
import { listen } from '../lib/listen.ts'
import { describeHealth, describeReadiness } from './health.ts'
import { readMetrics } from './metrics.ts'

/** Whether the process was asked to stop, and serves until its grace period ends. */
export type IsDraining = () => boolean

type Probe = (app: App, res: ServerResponse, isDraining: IsDraining) => Promise<void>

/** The paths of probes and scrapers, which call from inside the network, without the proxy that terminates TLS. */
export const PROBES: ReadonlyMap<string, Probe> = new Map<string, Probe>([
  ['/healthz', async (_app, res) => sendJson(res, 200, describeHealth())],
  [
    '/readyz',
    async (app, res, isDraining) => {
      const readiness = await describeReadiness(app, { isDraining: isDraining() })
      sendJson(res, readiness.status === 'ready' ? 200 : 503, readiness)
    },
  ],
  [
    '/metrics',
    async (app, res) => {
      const text = await readMetrics(app)
      send(res, 200, { type: app.metrics.registry.contentType, text })
    },
  ],
])

/** A listening port for probes and scrapers only. */
export type ProbePort = { url: string; stop(): Promise<void> }

/**
 * Listens on SVC_OBSERVE_PORT, so that a worker, which has no API, can be probed and scraped.
 * @throws {WrongHostError}
 * @throws with code EADDRINUSE if the port is in use
 */
export async function listenForProbes(app: App, isDraining: IsDraining = () => false): Promise<ProbePort | undefined> {
  const { host, observePort } = app.config
  if (observePort === undefined) return undefined
  const server = createServer((req, res) => void answer(app, { req, res }, isDraining))
  await listen(server, observePort, host)
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${observePort}`,
    stop: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

type Exchange = { req: IncomingMessage; res: ServerResponse }

async function answer(app: App, { req, res }: Exchange, isDraining: IsDraining): Promise<void> {
  const path = (req.url ?? '/').split('?', 1)[0] ?? '/'
  const probe = req.method === 'GET' || req.method === 'HEAD' ? PROBES.get(path) : undefined
  if (probe === undefined) return sendJson(res, 404, { message: `Route ${req.method}:${path} not found` })
  try {
    await probe(app, res, isDraining)
  } catch (error) {
    app.log.error({ err: error, path }, 'a probe failed')
    if (!res.headersSent) sendJson(res, 500, { message: 'The probe failed; the log says why.' })
  }
}

function sendJson(res: ServerResponse, status: number, body: unknown): void {
  send(res, status, { type: 'application/json; charset=utf-8', text: JSON.stringify(body) })
}

function send(res: ServerResponse, status: number, { type, text }: { type: string; text: string }): void {
  res.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(text, 'utf8'),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  res.end(text, 'utf8')
}
