import { createCipheriv, createDecipheriv, randomBytes, createHash } from 'node:crypto'

/**
 * Secrets at rest: AES-256-GCM with a data key per value, itself wrapped by the master key. The sealed text is
 * `v1.<kid>.<wrapped data key>.<nonce>.<ciphertext>.<tag>`, and `context` (table, column, row, merchant) is
 * authenticated with it, so that a value copied to another row or column can't be opened.
 */
export type Sealer = {
  /** The id of the key that seals. It reveals nothing about the key. */
  kid: string
  /** The ids of the previous keys, which only open. */
  previousKids: readonly string[]
  seal(plain: string, context: SealContext): string
  /** @throws when the text was altered, belongs to another place, or was sealed under a key that this ring lacks */
  open(sealed: string, context: SealContext): string
  /** The id of the key that a sealed text names; undefined for other texts. */
  kidOf(sealed: string): string | undefined
}

/** The place of a sealed value. */
export type SealContext = { table: string; column: string; rowId: string; merchantId: string }

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32

/**
 * A ring of master keys: the first one seals, and each opens values sealed under it, so that a key can be replaced
 * while the service runs.
 * @param masterKey 32 bytes as base64 (config `SVC_ENCRYPTION_KEY`)
 * @param previous previous master keys, which only open (config `SVC_ENCRYPTION_KEY_PREVIOUS`)
 * @throws when a key is not 32 bytes long
 */
export function makeSealer(masterKey: string, previous: readonly string[] = []): Sealer {
  const key = bytesOf(masterKey)
  const kid = kidOfBytes(key)
  const ring = new Map(previous.map((text) => bytesOf(text)).map((bytes) => [kidOfBytes(bytes), bytes]))
  ring.delete(kid)
  const previousKids = [...ring.keys()]
  ring.set(kid, key)
  return {
    kid,
    previousKids,
    seal: (plain, context) => sealUnder({ key, kid }, plain, contextBytes(context)),
    open: (sealed, context) => {
      const parts = partsOf(sealed)
      if (parts === undefined) throw new Error('not a sealed value')
      const found = ring.get(parts.kid)
      if (found === undefined)
        throw new Error(`sealed under master key ${parts.kid}; the keys here are ${[kid, ...previousKids].join(', ')}`)
      return openUnder(found, parts, contextBytes(context))
    },
    kidOf: (sealed) => partsOf(sealed)?.kid,
  }
}

/**
 * The id of a master key, as written into every value sealed under it.
 * @throws when the key is not 32 bytes long
 */
export function kidOfKey(masterKey: string): string {
  return kidOfBytes(bytesOf(masterKey))
}

/** A new master key: 32 random bytes as base64. */
export function generateMasterKey(): string {
  return randomBytes(KEY_BYTES).toString('base64')
}

function bytesOf(masterKey: string): Buffer {
  const key = Buffer.from(masterKey, 'base64')
  if (key.length !== KEY_BYTES) throw new Error('the master key must be 32 bytes, as base64')
  return key
}

function kidOfBytes(key: Buffer): string {
  return createHash('sha256').update('svc master key id').update(key).digest('hex').slice(0, 8)
}

function sealUnder({ key, kid }: { key: Buffer; kid: string }, plain: string, aad: Buffer): string {
  const dataKey = randomBytes(KEY_BYTES)
  const wrapped = encrypt(key, dataKey, aad)
  const body = encrypt(dataKey, Buffer.from(plain, 'utf8'), aad)
  const parts = [Buffer.concat([wrapped.nonce, wrapped.bytes, wrapped.tag]), body.nonce, body.bytes, body.tag]
  return ['v1', kid, ...parts.map((part) => part.toString('base64url'))].join('.')
}

type Parts = { kid: string; wrapped: Buffer; body: Encrypted }

function partsOf(sealed: string): Parts | undefined {
  const [version, kid, ...rest] = sealed.split('.')
  const [wrapped, nonce, bytes, tag] = rest.map((part) => Buffer.from(part, 'base64url'))
  if (version !== 'v1' || !kid || !wrapped || !nonce || !bytes || !tag) return undefined
  return { kid, wrapped, body: { nonce, bytes, tag } }
}

function openUnder(key: Buffer, { wrapped, body }: Parts, aad: Buffer): string {
  const wrappedKey = {
    nonce: wrapped.subarray(0, NONCE_BYTES),
    bytes: wrapped.subarray(NONCE_BYTES, -TAG_BYTES),
    tag: wrapped.subarray(-TAG_BYTES),
  }
  const dataKey = decrypt(key, wrappedKey, aad)
  return decrypt(dataKey, body, aad).toString('utf8')
}

type Encrypted = { nonce: Buffer; bytes: Buffer; tag: Buffer }

function encrypt(key: Buffer, plain: Buffer, aad: Buffer): Encrypted {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(aad)
  const bytes = Buffer.concat([cipher.update(plain), cipher.final()])
  return { nonce, bytes, tag: cipher.getAuthTag() }
}

function decrypt(key: Buffer, { nonce, bytes, tag }: Encrypted, aad: Buffer): Buffer {
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(aad).setAuthTag(tag)
  return Buffer.concat([decipher.update(bytes), decipher.final()])
}

function contextBytes({ table, column, rowId, merchantId }: SealContext): Buffer {
  return Buffer.from([table, column, rowId, merchantId, 'v1'].join('|'), 'utf8')
}
