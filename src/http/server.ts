import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import polka from 'polka'
import type { App } from '../app.ts'
import { ofEveryMerchant, ofNoMerchant } from '../db/merchant-scope.ts'
import { DomainError } from '../lib/errors.ts'
import { clientAddressOf } from '../lib/client-address.ts'
import { lacksTls } from '../lib/tls.ts'
import { PROBE_PATHS, makeProbes } from '../observe/probes.ts'
import type { IsDraining } from '../observe/probes.ts'
import { openApiDocument } from '../openapi/document.ts'
import { postmanCollection } from '../openapi/postman.ts'
import { serveDescription } from './api-description.ts'
import type { CallersOptions } from './callers.ts'
import { addAssetRoutes } from './assets.ts'
import { addCheckoutPages } from './checkout-pages.ts'
import { addDevRoutes } from './dev-routes.ts'
import { codeInAddress, sendErrorFacts } from './pages/error-page.ts'
import type { RoutedRequest } from './endpoint.ts'
import { makeGuard } from './guards.ts'
import type { Guard } from './guards.ts'
import { makeRateLimits } from './rate-limit.ts'
import type { NetworkRate } from './rate-limit.ts'
import { networkName } from './logged-caller.ts'
import { isOpenBanking } from './open-banking-errors.ts'
import { sendError, sendUnknown } from './reply.ts'
import { traceNames, trustTraceparent } from '../lib/trace.ts'
import { requestIdOf } from './request-id.ts'
import { inRequestSpan } from './request-span.ts'
import type { Router, Served } from './router.ts'
import { OPEN_BANKING_PATH } from '../wire/open-banking.ts'
import { routesOf } from './routes.ts'

/** Time limits of clients, in milliseconds; the limit of headers, in bytes. */
const SERVER_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16 * 1024,
  // Nothing listens to a request that announces no body, so its stream is closed at once (from Node.js 24.12).
  optimizeEmptyRequests: true,
}
/** How long a client may accept nothing of a response that waits for it, in milliseconds. */
const UNREAD_MS = 30_000
const REQUESTS_PER_SOCKET_MAX = 1_000
const CONNECTIONS_MAX = 10_000

