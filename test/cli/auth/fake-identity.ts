import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { writeServiceState } from '../../../cli/client/service-state.ts'
import type { ServiceState } from '../../../cli/client/service-state.ts'
import { fakeService, refusal } from '../harness.ts'
import type { Answer, Request } from '../harness.ts'

/** A token that looks like one, which nobody has signed. */
export function fakeToken(claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'PS256', typ: 'JWT' })}.${part(claims)}.c2lnbmF0dXJl`
}

export type FakeIdentity = {
  url: string
  requests: Request[]
  /** Requests to the token endpoint, as their forms. */
  asked(): URLSearchParams[]
  /** The tokens that were sent to the API's own operations. */
  bearers(): string[]
  /** A refresh token that works once. */
  refreshToken(realm?: string): string
  accessToken(realm?: string, more?: object): string
  /** Tokens that the API refuses as expired. */
  expired: Set<string>
  /** Realms whose tokens the API does not take: it has been set up anew. */
  untrusted: Set<string>
  /** What the token endpoint answers for a device, in turn; then tokens. */
  deviceAnswers: string[]
  revoked: string[]
}

/** Realms that nobody signs in to, in the words of Keycloak and of our own provider. */
const GONE: Readonly<Record<string, Answer>> = {
  nowhere: { status: 404, json: { error: 'Realm does not exist' } },
  'shut-ltd': { status: 403, json: { error: 'access_denied', error_description: 'Realm not enabled' } },
}

export type FakeIdentityOptions = {
  authUrl?: null
  /** In place of what it does itself. */
  answer?: (request: Request) => Answer | undefined
  /** How long access tokens live. */
  seconds?: number
  /** What the page of the provider sends the browser back with. */
  back?: (query: URLSearchParams) => Record<string, string>
}

/** A service and its identity provider in one small server. Any client's secret is `right-secret`. */
export async function fakeIdentity(t: Test, wish: FakeIdentityOptions = {}): Promise<FakeIdentity> {
  const refreshTokens = new Map<string, string>()
  const challenges = new Map<string, string>()
  const identity: FakeIdentity = {
    url: '',
    requests: [],
    asked: () => formsOf(identity.requests, '/token'),
    bearers: () =>
      identity.requests
        .filter(({ path }) => path.startsWith('/api/v1/') && path !== '/api/v1/service')
        .map(({ headers }) => (headers.authorization ?? '').replace('Bearer ', '')),
    refreshToken(realm = 'acme-ltd') {
      const token = `refresh-${randomUUID()}`
      refreshTokens.set(token, realm)
      return token
    },
    accessToken: (realm = 'acme-ltd', more = {}) =>
      fakeToken({
        iss: `${identity.url}/realms/${realm}`,
        sub: 'u-1',
        azp: `${realm}-cli`,
        jti: randomUUID(),
        exp: Math.floor(Date.now() / 1_000) + (wish.seconds ?? 900),
        ...more,
      }),
    expired: new Set(),
    untrusted: new Set(),
    deviceAnswers: [],
    revoked: [],
  }
  const { url, requests } = await fakeService(t, (request) => {
    const own = wish.answer?.(request)
    if (own !== undefined) return own
    const [, realm = '', endpoint = ''] =
      /^\/realms\/([^/]+)\/protocol\/openid-connect\/([^?]+)/.exec(request.path) ?? []
    if (endpoint !== '') return GONE[realm] ?? answerRealm(realm, endpoint, request)
    const described = /^\/realms\/([^/?]+)$/.exec(request.path)?.[1]
    return described === undefined ? answerApi(request) : (GONE[described] ?? { json: { realm: described } })
  })
  identity.url = url
  identity.requests = requests
  return identity

  function answerRealm(realm: string, endpoint: string, request: Request): Answer {
    const form = new URLSearchParams(request.body)
    if (endpoint === 'auth') return sendBack(new URL(request.path, url).searchParams)
    if (endpoint === 'auth/device') return { json: deviceStart() }
    if (endpoint === 'revoke') {
      identity.revoked.push(form.get('token') ?? '')
      return { text: '' }
    }
    return grant(realm, form)
  }

  function sendBack(query: URLSearchParams): Answer {
    const code = `code-${randomUUID()}`
    challenges.set(code, query.get('code_challenge') ?? '')
    const given = wish.back?.(query) ?? { code, state: query.get('state') ?? '' }
    const location = `${query.get('redirect_uri')}?${new URLSearchParams(given).toString()}`
    return { status: 302, headers: { location } }
  }

  function deviceStart(): object {
    const verification_uri = `${url}/realms/acme-ltd/device`
    return {
      device_code: 'device-secret',
      user_code: 'WDJB-MJHT',
      verification_uri,
      verification_uri_complete: `${verification_uri}?user_code=WDJB-MJHT`,
      expires_in: 600,
      interval: 0.01,
    }
  }

  function grant(realm: string, form: URLSearchParams): Answer {
    switch (form.get('grant_type')) {
      case 'client_credentials':
        if (form.get('client_secret') !== 'right-secret') return oauthError(401, 'invalid_client')
        return { json: tokens(realm, form.get('client_id') ?? '', false) }
      case 'authorization_code': {
        const challenge = createHash('sha256')
          .update(form.get('code_verifier') ?? '')
          .digest('base64url')
        const code = form.get('code') ?? ''
        if (challenges.get(code) !== challenge) return oauthError(400, 'invalid_grant')
        challenges.delete(code)
        return { json: tokens(realm, form.get('client_id') ?? '', true) }
      }
      case 'refresh_token': {
        const known = refreshTokens.delete(form.get('refresh_token') ?? '')
        return known ? { json: tokens(realm, form.get('client_id') ?? '', true) } : oauthError(400, 'invalid_grant')
      }
      default: {
        const next = identity.deviceAnswers.shift()
        return next === undefined ? { json: tokens(realm, form.get('client_id') ?? '', true) } : oauthError(400, next)
      }
    }
  }

  function tokens(realm: string, azp: string, withRefresh: boolean): object {
    return {
      access_token: identity.accessToken(realm, { azp }),
      token_type: 'Bearer',
      expires_in: wish.seconds ?? 900,
      ...(withRefresh ? { refresh_token: identity.refreshToken(realm) } : {}),
    }
  }

  function answerApi({ path, headers }: Request): Answer {
    if (path === '/api/v1/service')
      return {
        json: {
          name: 'svc',
          version: '0.1.0',
          mode: 'sandbox',
          identity: wish.authUrl === null ? 'none' : 'embedded',
          auth_url: wish.authUrl === null ? null : url,
          platform_realm: 'platform',
          customers_realm: 'customers',
        },
      }
    const token = (headers.authorization ?? '').replace('Bearer ', '')
    if (token === '' && wish.authUrl !== null) return refusal(401, 'UNAUTHENTICATED')
    if (identity.expired.has(token)) return refusal(401, 'TOKEN_EXPIRED')
    if (identity.untrusted.has(realmIn(token))) return refusal(401, 'UNAUTHENTICATED', { next: 'send a header' })
    if (path === '/api/v1/whoami') return { json: whoamiOf(token, headers) }
    return { json: { data: [], has_more: false, next_cursor: null } }
  }
}

function claimsIn(token: string): { iss?: string; azp?: string; sub?: string } {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString() || '{}')
}

function realmIn(token: string): string {
  return claimsIn(token).iss?.split('/').at(-1) ?? ''
}

function whoamiOf(token: string, headers: Request['headers']): object {
  const claims = claimsIn(token)
  const realm: string | null = claims.iss?.split('/').at(-1) ?? null
  const isPlatform = realm === 'platform' || headers['x-platform-user'] !== undefined
  return {
    kind: isPlatform ? 'platform' : 'merchant',
    realm,
    client_id: claims.azp ?? headers['x-merchant-client-id'] ?? null,
    subject: claims.sub ?? 'nobody',
    name: 'ada@acme.example',
    role: isPlatform ? 'OWNER' : 'ADMIN',
    permissions: ['read payments'],
    merchant: null,
    expires_at: null,
  }
}

function oauthError(status: number, error: string): Answer {
  return { status, json: { error, error_description: `about ${error}` } }
}

export function formsOf(requests: readonly Request[], end: string): URLSearchParams[] {
  return requests.filter(({ path }) => path.endsWith(end)).map(({ body }) => new URLSearchParams(body))
}

/** The svc.json of a running service, as `svc up` writes it, in `<cwd>/.svc`. */
export function writeState(cwd: string, url: string, more: Partial<ServiceState> = {}): string {
  const stateDir = join(cwd, '.svc')
  mkdirSync(stateDir, { recursive: true })
  writeServiceState(stateDir, {
    api_url: url,
    auth_url: url,
    demo_url: `${url}/dev/merchant-harness`,
    database_url: 'postgres://svc_owner:secret@127.0.0.1:5000/svc',
    state_dir: stateDir,
    pid: process.pid,
    merchant: {
      id: 'm',
      client_id: 'demo-server',
      client_secret: 'right-secret',
      realm: 'demo',
      webhook_secret: 's',
      email: 'ada@demo.example',
      password: 'p',
    },
    operator: {
      realm: 'platform',
      client_id: 'platform-key-aaaabbbb',
      client_secret: 'right-secret',
      role: 'OWNER',
      email: 'op@demo.example',
      password: 'p',
    },
    customer: null,
    ...more,
  })
  return stateDir
}
