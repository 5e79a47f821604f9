import { createHash, randomBytes } from 'node:crypto'
import { request } from 'undici'
import { z } from 'zod'
import { ACR } from '../../../src/lib/sign-in-levels.ts'
import { CUSTOMERS_REALM, PLATFORM_REALM, issuerOf } from '../../../src/lib/realms.ts'
import { CliError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { unreachable } from '../unreachable.ts'
import type { Http } from './credentials.ts'
import { parsedJson } from '../../base/json.ts'

/** A realm of an identity provider. Its endpoints stand where Keycloak has them; nothing is discovered. */
export type Realm = { authUrl: string; realm: string }

/** Form parameters. Secrets travel in the body alone. */
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

/** What a customer lets a program do: look at accounts, and pay (decision 9). */
const CUSTOMER_SCOPES = 'accounts payments'

/** What a person lets the command line do; but for a bank's customer, in a session that outlives the browser's. */
export function loginScope(realm: string): string {
  return realm === CUSTOMERS_REALM ? `openid ${CUSTOMER_SCOPES}` : 'openid offline_access'
}

/** What a client with a secret asks for: of most realms nothing, for its role says what it may do. */
export function clientScope(realm: string): { scope?: string } {
  return realm === CUSTOMERS_REALM ? { scope: CUSTOMER_SCOPES } : {}
}

/** An error as OAuth writes it (RFC 6749, 5.2). */
const OAuthError = z.looseObject({ error: z.string().max(100), error_description: z.string().max(500).optional() })
type OAuthError = z.infer<typeof OAuthError>

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

/** The PKCE challenge of a login, so that only the holder of the verifier can end it (RFC 7636). */
export function challengeOf(verifier: string): { code_challenge: string; code_challenge_method: 'S256' } {
  const code_challenge = createHash('sha256').update(verifier).digest('base64url')
  return { code_challenge, code_challenge_method: 'S256' }
}

/** What a login asks of the provider where its tokens must come from a new sign-in with a second factor. */
export function secondFactorOf(isRequired: boolean): Form {
  return isRequired ? { acr_values: ACR.secondFactor, max_age: '0' } : {}
}

/** Begins a login on another device (RFC 8628). Keycloak wants a challenge here too; others take no notice of it. */
export async function startDevice(
  http: Http,
  realm: Realm,
  { clientId, secondFactor }: { clientId: string; secondFactor: boolean },
): Promise<DeviceStart & { verifier: string }> {
  const verifier = randomBytes(32).toString('base64url')
  const form = {
    client_id: clientId,
    scope: loginScope(realm.realm),
    ...challengeOf(verifier),
    ...secondFactorOf(secondFactor),
  }
  return { ...parsed(DeviceStart, realm, await post(http, realm, { endpoint: 'auth/device', form })), verifier }
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
  const json = parsedJson(text)
  if (statusCode < 300) return json
  const { data } = OAuthError.safeParse(json)
  // A refusal without OAuth's words comes from a proxy, or from another program.
  if (data === undefined) throw notTheProvider(realm, statusCode)
  const { error, error_description: why } = data
  const known = realmRefusal(realm, statusCode, data) ?? clientRefusal(realm, statusCode, { error, form })
  if (known !== undefined) throw known
  const code = error.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')
  throw new CliError(code, `the identity provider of realm ${realm.realm} reports: ${why ?? error}`, {
    exit: statusCode === 429 ? EXIT.network : statusCode >= 500 ? EXIT.failure : EXIT.signedOut,
    status: statusCode,
    retryable: statusCode === 429 || statusCode >= 500,
  })
}

/** What is wrong with the realm itself, whatever was asked of it; Keycloak says it in the same words. */
function realmRefusal({ authUrl, realm }: Realm, status: number, said: OAuthError): CliError | undefined {
  if (status === 404)
    return new CliError('UNKNOWN_REALM', `realm not found: ${realm} at ${authUrl}`, {
      status,
      hint: 'svc login --realm <the slug of your company, as registration returned it>, or svc login --platform',
    })
  if (status !== 403 || !/realm not enabled/i.test(said.error_description ?? said.error)) return undefined
  return new CliError('REALM_DISABLED', `the merchant of realm ${realm} is disabled: it rejects sign-ins`, {
    status,
    hint: `ask an operator, who enables it with svc merchants enable ${realm}`,
  })
}

function clientRefusal(
  { realm }: Realm,
  status: number,
  { error, form }: { error: string; form: Form },
): CliError | undefined {
  if (error !== 'invalid_client' && error !== 'unauthorized_client') return undefined
  const { client_id: clientId = '', client_secret: secret } = form
  const isMerchants = realm !== PLATFORM_REALM && realm !== CUSTOMERS_REALM
  const [message, hint] =
    secret === undefined
      ? [
          `realm ${realm} has no client ${clientId} that signs people in`,
          'is the realm the one of your company? svc profile list',
        ]
      : [
          `the secret of ${clientId} is wrong, or the client has been revoked`,
          `check SVC_CLIENT_ID and SVC_CLIENT_SECRET, or the profile${isMerchants ? `\na new secret: svc credentials rotate ${clientId}` : ''}`,
        ]
  return new CliError('INVALID_CLIENT', message, { status, hint })
}

/**
 * Asks whether a realm is there, before the user is sent to its pages. Without an answer the login goes ahead, and reports what is wrong.
 * @throws {CliError} UNKNOWN_REALM, REALM_DISABLED
 */
export async function checkRealm(http: Http, realm: Realm): Promise<void> {
  const signal = AbortSignal.timeout(http.timeoutMs)
  const answer = await request(issuerOf(realm.authUrl, realm.realm), {
    headers: { accept: 'application/json' },
    dispatcher: http.dispatcher,
    signal,
  }).catch(() => undefined)
  if (answer === undefined || answer.statusCode < 400) return answer?.body.dump()
  const { data } = OAuthError.safeParse(parsedJson(await answer.body.text().catch(() => '')))
  const refused = data && realmRefusal(realm, answer.statusCode, data)
  if (refused !== undefined) throw refused
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

function notTheProvider({ authUrl }: Realm, status: number): CliError {
  return new CliError('IDP_UNAVAILABLE', `${authUrl} answered ${status}, not as an identity provider does`, {
    exit: status === 429 || status === 502 || status === 503 ? EXIT.network : EXIT.failure,
    status,
    retryable: status === 429 || status >= 500,
    hint: 'svc status\nis the address of the service right?',
  })
}

function parsed<T extends z.ZodType>(schema: T, realm: Realm, json: unknown): z.output<T> {
  const result = schema.safeParse(json)
  if (result.success) return result.data
  // Without its cause: what was answered may be tokens.
  throw new CliError('UNEXPECTED_REPLY', `${realm.authUrl} answered in a form that OAuth does not know`)
}
