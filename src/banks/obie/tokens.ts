import { z } from 'zod'
import { BankUnavailableError } from '../connector.ts'
import { jsonOf } from '../discovery.ts'
import type { BankProfile } from '../profiles.ts'
import type { Step } from './calls-sql.ts'
import type { Discovery } from './discovery.ts'
import type { BankHttp } from './http.ts'
import type { Signer } from './signing.ts'

const ASSERTION_SECONDS = 60
/** A token is not used in its last seconds. */
const END_MARGIN_MS = 30_000
const SECONDS_DEFAULT = 300

const TokenAnswer = z.object({
  access_token: z.string().min(1),
  expires_in: z.number().positive().default(SECONDS_DEFAULT),
  refresh_token: z.string().min(1).optional(),
})

export type PayerTokens = {
  accessToken: string
  /** Milliseconds since 1970. */
  endsAt: number
  refreshToken: string | undefined
  /** The bank did not take it, though it has not ended. */
  isRejected?: boolean
}

/** The bank knows no such code or token, or has used it up: asking again changes nothing. */
export class GrantRefusedError extends Error {
  override readonly name = 'GrantRefusedError'
}

export type Tokens = {
  /** A token of the client itself. @throws {BankUnavailableError} */
  ofClient(signal: AbortSignal): Promise<string>
  /** Drops a token of the client that the bank no longer takes. */
  forget(token: string): void
  /** @throws {GrantRefusedError} @throws {BankUnavailableError} */
  ofCode(grant: { code: string; verifier: string; state: string }, signal: AbortSignal): Promise<PayerTokens>
  /** @throws {GrantRefusedError} @throws {BankUnavailableError} */
  ofRefresh(grant: { refreshToken: string; state: string }, signal: AbortSignal): Promise<PayerTokens>
  /** The parameters that prove who the client is. @throws {BankUnavailableError} */
  clientParameters(signal: AbortSignal): Promise<Record<string, string>>
}

type Parts = {
  profile: BankProfile
  signer: Signer
  http: BankHttp
  discovery: Discovery
  clientId: () => string
  redirectUri: string
}

export function makeTokens({ profile, signer, http, discovery, clientId, redirectUri }: Parts): Tokens {
  let own: { token: string; until: number } | undefined

  async function clientParameters(signal: AbortSignal): Promise<Record<string, string>> {
    const id = clientId()
    if (profile.client.token_auth === 'tls_client_auth') return { client_id: id }
    const { token_endpoint } = await discovery.metadata(signal)
    const assertion = await signer.jwt({
      iss: id,
      sub: id,
      aud: profile.client.audience === 'issuer' ? profile.issuer : token_endpoint,
      exp: Math.floor(Date.now() / 1_000) + ASSERTION_SECONDS,
    })
    return {
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: assertion,
    }
  }

  async function ask(step: Step, grant: Record<string, string>, signal: AbortSignal, state?: string) {
    const { token_endpoint: url } = await discovery.metadata(signal)
    const body = new URLSearchParams({ ...grant, ...(await clientParameters(signal)) }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await http.send({ step, method: 'POST', url, headers, body, state }, signal)
    const read = answer.status === 200 ? TokenAnswer.safeParse(jsonOf(answer.body)) : undefined
    if (read?.success === true) {
      const { access_token: accessToken, expires_in: seconds, refresh_token: refreshToken } = read.data
      return { accessToken, refreshToken, endsAt: Date.now() + seconds * 1_000 }
    }
    const error = z.object({ error: z.string() }).safeParse(jsonOf(answer.body)).data?.error
    if (error === 'invalid_grant' && state !== undefined)
      throw new GrantRefusedError(`${profile.id} does not take the grant`)
    throw new BankUnavailableError(`${profile.id}, ${step}: refused (${answer.status})`)
  }

  return {
    clientParameters,
    ofClient: async (signal) => {
      if (own !== undefined && own.until > Date.now()) return own.token
      const grant = { grant_type: 'client_credentials', scope: 'payments' }
      const { accessToken, endsAt } = await ask('token', grant, signal)
      own = { token: accessToken, until: endsAt - END_MARGIN_MS }
      return accessToken
    },
    forget: (token) => {
      if (own?.token === token) own = undefined
    },
    ofCode: ({ code, verifier, state }, signal) => {
      const grant = {
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        ...(verifier === '' ? {} : { code_verifier: verifier }),
      }
      return ask('code exchange', grant, signal, state)
    },
    ofRefresh: ({ refreshToken, state }, signal) =>
      ask('token refresh', { grant_type: 'refresh_token', refresh_token: refreshToken }, signal, state),
  }
}

export function isUsable({ endsAt }: PayerTokens): boolean {
  return endsAt - END_MARGIN_MS > Date.now()
}
