import { z } from 'zod'
import type { CliError } from '../../base/errors.ts'
import { parsedJson } from '../../base/json.ts'
import type { Http } from './credentials.ts'
import { clientScope, requestTokens } from './oidc.ts'
import type { Tokens } from './oidc.ts'

/** A confidential client: a merchant's server or credential, or a service client of the platform. */
export type ServiceClient = { realm: string; clientId: string; clientSecret: string }

export type Token = {
  accessToken: string
  /** Milliseconds since 1970; null where the token does not say. */
  expiresAt: number | null
}

export type TokenSource = {
  readonly realm: string | undefined
  readonly clientId: string | undefined
  /** @throws {CliError} exit code 4 where there is none to be had, 8 where the network fails */
  token(http: Http): Promise<Token>
  /** Whether another token than the refused one can be had. */
  renew(http: Http, refused: string): Promise<boolean>
  /** Forgets the session that the refused token is of, and says so; absent where there is none to forget. */
  end?(refused: string): Promise<CliError>
}

const RENEW_BEFORE_MS = 30_000

/** Whether a token is still good for a request that begins now, and takes its time to arrive. */
export function isFresh({ expiresAt }: Token): boolean {
  return expiresAt === null || expiresAt - RENEW_BEFORE_MS > Date.now()
}

export function expiryOf({ expires_in: seconds }: Pick<Tokens, 'expires_in'>): number {
  return Date.now() + seconds * 1_000
}

/** A token that was given from outside, and that nothing renews. */
export function fixedSource(
  token: Token,
  owner: { realm: string | undefined; clientId: string | undefined },
): TokenSource {
  return { ...owner, token: async () => token, renew: async () => false }
}

/** client_credentials. Callers at the same moment share one request. */
export function clientCredentialsSource(authUrl: string, client: ServiceClient): TokenSource {
  let held: Token | undefined
  let underWay: Promise<Token> | undefined

  async function ask(http: Http): Promise<Token> {
    const tokens = await requestTokens(
      http,
      { authUrl, realm: client.realm },
      {
        grant_type: 'client_credentials',
        client_id: client.clientId,
        client_secret: client.clientSecret,
        ...clientScope(client.realm),
      },
    )
    held = { accessToken: tokens.access_token, expiresAt: expiryOf(tokens) }
    return held
  }

  function token(http: Http): Promise<Token> {
    if (held !== undefined && isFresh(held)) return Promise.resolve(held)
    underWay ??= ask(http).finally(() => (underWay = undefined))
    return underWay
  }

  return {
    realm: client.realm,
    clientId: client.clientId,
    token,
    async renew(http, refused) {
      if (held?.accessToken === refused) held = undefined
      return (await token(http)).accessToken !== refused
    },
  }
}

/** What a token says of itself. Read, never believed: only the service verifies signatures. */
const Claims = z.looseObject({
  iss: z.string().optional(),
  sub: z.string().optional(),
  azp: z.string().optional(),
  exp: z.number().optional(),
  email: z.string().optional(),
  scope: z.string().optional(),
})
type Claims = z.infer<typeof Claims>

export function claimsOf(token: string): Claims | undefined {
  const [, payload, signature, ...more] = token.split('.')
  if (payload === undefined || signature === undefined || more.length > 0) return undefined
  return Claims.safeParse(parsedJson(Buffer.from(payload, 'base64url').toString('utf8'))).data
}

export function realmOfIssuer(issuer: string | undefined): { authUrl: string; realm: string } | undefined {
  const match = /^(?<authUrl>https?:\/\/.+)\/realms\/(?<realm>[a-z0-9-]+)$/.exec(issuer ?? '')
  const { authUrl, realm } = match?.groups ?? {}
  return authUrl === undefined || realm === undefined ? undefined : { authUrl, realm }
}
