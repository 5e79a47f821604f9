import { createHash } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, errors, jwtVerify } from 'jose'
import type { CryptoKey, JWTPayload, ProtectedHeaderParameters } from 'jose'
import { z } from 'zod'
import { DomainError } from '../lib/errors.ts'
import { isSlug, issuerOf } from '../lib/realms.ts'
import { setBounded } from '../lib/cached-lookup.ts'
import { makeKeySets } from './key-sets.ts'
import type { IdentityProvider } from './provider.ts'

/** The content of a token whose signature has been verified. */
export type VerifiedToken = {
  /** The realm that issued it, and its key that signed it. */
  slug: string
  keyId: string
  /** The client it was issued to (`azp`), which is registered in this realm. */
  clientId: string
  subject: string
  /** The realm roles in the token, whether or not we know them. */
  roles: readonly string[]
  email: string | undefined
  /** The granted scopes (OAuth 2.0, `scope`). */
  scopes: readonly string[]
  /** Seconds since 1970. */
  expiresAt: number
  /** When the person signed in, in seconds since 1970, and how (lib/sign-in-levels.ts); undefined for programs. */
  signedInAt: number | undefined
  acr: string | undefined
  amr: readonly string[] | undefined
  /** The latest time that it can have been issued at, in milliseconds since 1970. */
  issuedAtMs: number
}

/** Decides whether a token that is not cached may cost a look-up and the check of a signature. */
export type TokenGate = {
  /** @param client its realm and id as the token names them, unverified. @throws to reject the token unread */
  enter(client: string): void
  /** Called for a token that is valid. */
  passed(client: string): void
}

const NO_GATE: TokenGate = { enter: () => undefined, passed: () => undefined }

export type Verifier = {
  /**
   * @throws {DomainError} UNAUTHENTICATED for any defect, always with the same message; TOKEN_EXPIRED for a genuine but
   *   expired token; IDP_UNAVAILABLE if the keys can't be fetched; what the gate throws
   */
  verify(token: string, gate?: TokenGate): Promise<VerifiedToken>
}

export type VerifierParts = {
  provider: Pick<IdentityProvider, 'authUrl' | 'keys'>
  /** Whether the realm has a client with this id. Checked before the provider is contacted. */
  knows(slug: string, clientId: string): Promise<boolean>
  /** Seconds since 1970 and monotonic milliseconds; replaced in tests. */
  clock?: { seconds(): number; monotonicMs(): number }
}

/** The claim of the embedded provider with the time of issue in milliseconds. Other providers have `iat` only. */
export const ISSUED_AT_MS = 'svc_iat_ms'

const ALGORITHM = 'PS256'
const TOKEN_BYTES_MAX = 8 * 1024
const CLOCK_TOLERANCE_SECONDS = 5
/** Access tokens live 900 seconds (contract §Authentication); one more minute allows for a provider's rounding. */
const LIFETIME_SECONDS_MAX = 960
/** Headers that contain a key or rules that we do not support: no token of ours has them. */
const FORBIDDEN_HEADERS = ['jku', 'x5u', 'jwk', 'x5c', 'crit', 'b64', 'zip']
const COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** Cache of verified tokens, because servers send the same token many times a second. */
const CACHED_TOKENS_MAX = 10_000
const CACHE_MS = 60_000

// Ids are used in SQL statements, which can't contain a NUL.
const Id = z
  .string()
  .min(1)
  .max(255)
  .refine((text) => !text.includes('\0'))
/** The claims of an access token. */
export const Claims = z.object({
  typ: z.literal('Bearer'),
  azp: Id,
  sub: Id,
  iat: z.number(),
  exp: z.number(),
  realm_access: z.object({ roles: z.array(z.string()) }).optional(),
  email: z.string().optional(),
  scope: z.string().optional(),
  auth_time: z.number().optional(),
  acr: z.string().optional(),
  amr: z.array(z.string()).optional(),
  [ISSUED_AT_MS]: z.number().optional(),
})
export type Claims = z.infer<typeof Claims>

/**
 * Verifies access tokens of all realms. The order matters (decision 43): the unverified claims must name a realm and a
 * client that we know before a key is fetched, and keys are only fetched from the configured provider.
 */
