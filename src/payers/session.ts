import { SignJWT, errors, jwtVerify } from 'jose'
import type { JWTPayload } from 'jose'
import { z } from 'zod'
import type { App } from '../app.ts'
import { deriveKey } from '../lib/derive-key.ts'
import { DomainError } from '../lib/errors.ts'
import { withHash } from './contact.ts'
import type { Contact, PayerSessionRecord } from './record.ts'
import { findSessionEnd } from './sign-in-sql.ts'

/** How long a session lives (contract §Payer hub). */
const SESSION_SECONDS = 900

const ALGORITHM = 'HS256'
/** Issuer, audience and type of these tokens; no other token that the service signs has the same ones. */
const PARTY = 'svc payer hub'
const TYPE = 'payer-session+jwt'
const CLOCK_TOLERANCE_SECONDS = 5
const TOKEN_LENGTH_MAX = 4_096

const Claims = z.object({
  jti: z.uuid(),
  sub: z.string().min(1).max(254),
  contact_type: z.enum(['EMAIL', 'PHONE']),
  iat: z.int(),
  exp: z.int(),
})

/** Starts the session of a payer who has used a link that was sent to the contact. */
export async function startSession(
  app: Pick<App, 'config' | 'ids'>,
  { contact }: { contact: Contact },
): Promise<{ token: string; expiresInSeconds: number }> {
  const now = Math.floor(Date.now() / 1000)
  const token = await new SignJWT({ contact_type: contact.type })
    .setProtectedHeader({ alg: ALGORITHM, typ: TYPE })
    .setIssuer(PARTY)
    .setAudience(PARTY)
    .setSubject(contact.value)
    .setJti(app.ids.uuid())
    .setIssuedAt(now)
    .setExpirationTime(now + SESSION_SECONDS)
    .sign(keyOf(app.config.encryptionKey))
  return { token, expiresInSeconds: SESSION_SECONDS }
}

/**
 * Verifies a session token: issued by this service, not expired, and not signed out.
 * @throws {DomainError} TOKEN_EXPIRED for an expired token, UNAUTHENTICATED for every other problem, always the same
 */
export async function verifySession(
  app: Pick<App, 'config' | 'pool' | 'lookupHash'>,
  token: string,
): Promise<PayerSessionRecord> {
  if (token.length > TOKEN_LENGTH_MAX) throw invalidToken()
  const claims = Claims.safeParse(await verifyToken(app.config, token))
  if (!claims.success || claims.data.exp - claims.data.iat > SESSION_SECONDS) throw invalidToken()
  const { jti, sub, contact_type, iat, exp } = claims.data
  const session = {
    id: jti,
    contact: await withHash(app, { type: contact_type, value: sub }),
    expiresAt: new Date(exp * 1000).toISOString(),
  }
  const end = await findSessionEnd(app.pool, { ...session, issuedAt: issuedAt(jti, iat) })
  if (end.is_signed_out) throw invalidToken()
  if (end.is_over) throw sessionExpired()
  return session
}

/**
 * When a session began, to the millisecond where its id says so, as ids of version 7 do: the sandbox's clock may have
 * moved in the same second.
 */
function issuedAt(jti: string, iat: number): string {
  const ms = Number.parseInt(jti.replaceAll('-', '').slice(0, 12), 16)
  const isNear = ms >= iat * 1000 && ms < (iat + 2) * 1000
  return new Date(isNear ? ms : iat * 1000).toISOString()
}

function keyOf(masterKey: string): Buffer {
  return deriveKey(masterKey, 'payer session')
}

/** The verified claims, by the current master key or a previous one, so that sessions outlive a change of keys. */
async function verifyToken(
  { encryptionKey, encryptionKeysPrevious }: App['config'],
  token: string,
): Promise<JWTPayload> {
  for (const masterKey of [encryptionKey, ...encryptionKeysPrevious]) {
    const payload = await verifyWithKey(keyOf(masterKey), token)
    if (payload !== null) return payload
  }
  throw invalidToken()
}

/** Null where another key signed it. */
async function verifyWithKey(key: Uint8Array, token: string): Promise<JWTPayload | null> {
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [ALGORITHM],
      issuer: PARTY,
      audience: PARTY,
      typ: TYPE,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      // Also rejects tokens that were issued in the future.
      maxTokenAge: SESSION_SECONDS,
      requiredClaims: ['exp', 'iat', 'sub', 'jti'],
    })
    return payload
  } catch (error) {
    if (error instanceof errors.JWSSignatureVerificationFailed) return null
    // Expiry is verified last, so everything else is valid.
    if (error instanceof errors.JWTExpired) {
      throw sessionExpired()
    }
    if (error instanceof errors.JOSEError) throw invalidToken()
    throw error
  }
}

function sessionExpired(): DomainError {
  return new DomainError('TOKEN_EXPIRED', 'the session has expired', { next: 'ask for a new link' })
}

/** The same error for every invalid token, so that it reveals nothing. */
function invalidToken(): DomainError {
  return new DomainError('UNAUTHENTICATED', 'the session token is not valid', { next: 'ask for a new link' })
}
