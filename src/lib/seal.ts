import { createCipheriv, createDecipheriv, randomBytes, createHash } from 'node:crypto'

/**
 * Secrets at rest: AES-256-GCM with a data key per value, itself wrapped by the master key. The sealed text is
 * `v1.<kid>.<wrapped data key>.<nonce>.<ciphertext>.<tag>`, and `context` (table, column, row, merchant) is
 * authenticated with it, so that a value copied to another row or column does not open.
 */
export type Sealer = {
  seal(plain: string, context: SealContext): string
  /** @throws when the text was altered, belongs to another place, or was sealed under another master key */
  open(sealed: string, context: SealContext): string
}

/** Where a sealed value lives. */
export type SealContext = { table: string; column: string; rowId: string; merchantId: string }

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32

/**
 * @param masterKey 32 bytes as base64 (config `SVC_ENCRYPTION_KEY`)
 * @throws when the key is not 32 bytes long
 */
export function makeSealer(masterKey: string): Sealer {
  const key = Buffer.from(masterKey, 'base64')
  if (key.length !== KEY_BYTES) throw new Error('the master key must be 32 bytes, as base64')
  const kid = createHash('sha256').update('svc master key id').update(key).digest('hex').slice(0, 8)
  return {
    seal: (plain, context) => {
      const aad = contextBytes(context)
      const dataKey = randomBytes(KEY_BYTES)
      const wrapped = encrypt(key, dataKey, aad)
      const body = encrypt(dataKey, Buffer.from(plain, 'utf8'), aad)
      const parts = [Buffer.concat([wrapped.nonce, wrapped.bytes, wrapped.tag]), body.nonce, body.bytes, body.tag]
      return ['v1', kid, ...parts.map((part) => part.toString('base64url'))].join('.')
    },
    open: (sealed, context) => {
      const [version, sealedKid, ...rest] = sealed.split('.')
      const [wrapped, nonce, bytes, tag] = rest.map((part) => Buffer.from(part, 'base64url'))
      if (version !== 'v1' || !wrapped || !nonce || !bytes || !tag) throw new Error('not a sealed value')
      if (sealedKid !== kid) throw new Error(`sealed under master key ${sealedKid}, but the current one is ${kid}`)
      const aad = contextBytes(context)
      const wrappedKey = {
        nonce: wrapped.subarray(0, NONCE_BYTES),
        bytes: wrapped.subarray(NONCE_BYTES, -TAG_BYTES),
        tag: wrapped.subarray(-TAG_BYTES),
      }
      const dataKey = decrypt(key, wrappedKey, aad)
      return decrypt(dataKey, { nonce, bytes, tag }, aad).toString('utf8')
    },
  }
}

/** A fresh master key: 32 random bytes as base64. */
export function generateMasterKey(): string {
  return randomBytes(KEY_BYTES).toString('base64')
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
