import type { IncomingMessage, ServerResponse } from 'node:http'
import { isDatabaseUnavailable } from '../../db/is-database-unavailable.ts'
import { clientAddressOf } from '../../lib/client-address.ts'
import { isSlug, issuerOf } from '../../lib/realms.ts'
import { redirectPostedRequest } from './protocol/redirect-posted-request.ts'
import {
  AUTHORIZATION_PATH,
  DEVICE_AUTHORIZATION_PATH,
  OPEN_PATHS,
  TOKEN_PATH,
  USERINFO_PATH,
  canonicalPath,
  mountOf,
} from './protocol/configuration.ts'
import { makeInstances } from './protocol/instances.ts'
import { makeInteractions } from './users/interactions.ts'
import { messagePage, tooManyPage } from './pages/message.ts'
import { sendPage } from './pages/shell.ts'
import { themeOf } from './pages/style.ts'
import type { EmbeddedParts } from './parts.ts'
import { findRealm } from './realms/realms-sql.ts'
import type { RealmRecord } from './record.ts'
import { sendJson } from './protocol/send-json.ts'
import { makeThrottle } from './users/throttle.ts'
import type { ThrottleKey } from './users/throttle.ts'
import { lacksTls } from '../../lib/tls.ts'
import { answerUserinfo } from './protocol/userinfo.ts'

export type Handle = (req: IncomingMessage, res: ServerResponse) => Promise<boolean>

/** Handles every request below `/realms/`. It never throws: each failure becomes an error response. */
export function makeHandle(parts: EmbeddedParts): Handle {
  const instanceOf = makeInstances(parts)
  const interactions = makeInteractions(parts)
  const throttle = makeThrottle(parts)

  async function answer(req: IncomingMessage, res: ServerResponse, { slug, path, search }: RealmPath): Promise<void> {
    if (lacksTls(req, parts.config)) {
      return sendJson(res, 403, { error: 'invalid_request', error_description: 'HTTPS required' })
    }
    // Read on every request, so that changes made by another process, even to the whole realm, apply at once.
    const realm = isSlug(slug) ? await findRealm(parts.pool, slug) : null
    if (realm === null) return sendJson(res, 404, { error: 'Realm does not exist' })
    if (!realm.is_enabled && !OPEN_PATHS.includes(path)) return rejectDisabled(req, res, realm)
    const key = req.method === 'OPTIONS' ? undefined : THROTTLED_PATHS[path]
    const retryAfterSeconds = key === undefined ? 0 : throttle(key, clientAddressOf(req, parts.config.trustProxy))
    if (retryAfterSeconds > 0) return rejectThrottled(res, realm, { path, retryAfterSeconds })
    if (path === '/') return describeRealm(parts, res, realm)
    if (path === USERINFO_PATH && req.method !== 'OPTIONS') return answerUserinfo(parts, realm, { req, res })
    const { provider, answer: protocol } = instanceOf(realm)
    setTrustedAddress(parts, req)
    if (await redirectPostedRequest(parts, realm, { req, res, path })) return
    if (await interactions.handle({ provider, realm, req, res, path: `${path}${search}` })) return
    // The library derives its mount path from the difference between the two URLs.
    const url = `${path}${withConsentPrompt(path, search)}`
    Object.assign(req, { originalUrl: `${mountOf(parts, slug)}${url}`, url })
    await protocol(req, res)
  }

  return async (req, res) => {
    const target = realmPathOf(req.url ?? '/')
    if (target === undefined) return false
    try {
      await answer(req, res, target)
    } catch (error) {
      sendFailure(parts, res, { error, realm: target.slug })
    }
    return true
  }
}

type RealmPath = { slug: string; path: string; search: string }

function realmPathOf(url: string): RealmPath | undefined {
  const [, slug, path, search] = /^\/realms\/([^/?#]+)(\/[^?#]*)?(\?[^#]*)?/.exec(url) ?? []
  return slug === undefined ? undefined : { slug, path: canonicalPath(path ?? '/'), search: search ?? '' }
}

/**
 * The library builds URLs from headers that any caller can set. They are overwritten with the configured address, so
 * that no URL of ours can point to another host.
 */
function setTrustedAddress({ publicUrl, config }: EmbeddedParts, req: IncomingMessage): void {
  const { host, protocol } = new URL(publicUrl)
  const address = clientAddressOf(req, config.trustProxy)
  delete req.headers['x-forwarded-host']
  delete req.headers['forwarded']
  req.headers.host = host
  req.headers['x-forwarded-proto'] = protocol.slice(0, -1)
  req.headers['x-forwarded-for'] = address
}

/**
 * Offline access needs the user's consent (OpenID Connect Core, section 11). Keycloak asks for it by itself; the
 * library would silently drop the scope instead, so the consent prompt is added here.
 */
function withConsentPrompt(path: string, search: string): string {
  if (path !== AUTHORIZATION_PATH) return search
  const query = new URLSearchParams(search)
  const isOffline = (query.get('scope') ?? '').split(' ').includes('offline_access')
  return isOffline && !query.has('prompt') ? `${search}&prompt=consent` : search
}

function describeRealm({ publicUrl }: EmbeddedParts, res: ServerResponse, realm: RealmRecord): void {
  const issuer = issuerOf(publicUrl, realm.slug)
  sendJson(res, 200, { realm: realm.slug, 'token-service': `${issuer}/protocol/openid-connect` })
}

/** Protocol endpoints that are expensive and need no password. Pages have their own limits (interactions.ts). */
const THROTTLED_PATHS: Readonly<Record<string, ThrottleKey>> = {
  [AUTHORIZATION_PATH]: 'authorize',
  [DEVICE_AUTHORIZATION_PATH]: 'deviceAuthorization',
  [TOKEN_PATH]: 'token',
}

function rejectThrottled(
  res: ServerResponse,
  realm: RealmRecord,
  { path, retryAfterSeconds }: { path: string; retryAfterSeconds: number },
): void {
  if (path === AUTHORIZATION_PATH) return sendPage(res, tooManyPage(themeOf(realm), retryAfterSeconds))
  const description = `too many requests from this address; wait ${String(retryAfterSeconds)} s`
  const headers = { 'retry-after': String(retryAfterSeconds) }
  sendJson(res, 429, { error: 'temporarily_unavailable', error_description: description }, headers)
}

/** Browsers get a page, programs the error that Keycloak returns. */
function rejectDisabled(req: IncomingMessage, res: ServerResponse, realm: RealmRecord): void {
  if (!/\btext\/html\b/.test(req.headers.accept ?? '')) {
    return sendJson(res, 403, { error: 'access_denied', error_description: 'Realm not enabled' })
  }
  const content = { html: '<p>Signing in is disabled for this realm. Contact the operator of this service.</p>' }
  sendPage(res, messagePage({ theme: themeOf(realm), title: 'Not available', status: 403, content }))
}

function sendFailure(
  { log }: EmbeddedParts,
  res: ServerResponse,
  { error, realm }: { error: unknown; realm: string },
): void {
  const isAway = isDatabaseUnavailable(error)
  if (isAway) log.warn({ err: error, realm }, 'the identity provider cannot reach its database')
  else log.error({ err: error, realm }, 'the identity provider failed')
  if (res.headersSent) {
    res.destroy()
    return
  }
  if (isAway) sendJson(res, 503, { error: 'temporarily_unavailable' }, { 'retry-after': '1' })
  else sendJson(res, 500, { error: 'server_error' })
}
