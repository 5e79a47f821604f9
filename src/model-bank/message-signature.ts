import { FlattenedSign, createLocalJWKSet, decodeProtectedHeader, flattenedVerify } from 'jose'
import type { JSONWebKeySet } from 'jose'
import { BankError } from './bank-error.ts'
import { SIGNING_ALGORITHM } from './signing-keys.ts'
import type { SigningKey } from './signing-keys.ts'

const IAT = 'http://openbanking.org.uk/iat'
const ISS = 'http://openbanking.org.uk/iss'
const TAN = 'http://openbanking.org.uk/tan'
const TRUST_ANCHOR = 'openbanking.org.uk'
const CRITICAL = [IAT, ISS, TAN]
/** A signature older than a day cannot belong to a request whose idempotency key still counts. */
const AGE_SECONDS_MAX = 86_400
const SKEW_SECONDS = 30

/** The detached signature over exactly these bytes: header, two dots, signature (RFC 7515, appendix F). */
export async function signMessage(
  body: Buffer,
  signer: { key: SigningKey; issuer: string; b64: boolean },
): Promise<string> {
  const { key, issuer, b64 } = signer
  const header = {
    alg: SIGNING_ALGORITHM,
    kid: key.kid,
    typ: 'JOSE',
    cty: 'application/json',
    [IAT]: Math.floor(Date.now() / 1_000),
    [ISS]: issuer,
    [TAN]: TRUST_ANCHOR,
    crit: b64 ? CRITICAL : ['b64', ...CRITICAL],
    ...(b64 ? {} : { b64 }),
  }
  const jws = await new FlattenedSign(body).setProtectedHeader(header).sign(key.privateKey, { crit: UNDERSTOOD })
  return `${String(jws.protected)}..${jws.signature}`
}

const UNDERSTOOD = { [IAT]: true, [ISS]: true, [TAN]: true }

/**
 * Verifies a request's signature as strictly as the profile reads: every critical claim present and right, the key one
 * that the directory lists for the software, the bytes those that arrived.
 * @throws {BankError}
 */
export async function verifyMessage(
  body: Buffer,
  value: string | undefined,
  expected: { keys: JSONWebKeySet; issuer: string; b64: boolean },
): Promise<void> {
  if (value === undefined) throw new BankError('UK.OBIE.Signature.Missing', 'x-jws-signature is missing')
  const [header = '', payload, signature, ...rest] = value.split('.')
  if (payload !== '' || !signature || rest.length > 0) {
    throw new BankError('UK.OBIE.Signature.Malformed', 'x-jws-signature is not a detached JWS: header..signature')
  }
  checkClaims(headerOf(value), expected)
  try {
    const jws = { protected: header, payload: expected.b64 ? body.toString('base64url') : body, signature }
    await flattenedVerify(jws, createLocalJWKSet(expected.keys), { algorithms: [SIGNING_ALGORITHM], crit: UNDERSTOOD })
  } catch (cause) {
    throw new BankError('UK.OBIE.Signature.Invalid', 'the signature does not fit the body and the key', { cause })
  }
}

function headerOf(jws: string): Record<string, unknown> {
  try {
    return { ...decodeProtectedHeader(jws) }
  } catch (cause) {
    throw new BankError('UK.OBIE.Signature.Malformed', 'the header of x-jws-signature is not base64url JSON', { cause })
  }
}

function checkClaims(header: Record<string, unknown>, expected: { issuer: string; b64: boolean }): void {
  const isMissing = ['alg', 'kid', 'crit', ...CRITICAL].find((claim) => header[claim] === undefined)
  if (isMissing !== undefined) throw new BankError('UK.OBIE.Signature.MissingClaim', `${isMissing} is missing`)
  const critical: unknown[] = Array.isArray(header['crit']) ? header['crit'] : []
  const expectedCritical = expected.b64 ? CRITICAL : ['b64', ...CRITICAL]
  const iat = header[IAT]
  const now = Date.now() / 1_000
  const wrong = [
    header['alg'] !== SIGNING_ALGORITHM && 'alg',
    (critical.length !== expectedCritical.length || expectedCritical.some((claim) => !critical.includes(claim))) &&
      'crit',
    (expected.b64 ? 'b64' in header : header['b64'] !== false) && 'b64',
    (typeof iat !== 'number' || iat > now + SKEW_SECONDS || iat < now - AGE_SECONDS_MAX) && IAT,
    header[ISS] !== expected.issuer && ISS,
    header[TAN] !== TRUST_ANCHOR && TAN,
    'typ' in header && header['typ'] !== 'JOSE' && 'typ',
    'cty' in header && !['json', 'application/json'].includes(String(header['cty'])) && 'cty',
  ].find((claim) => claim !== false)
  if (wrong !== undefined)
    throw new BankError('UK.OBIE.Signature.InvalidClaim', `${wrong} is not as the profile demands`)
}