/** Whether a request's path is written as that of the operation, parameters aside. */
function exactPath(pattern: string): (req: IncomingMessage) => boolean {
  const text = pattern.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`).replaceAll(/\{\w+\}/g, '[^/?]+')
  const form = new RegExp(`^${text}/?(?:\\?|$)`)
  return ({ url = '' }) => form.test(url)
}

/** The methods polka registers routes under. */
const METHODS = { GET: 'get', POST: 'post', PUT: 'put', DELETE: 'delete' } as const

type ServerOptions = Partial<CallersOptions> & { isDraining?: IsDraining; unreadMs?: number }

/**
 * The HTTP server with every route, not yet listening. polka only routes. Errors go to our own `onError`, because polka's
 * would use an error's `status` as the response's and show its message.
 */
export function makeServer(
  app: App,
  { isDraining = () => false, unreadMs = UNREAD_MS, ...limits }: ServerOptions = {},
): Server {
  const server = createServer(SERVER_LIMITS)
  server.maxRequestsPerSocket = REQUESTS_PER_SOCKET_MAX
  server.maxConnections = CONNECTIONS_MAX
  server.timeout = unreadMs
  const router = polka({
    server,
    onError: failed(app),
    onNoMatch: (req, res) => asPage(req, res, async () => noMatch(app, req, res)),
  })
  const rateLimits = makeRateLimits(app)
  const decide = makeGuard(app, limits, rateLimits)
  // Who the caller is, is read before it is known whose rows the caller may see.
  const guard: Guard = async (operation, credentials, options) => {
    const principal = await ofEveryMerchant(() => decide(operation, credentials, options))
    if (principal.kind === 'merchant') trustTraceparent()
    return principal
  }
  const limited =
    (rate: NetworkRate): Served =>
    (req, res, run) =>
      served(app, req, res, async () => {
        rateLimits.network(rate, clientAddressOf(req, app.config.trustProxy))
        await run()
      })
  const asPage = limited('page')
  const asRealm = limited('realms')
  for (const { operation, bind } of routesOf(app.config.mode)) {
    const endpoint = bind(app, guard)
    const path = operation.path.replaceAll(/\{(\w+)\}/g, ':$1')
    const isExact = exactPath(operation.path)
    router[METHODS[operation.method]](path, (req, res) =>
      // polka compares paths without case; a proxy that blocks a path does not.
      isExact(req)
        ? caught(app, req, res, () => endpoint(req, res))
        : void asPage(req, res, async () => sendUnknown(req, res)),
    )
  }
  addOperationalRoutes(app, router, { isDraining, asPage })
  addAssetRoutes(app, router, { asPage, asFile: limited('file') })
  // These have rates of their own, and show a page where others respond with an error.
  addCheckoutPages(app, router, { served: (req, res, run) => served(app, req, res, run), rateLimits })
  if (app.config.mode === 'sandbox') addDevRoutes(app, router, asPage)
  const isHttps = app.publicUrl.startsWith('https:')
  server.on('request', (req, res) => {
    res.on('timeout', endUnread)
    req.url = originForm(req)
    if (isHttps) res.setHeader('strict-transport-security', HSTS)
    if (namesTwoHosts(req)) void asPage(req, res, rejectTwoHosts)
    else if (lacksRequiredTls(app, req)) void asPage(req, res, rejectWithoutTls)
    else if (isOfRealms(req)) void asRealm(req, res, () => answerRealms(app, req, res))
    // What does not say whose rows it needs gets those of no merchant.
    else ofNoMerchant(() => router.handler(asRouted(req), res, undefined as never))
  })
  return server
}

/** Of a connection where nothing moves, only one that has something to send waits for its client: others wait for us. */
function endUnread(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy()
}

/** A browser that has been here over https sends nothing over plain http for a year. */
const HSTS = 'max-age=31536000'

/** Node.js keeps the first of two Host headers, and a proxy may read the other (RFC 9112, section 3.2). */
function namesTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count > 1
}

function rejectTwoHosts(): Promise<never> {
  const errors = [{ path: 'host', code: 'INVALID', message: 'must be sent once' }]
  return Promise.reject(new DomainError('VALIDATION_FAILED', 'the request has two Host headers', { errors }))
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
  return !isOfRealms(req) && !PROBE_PATHS.has(path) && lacksTls(req, app.config)
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

const DESCRIPTIONS: readonly (readonly [path: string, make: (app: App) => object])[] = [
  ['/openapi.json', (app) => openApiDocument(app, 'b')],
  [`${OPEN_BANKING_PATH}/openapi.json`, (app) => openApiDocument(app, 'a')],
  ['/postman.json', postmanCollection],
]

type OperationalRoutes = { isDraining: IsDraining; asPage: Served }

function addOperationalRoutes(app: App, router: Router, { isDraining, asPage }: OperationalRoutes): void {
  for (const [path, probe] of makeProbes(app, isDraining)) {
    // Figures about the business stay inside: in live mode, and wherever they have a port of their own.
    if (path === '/metrics' && (app.config.observePort !== undefined || app.config.mode === 'live')) continue
    router.get(path, (req, res) => caught(app, req, res, () => ofEveryMerchant(() => probe(res))))
  }
  for (const [path, make] of DESCRIPTIONS) {
    const serve = serveDescription(app, make)
    router.get(path, (req, res) => asPage(req, res, () => serve(req, res)))
  }
  router.get('/errors/:code', (req, res) => asPage(req, res, async () => describeError(app, req, res)))
}

function describeError(app: App, req: RoutedRequest, res: ServerResponse): void {
  const code = codeInAddress(req.params['code'] ?? '')
  if (code === undefined) sendUnknown(req, res)
  else sendErrorFacts(app, req, res, code)
}

/** Logs a page, which has no operation, by method, path, status and duration. */
function observePage(app: App, req: IncomingMessage, res: ServerResponse): void {
  const started = performance.now()
  const path = (req.url ?? '/').split('?')[0]
  const names = traceNames()
  res.once('close', () => {
    const durationMs = Math.round((performance.now() - started) * 10) / 10
    const network = networkName(app, req)
    app.log.info(
      { ...names, method: req.method, path, status: res.statusCode, duration_ms: durationMs, network },
      'request',
    )
  })
}

/**
 * On Surface A, the response for an unsupported method of a known address lists its methods (decision 162). An unknown
 * address gets the framework's own 404, as elsewhere.
 */
function noMatch(app: App, req: IncomingMessage, res: ServerResponse): void {
  const methods = isOpenBanking(req.url) ? methodsOf(app, req) : []
  if (methods.length === 0) return sendUnknown(req, res)
  res.setHeader('allow', methods.join(', '))
  const refused = new DomainError('METHOD_NOT_ALLOWED', `${req.method ?? ''} is not a method of this address`, {
    next: `it has ${methods.join(' and ')}`,
  })
  throw refused
}

function methodsOf(app: App, { url = '' }: IncomingMessage): string[] {
  const path = url.split('?')[0] ?? ''
  return (
    routesOf(app.config.mode)
      .map(({ operation }) => operation)
      .filter((operation) => new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`).test(path))
      // HEAD is allowed wherever GET is.
      .flatMap(({ method }) => (method === 'GET' ? [method, 'HEAD'] : [method]))
  )
}

function failed(app: App) {
  return (error: unknown, req: IncomingMessage, res: ServerResponse): void => {
    sendError(res, { error, requestId: requestIdOf(app, req), publicUrl: app.publicUrl, log: app.log })
  }
}

/** Pages have no route's name here, and their paths may have ids. */
const PAGE_SPAN = { name: 'page' }

/** Runs and logs a page, with `caught` for its errors. Its caller proves itself by what the page reads. */
function served(app: App, req: IncomingMessage, res: ServerResponse, run: () => Promise<void>): Promise<void> {
  return inRequestSpan(PAGE_SPAN, { req, res }, () => {
    observePage(app, req, res)
    return caught(app, req, res, () => ofEveryMerchant(run))
  })
}

/**
 * Runs a page and sends an error response if it rejects: polka does not await handlers, so the rejection would end
 * the process.
 */
async function caught(app: App, req: IncomingMessage, res: ServerResponse, run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    failed(app)(error, req, res)
  }
}
