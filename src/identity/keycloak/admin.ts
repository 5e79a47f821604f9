import { z } from 'zod'
import { IdentityUnavailableError } from '../provider.ts'
import { makeHttp, describeConnectionFailure, mayHaveArrived } from './http.ts'
import type { Http, HttpResponse, HttpCall } from './http.ts'
import type { KeycloakSettings } from './settings.ts'

/** A call of the Admin REST API. `adminPath` builds its path. */
export type AdminCall = {
  /** The purpose, which completes "could not …" in error messages. */
  to: string
  method: HttpCall['method']
  path: string
  body?: unknown
  timeoutMs?: number
  /** Whether repeating is safe. Default: every method but POST. */
  mayRepeat?: boolean
  /** Statuses besides 2xx that are expected. */
  acceptedStatuses?: readonly number[]
}

export type Admin = {
  /** @throws {IdentityUnavailableError} for no response or an unexpected one */
  call(call: AdminCall): Promise<HttpResponse>
  /** Sends a GET and validates the response; null for 404. */
  read<Value>(call: Pick<AdminCall, 'to' | 'path'>, schema: z.ZodType<Value>): Promise<Value | null>
  /** Sends a GET without a token, such as for a realm's keys. @throws {IdentityUnavailableError} for no response */
  getWithoutToken(call: Pick<HttpCall, 'timeoutMs' | 'bytesMax'> & { to: string; path: string }): Promise<HttpResponse>
  /** Discards the token: it may lack the rights for realms created after it was issued. */
  renew(): void
}

const ANSWER_BYTES_MAX = 1024 * 1024
const CALL_TIMEOUT_MS = 5_000
/** How long before its expiry a token is renewed. Keycloak's admin tokens live 60 seconds. */
const EXPIRES_EARLY_MS = 10_000
const MESSAGE_LENGTH_MAX = 200

const TokenAnswer = z.object({ access_token: z.string().min(1), expires_in: z.number().positive() })
const ErrorAnswer = z.object({
  errorMessage: z.string().optional(),
  error_description: z.string().optional(),
  error: z.string().optional(),
})

/** Builds a path of the Admin REST API; the parts are encoded. */
export function adminPath(...parts: string[]): string {
  return ['/admin/realms', ...parts.map((part) => encodeURIComponent(part))].join('/')
}

/** A client of the Admin REST API. Its token is fetched when needed, once for concurrent callers. */
export function makeAdmin(settings: KeycloakSettings, http: Http = makeHttp()): Admin {
  const { authUrl, clientId, clientSecret } = settings
  let cached: { token: string; until: number } | undefined
  let pending: Promise<string> | undefined

  async function send(to: string, call: HttpCall): Promise<HttpResponse> {
    try {
      return await http(call)
    } catch (cause) {
      throw new IdentityUnavailableError(`the identity provider could not ${to}: ${describeConnectionFailure(cause)}`, {
        cause,
        mayHaveActed: !call.mayRepeat && mayHaveArrived(cause),
      })
    }
  }

  async function fetchToken(): Promise<string> {
    const to = 'give an admin token'
    const answer = await send(to, {
      method: 'POST',
      url: `${authUrl}/realms/master/protocol/openid-connect/token`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: clientId,
        client_secret: clientSecret,
      }).toString(),
      timeoutMs: CALL_TIMEOUT_MS,
      bytesMax: ANSWER_BYTES_MAX,
      mayRepeat: true,
    })
    if (answer.status !== 200) throw errorOf(to, answer, [clientSecret])
    const { access_token: token, expires_in } = parse(to, answer.text, TokenAnswer)
    cached = { token, until: performance.now() + expires_in * 1000 - EXPIRES_EARLY_MS }
    return token
  }

  function currentToken(): Promise<string> {
    if (cached !== undefined && cached.until > performance.now()) return Promise.resolve(cached.token)
    pending ??= fetchToken().finally(() => (pending = undefined))
    return pending
  }

  async function callWith(token: string, call: AdminCall): Promise<HttpResponse> {
    const hasBody = call.body !== undefined
    return send(call.to, {
      method: call.method,
      url: authUrl + call.path,
      headers: { authorization: `Bearer ${token}`, ...(hasBody ? { 'content-type': 'application/json' } : {}) },
      ...(hasBody ? { body: JSON.stringify(call.body) } : {}),
      timeoutMs: call.timeoutMs ?? CALL_TIMEOUT_MS,
      bytesMax: ANSWER_BYTES_MAX,
      mayRepeat: call.mayRepeat ?? call.method !== 'POST',
    })
  }

  async function call(request: AdminCall): Promise<HttpResponse> {
    let token = await currentToken()
    let answer = await callWith(token, request)
    // The token may have been revoked, or be older than the required right.
    if (answer.status === 401 || answer.status === 403) {
      if (cached?.token === token) cached = undefined
      token = await currentToken()
      answer = await callWith(token, request)
    }
    const isAnswer =
      (answer.status >= 200 && answer.status < 300) || request.acceptedStatuses?.includes(answer.status) === true
    if (!isAnswer) throw errorOf(request.to, answer, [token, clientSecret])
    return answer
  }

  return {
    call,
    read: async ({ to, path }, schema) => {
      const answer = await call({ to, method: 'GET', path, acceptedStatuses: [404] })
      return answer.status === 404 ? null : parse(to, answer.text, schema)
    },
    getWithoutToken: ({ to, path, timeoutMs, bytesMax }) =>
      send(to, { method: 'GET', url: authUrl + path, headers: {}, timeoutMs, bytesMax, mayRepeat: true }),
    renew: () => (cached = undefined),
  }
}

/** @throws {IdentityUnavailableError} if the response does not match the schema */
export function parse<Value>(to: string, text: string, schema: z.ZodType<Value>): Value {
  const parsed = schema.safeParse(jsonOf(text))
  if (parsed.success) return parsed.data
  throw new IdentityUnavailableError(`the identity provider could not ${to}: its response is not valid`)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Includes Keycloak's own message, shortened, on one line and without secrets. */
function errorOf(to: string, { status, text }: HttpResponse, secrets: string[]): IdentityUnavailableError {
  const { errorMessage, error_description, error } = ErrorAnswer.safeParse(jsonOf(text)).data ?? {}
  const redacted = secrets.reduce(
    (text, secret) => text.replaceAll(secret, '[redacted]'),
    errorMessage ?? error_description ?? error ?? '',
  )
  const message = redacted.replaceAll(/\s+/g, ' ').slice(0, MESSAGE_LENGTH_MAX)
  return new IdentityUnavailableError(
    `the identity provider could not ${to}: it responded with ${status}${message === '' ? '' : `, ${message}`}`,
  )
}