export function makeVerifier({ provider, knows, clock = systemClock }: VerifierParts): Verifier {
  const keySets = makeKeySets({ fetch: (slug) => provider.keys(slug), now: () => clock.monotonicMs() })
  const cache = new Map<string, Checked & { until: number }>()

  async function check(token: string, gate: TokenGate): Promise<Checked> {
    const { header, slug, clientId } = readUntrusted(token, provider.authUrl)
    gate.enter(`${slug} ${clientId}`)
    if (!(await knows(slug, clientId))) throw invalidToken()
    const key = await keySets.keyOf(slug, header)
    if (key === null) throw invalidToken()
    const { payload, isExpired } = await verifySignature(token, key, {
      issuer: issuerOf(provider.authUrl ?? '', slug),
      seconds: clock.seconds(),
    })
    const claims = Claims.safeParse(payload)
    if (!claims.success || claims.data.exp - claims.data.iat > LIFETIME_SECONDS_MAX) throw invalidToken()
    if (!isExpired) gate.passed(`${slug} ${clientId}`)
    return { verified: verifiedOf(slug, header.kid ?? '', claims.data), isExpired }
  }

  /** What a check has found, unless it has to be checked again. An expired token is kept too: it can be sent without end. */
  function cached(hash: string): Checked | undefined {
    const found = cache.get(hash)
    if (found === undefined || found.until <= clock.monotonicMs()) return undefined
    const { verified, isExpired } = found
    const seconds = clock.seconds()
    const stillHolds = isExpired
      ? verified.expiresAt + CLOCK_TOLERANCE_SECONDS <= seconds
      : verified.expiresAt > seconds
    return stillHolds ? found : undefined
  }

  return {
    verify: async (token, gate = NO_GATE) => {
      if (token.length > TOKEN_BYTES_MAX || !COMPACT.test(token)) throw invalidToken()
      const hash = createHash('sha256').update(token).digest('base64')
      const known = cached(hash)
      const checked = known ?? (await check(token, gate))
      if (known === undefined)
        setBounded(cache, hash, { ...checked, until: clock.monotonicMs() + CACHE_MS }, CACHED_TOKENS_MAX)
      if (!checked.isExpired) return checked.verified
      throw tokenExpired()
    },
  }
}

/** A genuine token, which may have expired. */
type Checked = { verified: VerifiedToken; isExpired: boolean }

const systemClock = { seconds: () => Date.now() / 1000, monotonicMs: () => performance.now() }

export function tokenExpired(): DomainError {
  return new DomainError('TOKEN_EXPIRED', 'the access token has expired', { next: 'get a new one and repeat' })
}

/** The error for every invalid token. It does not reveal what is wrong. */
export function invalidToken(): DomainError {
  return new DomainError('UNAUTHENTICATED', 'the access token is not valid', {
    next: "get a new one from your realm's token endpoint (its address is in GET /api/v1/service)",
  })
}

/** Reads the unverified header and claims, and rejects impossible ones. */
function readUntrusted(
  token: string,
  authUrl: string | null,
): { header: ProtectedHeaderParameters; slug: string; clientId: string } {
  const { header, payload } = decode(token)
  const hasBadHeader = FORBIDDEN_HEADERS.some((name) => Object.hasOwn(header, name))
  if (header.alg !== ALGORITHM || typeof header.kid !== 'string' || hasBadHeader) throw invalidToken()
  const slug = authUrl === null ? undefined : slugOfIssuer(authUrl, payload.iss)
  const clientId = Id.safeParse(payload['azp'])
  if (slug === undefined || !clientId.success) throw invalidToken()
  return { header, slug, clientId: clientId.data }
}

function decode(token: string): { header: ProtectedHeaderParameters; payload: JWTPayload } {
  try {
    return { header: decodeProtectedHeader(token), payload: decodeJwt(token) }
  } catch {
    throw invalidToken()
  }
}

/** The realm of an issuer, which must be exactly in our own form: no other case, port, slash or user. */
function slugOfIssuer(authUrl: string, issuer: unknown): string | undefined {
  const prefix = issuerOf(authUrl, '')
  if (typeof issuer !== 'string' || !issuer.startsWith(prefix)) return undefined
  const slug = issuer.slice(prefix.length)
  return isSlug(slug) ? slug : undefined
}

/** Verifies signature, issuer and times. An expired token is returned with `isExpired`. */
async function verifySignature(
  token: string,
  key: CryptoKey,
  { issuer, seconds }: { issuer: string; seconds: number },
): Promise<{ payload: JWTPayload; isExpired: boolean }> {
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [ALGORITHM],
      issuer,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      // This also rejects tokens issued in the future.
      maxTokenAge: LIFETIME_SECONDS_MAX,
      requiredClaims: ['exp', 'iat', 'sub', 'azp', 'iss'],
      currentDate: new Date(seconds * 1000),
    })
    return { payload, isExpired: false }
  } catch (error) {
    // Expiry is checked last, so everything else is valid.
    if (error instanceof errors.JWTExpired) return { payload: error.payload, isExpired: true }
    if (error instanceof errors.JOSEError) throw invalidToken()
    throw error
  }
}

function verifiedOf(slug: string, keyId: string, claims: Claims): VerifiedToken {
  return {
    slug,
    keyId,
    clientId: claims.azp,
    subject: claims.sub,
    roles: claims.realm_access?.roles ?? [],
    email: claims.email,
    scopes: claims.scope?.split(' ') ?? [],
    expiresAt: claims.exp,
    signedInAt: claims.auth_time,
    acr: claims.acr,
    amr: claims.amr,
    issuedAtMs: issuedAtMsOf(claims),
  }
}

/** The latest time that a token can have been issued at, in milliseconds since 1970. */
export function issuedAtMsOf(claims: Claims): number {
  return claims[ISSUED_AT_MS] ?? claims.iat * 1_000 + 999
}
