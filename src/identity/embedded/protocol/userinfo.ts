import type { IncomingMessage, ServerResponse } from 'node:http'
import { createLocalJWKSet, errors, jwtVerify } from 'jose'
import { issuerOf } from '../../../lib/realms.ts'
import { findTokenCutoff } from '../../token-cutoffs-sql.ts'
import { Claims, issuedAtMsOf } from '../../verifier.ts'
import { claimsOf } from './accounts.ts'
import { readClient } from '../realms/clients.ts'
import { SIGNING_ALGORITHM, openSigningKeys, publicKeysOf } from '../realms/keys.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { RealmRecord } from '../record.ts'
import { sendJson } from './send-json.ts'
import { findUserBySubject } from '../users/users-sql.ts'

/**
 * Returns the user of an access token. The library only knows tokens that it stores, and ours are JWTs, so the endpoint
 * is implemented here, with Keycloak's responses.
 */
export async function answerUserinfo(
  parts: EmbeddedParts,
  realm: RealmRecord,
  { req, res }: { req: IncomingMessage; res: ServerResponse },
): Promise<void> {
  const token = /^Bearer +([\w.~+/=-]+)$/i.exec(req.headers.authorization ?? '')?.[1]
  const claims = token === undefined ? null : await verifyAccessToken(parts, realm, token)
  if (claims === null) return sendBearerError(res, 401, 'invalid_token')
  const origin = await corsHeadersFor(parts, realm, { origin: req.headers.origin, clientId: claims.azp })
  if (!claims.scopes.includes('openid')) return sendBearerError(res, 403, 'insufficient_scope', origin)
  const user = await findUserBySubject(parts.pool, realm.slug, claims.sub)
  if (user === null || !user.is_enabled) return sendBearerError(res, 401, 'invalid_token', origin)
  sendJson(res, 200, claimsOf(user), origin)
}

type UserToken = { sub: string; azp: string; scopes: string[] }

/** Null for a token that is not valid, or whose sign-in, secret or key has ended since. */
async function verifyAccessToken(parts: EmbeddedParts, realm: RealmRecord, token: string): Promise<UserToken | null> {
  try {
    const { payload, protectedHeader } = await jwtVerify(
      token,
      createLocalJWKSet(publicKeysOf(openSigningKeys(parts, realm))),
      {
        issuer: issuerOf(parts.publicUrl, realm.slug),
        algorithms: [SIGNING_ALGORITHM],
        requiredClaims: ['exp', 'iat', 'sub', 'azp'],
        clockTolerance: 5,
      },
    )
    const claims = Claims.safeParse(payload)
    if (!claims.success) return null
    const { sub, azp, scope = '' } = claims.data
    const holder = { slug: realm.slug, keyId: protectedHeader.kid ?? '', clientId: azp, subject: sub }
    const cutoffMs = await findTokenCutoff(parts.pool, holder)
    if (cutoffMs !== null && issuedAtMsOf(claims.data) <= cutoffMs) return null
    return { sub, azp, scopes: scope.split(' ') }
  } catch (error) {
    if (error instanceof errors.JOSEError) return null
    throw error
  }
}

/** CORS headers: only the origins of the token's own client may read the response. */
async function corsHeadersFor(
  parts: EmbeddedParts,
  realm: RealmRecord,
  { origin, clientId }: { origin: string | undefined; clientId: string },
): Promise<Record<string, string>> {
  if (origin === undefined) return {}
  const client = await readClient(parts, realm.slug, clientId)
  const isAllowed = client?.web_origins.includes(origin) ?? false
  return { vary: 'Origin', ...(isAllowed ? { 'access-control-allow-origin': origin } : {}) }
}

function sendBearerError(
  res: ServerResponse,
  status: number,
  error: string,
  headers: Record<string, string> = {},
): void {
  sendJson(res, status, { error }, { ...headers, 'www-authenticate': `Bearer error="${error}"` })
}
