import { errors } from 'oidc-provider'
import type { AccessToken, ClientCredentials, JWTStructured, KoaContextWithOIDC } from 'oidc-provider'
import { claimsOf } from './accounts.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { RealmRecord } from '../record.ts'
import { findUserBySubject } from '../users/users-sql.ts'
import { ISSUED_AT_MS } from '../../verifier.ts'

/** The key in a context's state of when its request began, in milliseconds since 1970. */
export const BEGAN_AT = 'svc_began_at'

type RealmContext = { parts: EmbeddedParts; realm: RealmRecord }
type IssuedToken = { ctx: KoaContextWithOIDC; token: AccessToken | ClientCredentials; jwt: JWTStructured }

/**
 * Adds the claims of Keycloak's access tokens: `azp`, `typ` and the realm's roles. Roles are read when the token is
 * issued, so a change applies from the next token on.
 */
export async function fillAccessToken(
  { parts, realm }: RealmContext,
  { ctx, token, jwt }: IssuedToken,
): Promise<undefined> {
  const claims =
    token.kind === 'AccessToken'
      ? { ...(await userClaims({ parts, realm }, jwt)), ...signInClaims(ctx) }
      : clientClaims(ctx)
  const { roles, ...rest } = claims
  jwt.header = { typ: 'JWT' }
  Object.assign(jwt.payload, rest, {
    azp: token.clientId,
    typ: 'Bearer',
    // `iat` counts seconds. From before the grant was read, so that one which ends meanwhile ends this token too.
    [ISSUED_AT_MS]: ctx.state[BEGAN_AT],
    // A row may still name a role that the realm no longer has.
    realm_access: { roles: roles.filter((role) => realm.roles.includes(role)) },
  })
  return undefined
}

type TokenClaims = { roles: readonly string[]; preferred_username: string; email?: string; name?: string }

async function userClaims({ parts, realm }: RealmContext, { payload }: JWTStructured): Promise<TokenClaims> {
  const user = await findUserBySubject(parts.pool, realm.slug, String(payload['sub']))
  if (user === null || !user.is_enabled) throw new errors.InvalidGrant('the account no longer exists')
  const { email, name, preferred_username } = claimsOf(user)
  return { roles: user.roles, email, preferred_username, ...(name === undefined ? {} : { name }) }
}

/** When and how the person signed in (RFC 9068, section 2.2.1): what the code or token says that this one comes from. */
function signInClaims({ oidc }: KoaContextWithOIDC): { auth_time?: number; acr?: string; amr?: string[] } {
  const { AuthorizationCode, RefreshToken, DeviceCode } = oidc.entities
  const { authTime, acr, amr } = AuthorizationCode ?? RefreshToken ?? DeviceCode ?? {}
  return {
    ...(authTime === undefined ? {} : { auth_time: authTime }),
    ...(acr === undefined ? {} : { acr }),
    ...(amr === undefined ? {} : { amr }),
  }
}

/** The library has read the client during this request, with its roles. */
function clientClaims({ oidc: { client } }: KoaContextWithOIDC): TokenClaims {
  if (client === undefined) throw new errors.InvalidClient('the client no longer exists')
  const roles: unknown = client['svc_roles']
  return {
    roles: Array.isArray(roles) ? roles.map(String) : [],
    preferred_username: `service-account-${client.clientId}`,
  }
}
