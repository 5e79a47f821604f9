import { randomBytes } from 'node:crypto'
import { exportJWK, exportPKCS8, generateKeyPair } from 'jose'
import type { CryptoKey, JWK } from 'jose'

/** PS256 everywhere: FAPI 1.0 and the message signatures of the Read/Write profile allow it, and we need no other. */
export const SIGNING_ALGORITHM = 'PS256'

export type SigningKey = { kid: string; privateKey: CryptoKey; publicJwk: JWK; privateJwk: JWK; pem: string }

export async function makeSigningKey(): Promise<SigningKey> {
  const kid = randomBytes(20).toString('base64url')
  const { privateKey, publicKey } = await generateKeyPair(SIGNING_ALGORITHM, { extractable: true })
  const about = { kid, alg: SIGNING_ALGORITHM, use: 'sig' }
  return {
    kid,
    privateKey,
    publicJwk: { ...(await exportJWK(publicKey)), ...about },
    privateJwk: { ...(await exportJWK(privateKey)), ...about },
    pem: await exportPKCS8(privateKey),
  }
}
