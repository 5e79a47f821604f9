import { createPublicKey, randomBytes } from 'node:crypto'
import { exportJWK, exportPKCS8, generateKeyPair, importPKCS8 } from 'jose'
import type { CryptoKey, JWK } from 'jose'

/** PS256 everywhere: FAPI 1.0 and the message signatures of the Read/Write profile allow it, and we need no other. */
export const SIGNING_ALGORITHM = 'PS256'

export type SigningKey = { kid: string; privateKey: CryptoKey; publicJwk: JWK; privateJwk: JWK; pem: string }

/** A key as it is written to a file. */
export type SavedKey = Pick<SigningKey, 'kid' | 'pem'>

export async function makeSigningKey(): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair(SIGNING_ALGORITHM, { extractable: true })
  return describe(randomBytes(20).toString('base64url'), privateKey)
}

export async function readSigningKey({ kid, pem }: SavedKey): Promise<SigningKey> {
  return describe(kid, await importPKCS8(pem, SIGNING_ALGORITHM, { extractable: true }))
}

async function describe(kid: string, privateKey: CryptoKey): Promise<SigningKey> {
  const pem = await exportPKCS8(privateKey)
  const about = { kid, alg: SIGNING_ALGORITHM, use: 'sig' }
  return {
    kid,
    privateKey,
    publicJwk: { ...(await exportJWK(createPublicKey(pem))), ...about },
    privateJwk: { ...(await exportJWK(privateKey)), ...about },
    pem,
  }
}

export function savedKeyOf({ kid, pem }: SigningKey): SavedKey {
  return { kid, pem }
}
