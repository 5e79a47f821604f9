import { request } from 'undici'
import { z } from 'zod'
import { issuerOf } from '../../src/lib/realms.ts'
import { unreachable } from '../client.ts'
import { CliError } from '../errors.ts'
import { EXIT } from '../exit-codes.ts'
import type { Http } from './credentials.ts'

/** A realm of an identity provider. Its endpoints stand where Keycloak has them; nothing is discovered. */
export type Realm = { authUrl: string; realm: string }

/** What the endpoints are told. Secrets travel in the body alone. */
type Form = Readonly<Record<string, string>>

export const Tokens = z.looseObject({
  access_token: z.string().min(1),
  expires_in: z.number().positive(),
  refresh_token: z.string().min(1).optional(),
})
export type Tokens = z.infer<typeof Tokens>

export const DeviceStart = z.looseObject({
  device_code: z.string().min(1),
  user_code: z.string().min(1),
  verification_uri: z.url({ protocol: /^https?$/ }),
  verification_uri_complete: z.url({ protocol: /^https?$/ }).optional(),
  expires_in: z.number().positive(),
  interval: z.number().positive().default(5),
})
export type DeviceStart = z.infer<typeof DeviceStart>

/** What the command line asks for: a session that outlives the browser's. */
export const SCOPE = 'openid offline_access'

/** An error as OAuth writes it (RFC 6749, 5.2). */
const OAuthError = z.looseObject({ error: z.string().max(100), error_description: z.string().max(500).optional() })

export function endpointOf(realm: Realm, name: 'auth' | 'token' | 'revoke' | 'auth/device'): string {
  return `${issuerOf(realm.authUrl, realm.realm)}/protocol/openid-connect/${name}`
}

/**
 * Asks the token endpoint.
 * @throws {CliError} its code is the provider's own in capitals (INVALID_GRANT, AUTHORIZATION_PENDING); exit code 4
 *   where it refuses, 8 where the network fails or it asks to slow down
 */
export async function requestTokens(http: Http, realm: Realm, form: Form): Promise<Tokens> {
  return parsed(Tokens, realm, await post(http, realm, { endpoint: 'token', form }))
}

/** Begins a login on another device (RFC 8628). */
export async function startDevice(http: Http, realm: Realm, clientId: string): Promise<DeviceStart> {
  const form = { client_id: clientId, scope: SCOPE }
  return parsed(DeviceStart, realm, await post(http, realm, { endpoint: 'auth/device', form }))
}

/** Ends a refresh token, and with it the session (RFC 7009). */
export async function revoke(
  http: Http,
  realm: Realm,
  token: { clientId: string; refreshToken: string },
): Promise<void> {
  const form = { client_id: token.clientId, token: token.refreshToken, token_type_hint: 'refresh_token' }
  await post(http, realm, { endpoint: 'revoke', form })
}

type Posted = { endpoint: 'token' | 'revoke' | 'auth/device'; form: Form }

async function post(http: Http, realm: Realm, { endpoint, form }: Posted): Promise<unknown> {
  const { statusCode, text } = await send(http, realm, endpointOf(realm, endpoint), form)
  const json = parseJson(text)
  if (statusCode < 300) return json
  const { data } = OAuthError.safeParse(json)
  // A refusal without OAuth's words comes from a proxy, or from another program.
  if (data === undefined) throw notTheProvider(realm, statusCode)
  const { error, error_description: why } = data
  const code = error.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')
  throw new CliError(code, `the identity provider of realm ${realm.realm} refuses: ${why ?? error}`, {
    exit: statusCode === 429 ? EXIT.network : statusCode >= 500 ? EXIT.failure : EXIT.signedOut,
    status: statusCode,
    retryable: statusCode === 429 || statusCode >= 500,
  })
}

async function send(http: Http, realm: Realm, url: string, form: Form): Promise<{ statusCode: number; text: string }> {
  try {
    const { statusCode, body } = await request(url, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
      dispatcher: http.dispatcher,
      signal: AbortSignal.timeout(http.timeoutMs),
    })
    return { statusCode, text: await body.text() }
  } catch (error) {
    throw unreachable({ apiUrl: realm.authUrl, timeoutMs: http.timeoutMs }, error)
  }
}

function notTheProvider({ authUrl, realm }: Realm, status: number): CliError {
  if (status === 404)
    return new CliError('UNKNOWN_REALM', `${authUrl} has no realm ${realm}`, {
      exit: EXIT.signedOut,
      status,
      hint: 'the slug of your company as registration told it, or --platform',
    })
  return new CliError('IDP_UNAVAILABLE', `${authUrl} answered ${status}, not as an identity provider does`, {
    exit: status === 429 || status === 502 || status === 503 ? EXIT.network : EXIT.failure,
    status,
    retryable: status === 429 || status >= 500,
    hint: 'svc status; is the address of the service right?',
  })
}

function parsed<T extends z.ZodType>(schema: T, realm: Realm, json: unknown): z.output<T> {
  const result = schema.safeParse(json)
  if (result.success) return result.data
  // Without its cause: what was answered may be tokens.
  throw new CliError('UNEXPECTED_REPLY', `${realm.authUrl} answered in a form that OAuth does not know`, {
    exit: EXIT.failure,
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
