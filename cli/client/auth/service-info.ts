import { getService } from '../../../src/wire/service.ts'
import type { ServiceInfo } from '../../../src/wire/service.ts'
import { CliError } from '../../base/errors.ts'
import { call } from '../call.ts'
import type { Client } from '../call.ts'
import { noCredentials } from './credentials.ts'
import type { Http } from './credentials.ts'

/**
 * What a service says of itself to anyone: its mode, and where its identity provider is, without a slash at the end.
 * @throws {CliError} IDP_INSECURE as `refuseDowngrade`
 */
export async function discover(http: Http, apiUrl: string): Promise<ServiceInfo> {
  const client = { ...http, apiUrl, credentials: noCredentials(), close: () => Promise.resolve() }
  const { body } = await call(client, getService, {})
  refuseDowngrade(apiUrl, body.auth_url)
  return { ...body, auth_url: body.auth_url?.replace(/\/+$/, '') ?? null }
}

/**
 * Secrets go to the provider that the service names: from an https service never to an address without encryption.
 * @throws {CliError} IDP_INSECURE
 */
export function refuseDowngrade(apiUrl: string, authUrl: string | null): void {
  if (!apiUrl.startsWith('https:') || authUrl === null || authUrl.startsWith('https:')) return
  throw new CliError('IDP_INSECURE', `${apiUrl} names an identity provider without encryption: ${authUrl}`, {
    hint: 'this is an error of the service: report it to its operator, or set SVC_AUTH_URL to another address',
  })
}

export async function discoverProvider(http: Http, apiUrl: string): Promise<ServiceInfo & { auth_url: string }> {
  const { auth_url, ...info } = await discover(http, apiUrl)
  if (auth_url === null) throw noProvider(apiUrl)
  return { ...info, auth_url }
}

/** There is nothing to sign in to: names are enough there. */
export function noProvider(apiUrl: string): CliError {
  return new CliError('NO_IDENTITY_PROVIDER', `${apiUrl} runs without an identity provider: there are no tokens`, {
    hint: '--client-id <id> names the merchant to act for, SVC_PLATFORM_USER the operator, svc ob --customer <id> the customer',
  })
}

/** Whether the service says of itself that it is live: real money and real mail. */
export async function isLive(client: Client): Promise<boolean> {
  return (await call(client, getService, {})).body.mode === 'live'
}

/**
 * Whether remarks may speak of the sandbox. It is asked after a change was made, so that a question without an answer is
 * no failure: what is not known to be the sandbox is none.
 */
export async function isSandbox(client: Client): Promise<boolean> {
  return isLive(client).then(
    (live) => !live,
    () => false,
  )
}
