import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import type { CommonQueryMethods } from 'slonik'
import { hmacHex } from '../lib/hmac.ts'
import type { SealContext, Sealer } from '../lib/seal.ts'
import { insertLookupKey } from './lookup-keys-sql.ts'

/**
 * The keyed hash by which a sealed value is found again (decision 277). Without the key, which is sealed in the database,
 * the hash of a phone number or account number could be found by trying them all.
 * @param kind what the value is; each kind has its own hash of the same value
 */
export type LookupHash = (kind: LookupKind, value: string) => Promise<string>

export type LookupKind = 'EMAIL' | 'PHONE' | 'recipient' | 'payment request'

const KEY_BYTES = 32

export const LOOKUP_KEY_CONTEXT: SealContext = { table: 'lookup_keys', column: 'key', rowId: 'current', merchantId: '' }

/**
 * Reads the key once, at the first use, which the check of the master key makes before anything starts; the first process
 * of a database makes the key.
 */
export function makeLookupHash({ pool, sealer }: { pool: CommonQueryMethods; sealer: Sealer }): LookupHash {
  let reading: Promise<string> | undefined
  // slonik rejects the pool's connections inside a transaction, which this is not a part of.
  const outside = AsyncLocalStorage.snapshot()
  const readKey = async (): Promise<string> => {
    const fresh = sealer.seal(randomBytes(KEY_BYTES).toString('base64'), LOOKUP_KEY_CONTEXT)
    return sealer.open(await insertLookupKey(pool, fresh), LOOKUP_KEY_CONTEXT)
  }
  return async (kind, value) => {
    reading ??= outside(readKey).catch((error: unknown) => {
      reading = undefined
      throw error
    })
    return hmacHex(await reading, Buffer.from(`${kind}\n${value}`, 'utf8'))
  }
}
