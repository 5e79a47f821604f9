import { createHash, createPrivateKey } from 'node:crypto'
import { FlattenedSign, SignJWT, decodeProtectedHeader, flattenedVerify } from 'jose'
import type { FlattenedVerifyGetKey, JWTPayload } from 'jose'
import type { SoftwareStatement } from '../software-statement.ts'

/** The one algorithm of the profile (FAPI 1.0 Advanced, section 8.6): nothing else is made or believed. */
export const ALGORITHM = 'PS256'

const IAT = 'http://openbanking.org.uk/iat'
const ISS = 'http://openbanking.org.uk/iss'
const TAN = 'http://openbanking.org.uk/tan'
const CLAIMS = [IAT, ISS, TAN]
const UNDERSTOOD = { [IAT]: true, [ISS]: true, [TAN]: true }

/** Signs with the operator's key. The key itself never leaves this object. */
export type Signer = {
  /** A signed JWT; `iat` and `jti` are added. */
  jwt(claims: JWTPayload & { exp: number }): Promise<string>
  /** The value of x-jws-signature over exactly these bytes. */
  detached(body: Buffer, options: { b64Header: boolean }): Promise<string>
}

export function makeSigner(statement: SoftwareStatement): Signer {
  const key = createPrivateKey(statement.signing.key)
  const { kid } = statement.signing
  const issuer = `${statement.org_id}/${statement.software_id}`
  return {
    jwt: (claims) =>
      new SignJWT({ jti: crypto.randomUUID(), ...claims })
        .setProtectedHeader({ alg: ALGORITHM, kid, typ: 'JWT' })
        .setIssuedAt()
        .sign(key),
    detached: async (body, { b64Header }) => {
      const header = {
        alg: ALGORITHM,
        kid,
        typ: 'JOSE',
        cty: 'application/json',
        [IAT]: Math.floor(Date.now() / 1_000),
        [ISS]: issuer,
        [TAN]: 'openbanking.org.uk',
        crit: b64Header ? ['b64', ...CLAIMS] : CLAIMS,
        ...(b64Header ? { b64: false } : {}),
      }
      const jws = await new FlattenedSign(body).setProtectedHeader(header).sign(key, { crit: UNDERSTOOD })
      return `${String(jws.protected)}..${jws.signature}`
    },
  }
}

/** How far apart the clocks of a bank and ours may be. */
const SKEW_SECONDS = 60

/** What is wrong with a bank's signature over an answer; undefined for a good one. */
export async function problemOfSignature(
  body: Buffer,
  value: string | undefined,
  keys: FlattenedVerifyGetKey,
): Promise<string | undefined> {
  if (value === undefined) return 'it is missing'
  const [header = '', payload, signature, ...rest] = value.split('.')
  if (payload !== '' || !signature || rest.length > 0) return 'it is not a detached signature'
  try {
    const { b64, crit, [IAT]: iat } = decodeProtectedHeader(value) as Record<string, unknown>
    if (CLAIMS.some((claim) => !Array.isArray(crit) || !crit.includes(claim))) return 'its critical claims are missing'
    if (typeof iat !== 'number' || iat > Date.now() / 1_000 + SKEW_SECONDS) return 'its time lies in the future'
    const jws = { protected: header, payload: b64 === false ? body : body.toString('base64url'), signature }
    await flattenedVerify(jws, keys, { algorithms: [ALGORITHM], crit: UNDERSTOOD })
    return undefined
  } catch (error) {
    return `it does not fit (${error instanceof Error && 'code' in error ? String(error.code) : 'malformed'})`
  }
}

/** The left half of a SHA-256, as `c_hash` and `s_hash` have it (OpenID Connect Core, 3.3.2.11). */
export function halfHash(text: string): string {
  return createHash('sha256').update(text, 'ascii').digest().subarray(0, 16).toString('base64url')
}
