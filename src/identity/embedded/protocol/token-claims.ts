import { errors } from 'oidc-provider'
import type { AccessToken, ClientCredentials, JWTStructured, KoaContextWithOIDC } from 'oidc-provider'
import { claimsOf } from './accounts.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { RealmRecord } from '../record.ts'
import { findUserBySubject } from '../users/users-sql.ts'

type RealmContext = { parts: EmbeddedParts; realm: RealmRecord }
type IssuedToken = { ctx: KoaContextWithOIDC; token: AccessToken | ClientCredentials; jwt: JWTStructured }

/**
 * Makes an access token say what Keycloak's say: `azp`, `typ` and the realm's roles. Roles are read as the token is
 * made, so that a changed one holds from the next token on.
 */
export async function fillAccessToken(
  { parts, realm }: RealmContext,
  { ctx, token, jwt }: IssuedToken,
): Promise<undefined> {
  const claims = token.kind === 'AccessToken' ? await userClaims({ parts, realm }, jwt) : clientClaims(ctx)
  const { roles, ...rest } = claims
  jwt.header = { typ: 'JWT' }
  Object.assign(jwt.payload, rest, {
    azp: token.clientId,
    typ: 'Bearer',
    // The realm may have lost a role that a row still names.
    realm_access: { roles: roles.filter((role) => realm.roles.includes(role)) },
  })
  return undefined
}

type TokenClaims = { roles: readonly string[]; preferred_username: string; email?: string; name?: string }

async function userClaims({ parts, realm }: RealmContext, { payload }: JWTStructured): Promise<TokenClaims> {
  const user = await findUserBySubject(parts.pool, realm.slug, String(payload['sub']))
  if (user === null || !user.is_enabled) throw new errors.InvalidGrant('the account is not there any more')
  const { email, name, preferred_username } = claimsOf(user)
  return { roles: user.roles, email, preferred_username, ...(name === undefined ? {} : { name }) }
}

/** The library read the client with this request, roles and all. */
function clientClaims({ oidc: { client } }: KoaContextWithOIDC): TokenClaims {
  if (client === undefined) throw new errors.InvalidClient('the client is not there any more')
  const roles: unknown = client['svc_roles']
  return {
    roles: Array.isArray(roles) ? roles.map(String) : [],
    preferred_username: `service-account-${client.clientId}`,
  }
}
