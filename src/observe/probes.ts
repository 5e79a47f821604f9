import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { App } from '../app.ts'
import { listen } from '../lib/listen.ts'
import { describeHealth, makeReadiness } from './health.ts'
import { readMetrics } from './metrics.ts'

/** Whether the process was asked to stop, and serves until its grace period ends. */
export type IsDraining = () => boolean

type Probe = (res: ServerResponse) => Promise<void>

const PATHS = ['/healthz', '/readyz', '/metrics'] as const

/** The paths of probes and scrapers, which call from inside the network, without the proxy that terminates TLS. */
export const PROBE_PATHS: ReadonlySet<string> = new Set(PATHS)

/** The probes of one listening server, by path. */
export function makeProbes(app: App, isDraining: IsDraining): ReadonlyMap<string, Probe> {
  const readinessOf = makeReadiness(app)
  const probes: Record<(typeof PATHS)[number], Probe> = {
    '/healthz': async (res) => sendJson(res, 200, describeHealth()),
    '/readyz': async (res) => {
      const readiness = await readinessOf({ isDraining: isDraining() })
      sendJson(res, readiness.status === 'ready' ? 200 : 503, readiness)
    },
    '/metrics': async (res) => {
      const text = await readMetrics(app)
      send(res, 200, { type: app.metrics.registry.contentType, text })
    },
  }
  return new Map(Object.entries(probes))
}

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
  const probes = makeProbes(app, isDraining)
  const server = createServer((req, res) => void answer(app, { req, res }, probes))
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

async function answer(app: App, { req, res }: Exchange, probes: ReadonlyMap<string, Probe>): Promise<void> {
  const path = (req.url ?? '/').split('?', 1)[0] ?? '/'
  const probe = req.method === 'GET' || req.method === 'HEAD' ? probes.get(path) : undefined
  if (probe === undefined) return sendJson(res, 404, { message: `Route ${req.method}:${path} not found` })
  try {
    await probe(res)
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
