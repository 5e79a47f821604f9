import type { Provider } from 'oidc-provider'
import { isDatabaseUnavailable } from '../../../db/is-database-unavailable.ts'
import { isKnownOrigin } from '../realms/clients-sql.ts'
import { portalOriginOf } from '../realms/clients.ts'
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
}

/** Applies to every response of the library: allowed origins, failures, unknown paths and security headers. */
export function useResponseMiddleware(parts: EmbeddedParts, realm: RealmRecord, provider: Provider): void {
  provider.use(async (ctx, next) => {
    ctx.state[BEGAN_AT] = Date.now()
    try {
      await next()
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
  })
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
