import { generateKeyPair, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { calculateJwkThumbprint } from 'jose'
import type { JSONWebKeySet } from 'jose'
import { z } from 'zod'
import type { SealContext } from '../../../lib/seal.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { RealmRecord } from '../record.ts'

const KEY_BITS = 2048
const COOKIE_KEY_BYTES = 32

/** The only signing algorithm (decision 43). */
export const SIGNING_ALGORITHM = 'PS256'

const SigningKey = z.object({
  kty: z.literal('RSA'),
  kid: z.string(),
  alg: z.literal(SIGNING_ALGORITHM),
  use: z.literal('sig'),
  n: z.string(),
  e: z.string(),
  d: z.string(),
  p: z.string(),
  q: z.string(),
  dp: z.string(),
  dq: z.string(),
  qi: z.string(),
})
/** A private key as a JWK. */
export type SigningKey = z.infer<typeof SigningKey>

const makeKeyPair = promisify(generateKeyPair)

/** Generates a key, named by its thumbprint. It runs on its own thread because it takes about 40 ms of CPU. */
export async function generateSigningKey(): Promise<SigningKey> {
  const { privateKey } = await makeKeyPair('rsa', { modulusLength: KEY_BITS })
  const jwk = privateKey.export({ format: 'jwk' })
  const kid = await calculateJwkThumbprint({ kty: 'RSA', n: jwk.n ?? '', e: jwk.e ?? '' })
  return SigningKey.parse({ ...jwk, kid, alg: SIGNING_ALGORITHM, use: 'sig' })
}

/** Generates the keys that sign a realm's cookies. */
export function generateCookieKeys(): string[] {
  return [randomBytes(COOKIE_KEY_BYTES).toString('base64url')]
}

/** The context that a realm's keys are sealed to. */
export function realmKeysContext(slug: string, column: 'signing_keys' | 'cookie_keys'): SealContext {
  return { table: 'idp.realms', column, rowId: slug, merchantId: '' }
}

type SealerPart = Pick<EmbeddedParts, 'sealer'>

/** @param keys the first one signs */
export function sealSigningKeys({ sealer }: SealerPart, slug: string, keys: readonly SigningKey[]): string {
  return sealer.seal(JSON.stringify(keys), realmKeysContext(slug, 'signing_keys'))
}

export function openSigningKeys({ sealer }: SealerPart, { slug, signing_keys }: RealmRecord): SigningKey[] {
  const text = sealer.open(signing_keys, realmKeysContext(slug, 'signing_keys'))
  return z.array(SigningKey).min(1).parse(JSON.parse(text))
}

export function sealCookieKeys({ sealer }: SealerPart, slug: string, keys: readonly string[]): string {
  return sealer.seal(JSON.stringify(keys), realmKeysContext(slug, 'cookie_keys'))
}

export function openCookieKeys({ sealer }: SealerPart, { slug, cookie_keys }: RealmRecord): string[] {
  const text = sealer.open(cookie_keys, realmKeysContext(slug, 'cookie_keys'))
  return z.array(z.string()).min(1).parse(JSON.parse(text))
}

/** The public keys. Each member is copied by name, so that nothing private is published. */
export function publicKeysOf(keys: readonly SigningKey[]): JSONWebKeySet {
  return { keys: keys.map(({ kty, kid, alg, use, n, e }) => ({ kty, kid, alg, use, n, e })) }
}
