import type { Bank } from '../src/wire/banks.ts'
import { randomId } from './api.ts'

/** Under what names this browser remembers (contract §Checkout token; decision 63). */
const PREFERENCE = 'service_bank_preference'
const SECRET = 'service_bank_preference_secret'

/**
 * The bank that was used last from here. The payer's browser may refuse to remember, and anybody may have written
 * nonsense: then there is none.
 */
export function preferredBank(banks: readonly Bank[]): Bank | undefined {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(PREFERENCE) ?? 'null')
    if (typeof kept !== 'object' || kept === null || !('lastUsedBankId' in kept)) return undefined
    return banks.find(({ id }) => id === kept.lastUsedBankId)
  } catch {
    return undefined
  }
}

/** Remembers a bank that a payment has succeeded with, so that none is offered that never worked. */
export async function rememberBank({ id }: Bank): Promise<void> {
  try {
    const payerFingerprint = await fingerprint()
    const kept = { lastUsedBankId: id, lastUsedTimestamp: new Date().toISOString(), payerFingerprint }
    localStorage.setItem(PREFERENCE, JSON.stringify(kept))
  } catch {
    // A browser that keeps nothing, or an address without TLS: the payer chooses a bank the next time too.
  }
}

/** SHA-256 of a random value that stays beside it. Neither ever leaves this browser. */
async function fingerprint(): Promise<string> {
  const secret = localStorage.getItem(SECRET) ?? randomId()
  localStorage.setItem(SECRET, secret)
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
