import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import polka from 'polka'
import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { lacksTls } from '../lib/tls.ts'
import { PROBES } from '../observe/probes.ts'
import type { IsDraining } from '../observe/probes.ts'
import { serveDescription } from './api-description.ts'
import type { CallersOptions } from './callers.ts'
import { addAssetRoutes } from './assets.ts'
import { addCheckoutPages } from './checkout-pages.ts'
import { addDevRoutes } from './dev-routes.ts'
import { ERROR_STATUS } from './error-status.ts'
import type { RoutedRequest } from './endpoint.ts'
import { makeGuard } from './guards.ts'
import { makeBrowserLimits } from './rate-limit.ts'
import { isOpenBanking } from './open-banking-errors.ts'
import { sendError, sendJson } from './reply.ts'
import { requestIdOf } from './request-id.ts'
import type { Router, Served } from './router.ts'
import { OPEN_BANKING_PATH } from '../wire/open-banking.ts'
import { errorsOf } from '../wire/operation.ts'
import { routesOf } from './routes.ts'

/** Time limits of clients, in milliseconds, and the limit of headers in bytes. */
const SERVER_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16 * 1024,
}
const REQUESTS_PER_SOCKET_MAX = 1_000
const CONNECTIONS_MAX = 10_000

/** The methods polka registers routes under. */
const METHODS = { GET: 'get', POST: 'post', PUT: 'put', DELETE: 'delete' } as const

/**
 * The HTTP server with every route, not yet listening. polka only routes. Errors go to our own `onError`, because polka's
 * would use an error's `status` as the response's and show its message.
 */
export function makeServer(
  app: App,
  { isDraining = () => false, ...limits }: Partial<CallersOptions> & { isDraining?: IsDraining } = {},
): Server {
  const server = createServer(SERVER_LIMITS)
  server.maxRequestsPerSocket = REQUESTS_PER_SOCKET_MAX
  server.maxConnections = CONNECTIONS_MAX
  const router = polka({ server, onError: failed(app), onNoMatch: (req, res) => noMatch(app, req, res) })
  const limitRate = makeBrowserLimits(app)
  const guard = makeGuard(app, limits, limitRate)
  for (const { operation, bind } of routesOf(app.config.mode)) {
    const endpoint = bind(app, guard)
    const path = operation.path.replaceAll(/\{(\w+)\}/g, ':$1')
    router[METHODS[operation.method]](path, (req, res) => caught(app, req, res, () => endpoint(req, res)))
  }
  addOperationalRoutes(app, router, isDraining)
  const asPage: Served = (req, res, run) => served(app, req, res, run)
  addAssetRoutes(app, router, asPage)
  addCheckoutPages(app, router, { served: asPage, limitRate })
  if (app.config.mode === 'sandbox') addDevRoutes(app, router, asPage)
  server.on('request', (req, res) => {
    req.url = originForm(req)
    if (lacksRequiredTls(app, req)) void served(app, req, res, rejectWithoutTls)
    else if (isOfRealms(req)) void served(app, req, res, () => answerRealms(app, req, res))
    else router.handler(asRouted(req), res, undefined as never)
  })
  return server
}

/**
 * The path of a request. A client may send the whole address (RFC 9112, absolute-form), whose host must be the one of the
 * Host header. The address of another host stays as it is, and matches no route.
 */
