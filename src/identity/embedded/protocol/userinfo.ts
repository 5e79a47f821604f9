import type { IncomingMessage, ServerResponse } from 'node:http'
import { createLocalJWKSet, errors, jwtVerify } from 'jose'
import { issuerOf } from '../../../lib/realms.ts'
import { claimsOf } from './accounts.ts'
import { readClient } from '../realms/clients.ts'
import { SIGNING_ALGORITHM, openSigningKeys, publicKeysOf } from '../realms/keys.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { RealmRecord } from '../record.ts'
import { sendProtocol } from './reply.ts'
import { findUserBySubject } from '../people/users-sql.ts'

/**
 * Tells who an access token is of. The library knows only tokens that it keeps, and ours are JWTs, so this is answered
 * here, as Keycloak answers it.
 */
export async function answerUserinfo(
  parts: EmbeddedParts,
  realm: RealmRecord,
  { req, res }: { req: IncomingMessage; res: ServerResponse },
): Promise<void> {
  const token = /^Bearer +([\w.~+/=-]+)$/i.exec(req.headers.authorization ?? '')?.[1]
  const claims = token === undefined ? null : await verified(parts, realm, token)
  if (claims === null) return refuse(res, 401, 'invalid_token')
  const origin = await readableBy(parts, realm, { origin: req.headers.origin, clientId: claims.azp })
  if (!claims.scopes.includes('openid')) return refuse(res, 403, 'insufficient_scope', origin)
  const user = await findUserBySubject(parts.pool, realm.slug, claims.sub)
  if (user === null || !user.is_enabled) return refuse(res, 401, 'invalid_token', origin)
  sendProtocol(res, 200, claimsOf(user), origin)
}

type Claims = { sub: string; azp: string; scopes: string[] }

async function verified(parts: EmbeddedParts, realm: RealmRecord, token: string): Promise<Claims | null> {
  try {
    const { payload } = await jwtVerify(token, createLocalJWKSet(publicKeysOf(openSigningKeys(parts, realm))), {
      issuer: issuerOf(parts.publicUrl, realm.slug),
      algorithms: [SIGNING_ALGORITHM],
      requiredClaims: ['exp', 'iat', 'sub', 'azp'],
      clockTolerance: 5,
    })
    if (payload['typ'] !== 'Bearer' || payload.sub === undefined) return null
    return { sub: payload.sub, azp: String(payload['azp']), scopes: String(payload['scope'] ?? '').split(' ') }
  } catch (error) {
    if (error instanceof errors.JOSEError) return null
    throw error
  }
}

/** The origin that may read the answer: one of the token's own client. */
async function readableBy(
  parts: EmbeddedParts,
  realm: RealmRecord,
  { origin, clientId }: { origin: string | undefined; clientId: string },
): Promise<Record<string, string>> {
  if (origin === undefined) return {}
  const client = await readClient(parts, realm.slug, clientId)
  const isAllowed = client?.web_origins.includes(origin) ?? false
  return { vary: 'Origin', ...(isAllowed ? { 'access-control-allow-origin': origin } : {}) }
}

function refuse(res: ServerResponse, status: number, error: string, headers: Record<string, string> = {}): void {
  sendProtocol(res, status, { error }, { ...headers, 'www-authenticate': `Bearer error="${error}"` })
}
