import type { Bank } from '../src/wire/banks.ts'
import { randomId } from './api.ts'

/** Keys in the browser's storage (contract §Checkout token; decision 63). */
const PREFERENCE = 'service_bank_preference'
const SECRET = 'service_bank_preference_secret'

/** The bank used last in this browser; undefined if storage is blocked or contains invalid data. */
export function preferredBank(banks: readonly Bank[]): Bank | undefined {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(PREFERENCE) ?? 'null')
    if (typeof kept !== 'object' || kept === null || !('lastUsedBankId' in kept)) return undefined
    return banks.find(({ id }) => id === kept.lastUsedBankId)
  } catch {
    return undefined
  }
}

/** Stores a bank after a successful payment, so that only banks that have worked are offered. */
export async function rememberBank({ id }: Bank): Promise<void> {
  try {
    const payerFingerprint = await fingerprint()
    const kept = { lastUsedBankId: id, lastUsedTimestamp: new Date().toISOString(), payerFingerprint }
    localStorage.setItem(PREFERENCE, JSON.stringify(kept))
  } catch {
    // Storage is blocked, or the address has no TLS: the payer chooses a bank again next time.
  }
}

/** SHA-256 of a random value that is stored next to it. Neither leaves the browser. */
async function fingerprint(): Promise<string> {
  const secret = localStorage.getItem(SECRET) ?? randomId()
  localStorage.setItem(SECRET, secret)
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