function originForm({ url = '/', headers }: IncomingMessage): string {
  const [origin = '', host] = /^https?:\/\/([^/?#]*)/i.exec(url) ?? []
  if (host === undefined || host.toLowerCase() !== headers.host?.toLowerCase()) return url
  const path = url.slice(origin.length)
  return path.startsWith('/') ? path : `/${path}`
}

/** Whether a request lacks the TLS that it needs (decision 62). Realms reject such requests themselves, in their own protocol. */
function lacksRequiredTls(app: App, req: IncomingMessage): boolean {
  const path = (req.url ?? '/').split('?', 1)[0] ?? '/'
  return !isOfRealms(req) && !PROBES.has(path) && lacksTls(req, app.config)
}

function rejectWithoutTls(): Promise<never> {
  const error = new DomainError('HTTPS_REQUIRED', 'the request was not sent over TLS', {
    next: 'use the https:// address, and replace credentials that were sent without TLS',
  })
  return Promise.reject(error)
}

/** The identity provider's own pages and endpoints, at Keycloak's paths. */
function isOfRealms({ url = '/' }: IncomingMessage): boolean {
  return url.startsWith('/realms/')
}

/** Passes the request to the identity provider, which has its own errors. A path that it does not handle is not found. */
async function answerRealms(app: App, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const answered = (await app.identity.handle?.(req, res)) ?? false
  if (!answered) sendUnknown(req, res)
}

/** polka adds the members of its own request type. */
function asRouted(req: IncomingMessage): Parameters<Router['handler']>[0] {
  return req as Parameters<Router['handler']>[0]
}

const OPENAPI_PATHS = [
  ['/openapi.json', 'b'],
  [`${OPEN_BANKING_PATH}/openapi.json`, 'a'],
] as const

function addOperationalRoutes(app: App, router: Router, isDraining: IsDraining): void {
  for (const [path, probe] of PROBES) {
    // Figures about the business stay inside where they have a port of their own.
    if (path === '/metrics' && app.config.observePort !== undefined) continue
    router.get(path, (req, res) => caught(app, req, res, () => probe(app, res, isDraining)))
  }
  for (const [path, surface] of OPENAPI_PATHS) {
    const serve = serveDescription(app, surface)
    router.get(path, (req, res) => caught(app, req, res, () => serve(req, res)))
  }
  router.get('/errors/:code', (req, res) => describeError(app, req, res))
}

/** Serves the address in the `type` of an error response. */
function describeError(app: App, req: RoutedRequest, res: ServerResponse): void {
  const code = (req.params['code'] ?? '').toUpperCase().replaceAll('-', '_')
  const status = Object.entries(ERROR_STATUS).find(([name]) => name === code)?.[1]
  if (status === undefined) return unknownRoute(app, req, res)
  const operations = routesOf(app.config.mode)
    .map((row) => row.operation)
    .filter((operation) => errorsOf(operation).some((name) => name === code))
  sendJson(res, 200, { code, status, operations: operations.map(({ method, path }) => `${method} ${path}`) })
}

/** Logs a page, which has no operation, by method, path, status and duration. */
function observePage(app: App, req: IncomingMessage, res: ServerResponse): void {
  const started = performance.now()
  const path = (req.url ?? '/').split('?')[0]
  res.once('close', () => {
    const durationMs = Math.round((performance.now() - started) * 10) / 10
    app.log.info({ method: req.method, path, status: res.statusCode, duration_ms: durationMs }, 'request')
  })
}

/**
 * On Surface A, the response for an unsupported method of a known address lists its methods (decision 11). An unknown
 * address gets the framework's own 404, as elsewhere.
 */
function noMatch(app: App, req: IncomingMessage, res: ServerResponse): void {
  const methods = isOpenBanking(req.url) ? methodsOf(app, req) : []
  if (methods.length === 0) return unknownRoute(app, req, res)
  res.setHeader('allow', methods.join(', '))
  const refused = new DomainError('METHOD_NOT_ALLOWED', `${req.method ?? ''} is not a method of this address`, {
    next: `it has ${methods.join(' and ')}`,
  })
  void served(app, req, res, () => Promise.reject(refused))
}

function methodsOf(app: App, { url = '' }: IncomingMessage): string[] {
  const path = url.split('?')[0] ?? ''
  return (
    routesOf(app.config.mode)
      .map(({ operation }) => operation)
      .filter((operation) => new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`, 'i').test(path))
      // HEAD is allowed wherever GET is.
      .flatMap(({ method }) => (method === 'GET' ? [method, 'HEAD'] : [method]))
  )
}

/** The framework's own response to a route that does not exist, without the error envelope (contract §Errors). */
function unknownRoute(app: App, req: IncomingMessage, res: ServerResponse): void {
  observePage(app, req, res)
  sendUnknown(req, res)
}

function sendUnknown(req: IncomingMessage, res: ServerResponse): void {
  const path = (req.url ?? '/').split('?')[0]
  sendJson(res, 404, { message: `Route ${req.method}:${path} not found` })
}

function failed(app: App) {
  return (error: unknown, req: IncomingMessage, res: ServerResponse): void => {
    sendError(res, { error, requestId: requestIdOf(app, req), publicUrl: app.publicUrl, log: app.log })
  }
}

/** Runs and logs a page, with `caught` for its errors. */
function served(app: App, req: IncomingMessage, res: ServerResponse, run: () => Promise<void>): Promise<void> {
  observePage(app, req, res)
  return caught(app, req, res, run)
}

/** Runs a page and sends an error response if it rejects: polka does not await handlers, so the rejection would end the process. */
async function caught(app: App, req: IncomingMessage, res: ServerResponse, run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    failed(app)(error, req, res)
  }
}
