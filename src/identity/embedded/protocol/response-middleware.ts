import { createHash } from 'node:crypto'
import type { Provider } from 'oidc-provider'
import { isDatabaseUnavailable } from '../../../db/is-database-unavailable.ts'
import { isKnownOrigin } from '../realms/clients-sql.ts'
import { portalOriginOf } from '../realms/clients.ts'
import { ALONE } from '../../../lib/page-headers.ts'
import { formSourceOf } from '../pages/shell.ts'
import { makeMarkPolled } from './adapter.ts'
import { OPEN_PATHS } from './configuration.ts'
import { FAILURE } from './log-events.ts'
import { BEGAN_AT } from './token-claims.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { RealmRecord } from '../record.ts'

/** The part of the library's context that the middleware uses. */
type Context = {
  path: string
  status: number
  body: unknown
  state: Record<string, unknown>
  get(name: string): string
  set(name: string, value: string): void
  remove(name: string): void
  response: { get(name: string): string | string[] }
  oidc?: { params?: Record<string, unknown> | undefined }
}

/**
 * Applies to every response of the library: allowed origins, failures, unknown paths, devices that ask too often, and
 * security headers.
 */
export function useResponseMiddleware(parts: EmbeddedParts, realm: RealmRecord, provider: Provider): void {
  const markPolled = makeMarkPolled(parts, realm.slug)
  provider.use(async (ctx, next) => {
    ctx.state[BEGAN_AT] = Date.now()
    try {
      await next()
      await slowDown(ctx, markPolled)
    } catch (error) {
      // The library handles its own errors; this one is ours.
      ctx.state[FAILURE] = error
      ctx.status = 500
      ctx.body = { error: 'server_error' }
    }
    reportFailure(parts, realm, ctx)
    if (ctx.status === 404 && ctx.body === undefined) {
      ctx.status = 404
      ctx.body = { error: 'not_found' }
    }
    await restrictOrigin(parts, realm, ctx)
    ctx.set('X-Content-Type-Options', 'nosniff')
    ctx.set('Referrer-Policy', 'no-referrer')
    if (!ctx.response.get('X-Frame-Options')) ctx.set('X-Frame-Options', 'DENY')
    protectPage(ctx)
  })
}

/** Answers a device that asks more often than it may; one whose code is confirmed gets its tokens all the same. */
async function slowDown(ctx: Context, markPolled: (deviceCode: string) => Promise<boolean>): Promise<void> {
  const code = ctx.oidc?.params?.['device_code']
  if (typeof code !== 'string' || !isPending(ctx.body) || !(await markPolled(code))) return
  ctx.body = { error: 'slow_down', error_description: 'wait five seconds longer between two questions' }
}

function isPending(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'error' in body && body.error === 'authorization_pending'
}

/**
 * Gives the pages that the library writes itself (a form that leads back to the client by POST) the headers of ours: their
 * one script is allowed by its hash, and the form leads to its own address only.
 */
function protectPage(ctx: Context): void {
  if (typeof ctx.body !== 'string' || !/html/.test(String(ctx.response.get('Content-Type')))) return
  if (ctx.response.get('Content-Security-Policy')) return
  const [, script] = /<script>([^]*?)<\/script>/.exec(ctx.body) ?? []
  const [, action] = /<form method="post" action="([^"]*)"/.exec(ctx.body) ?? []
  const policy = [
    "default-src 'none'",
    script === undefined ? undefined : `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
    `form-action ${["'self'", ...formSourceOf(action)].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ]
  ctx.set('Content-Security-Policy', policy.filter((part) => part !== undefined).join('; '))
  for (const [name, value] of Object.entries(ALONE)) ctx.set(name, value)
}

/** Logs a failure of ours completely, and responds whether a retry may help. */
function reportFailure({ log }: EmbeddedParts, realm: RealmRecord, ctx: Context): void {
  const failure = ctx.state[FAILURE]
  if (failure === undefined) return
  if (!isDatabaseUnavailable(failure)) {
    log.error({ err: failure, realm: realm.slug, path: ctx.path }, 'the identity provider failed')
    return
  }
  log.warn({ err: failure, realm: realm.slug, path: ctx.path }, 'the identity provider cannot reach its database')
  if (ctx.status < 500) return
  ctx.status = 503
  ctx.set('Retry-After', '1')
}

/**
 * Only pages of the realm's clients may read responses. The library checks the origin of the request's client, but a
 * preflight names no client, and an error before the client is known would be readable by any page.
 */
async function restrictOrigin(parts: EmbeddedParts, realm: RealmRecord, ctx: Context): Promise<void> {
  const origin = ctx.get('Origin')
  if (origin === '' || OPEN_PATHS.includes(ctx.path) || !ctx.response.get('Access-Control-Allow-Origin')) return
  const isOwnPortal = origin === portalOriginOf(parts, realm.slug)
  const isKnown = await isKnownOrigin(parts.pool, realm.slug, { origin, isOwnPortal }).catch(() => false)
  if (!isKnown) ctx.remove('Access-Control-Allow-Origin')
}
