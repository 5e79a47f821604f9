import { setTimeout as delay } from 'node:timers/promises'
import type { EmbeddedParts } from '../parts.ts'
import { verifyDummyPassword, verifyPassword } from './passwords.ts'
import { recordLogin, startLoginAttempt } from './action-tokens-sql.ts'

/** `at`: in whole seconds since 1970. `busy`: more guesses wait than can be looked at soon. `refused` says no more: why would be told to anyone. */
export type SignInResult =
  | { outcome: 'signed-in'; subject: string; at: number }
  | { outcome: 'rejected' }
  | { outcome: 'busy' }

type Attempt = { realm: string; email: string; password: string }

/** Guesses under way in one process: hashing uses a few threads and 19 MiB each, and the rest would only queue. */
const CONCURRENT_MAX = 100

/** Longer than a refusal takes in any case, so that its time does not tell the cases apart. */
const REFUSAL_MS = 150

/**
 * Makes the check of address and password. An unknown address, a wrong password, a locked and a disabled user are one
 * answer, in the same time.
 */
export function makeSignIn({ pool }: Pick<EmbeddedParts, 'pool'>): (attempt: Attempt) => Promise<SignInResult> {
  let runningCount = 0

  return async (attempt) => {
    if (runningCount >= CONCURRENT_MAX) return { outcome: 'busy' }
    runningCount += 1
    const refusedFrom = performance.now() + REFUSAL_MS
    try {
      const signedIn = await check(pool, attempt)
      if (signedIn !== null) return { outcome: 'signed-in', ...signedIn }
    } finally {
      runningCount -= 1
    }
    await delay(Math.max(0, refusedFrom - performance.now()))
    return { outcome: 'rejected' }
  }
}

/** The slot of the guess is taken before its password is looked at. */
async function check(
  pool: EmbeddedParts['pool'],
  { realm, email, password }: Attempt,
): Promise<{ subject: string; at: number } | null> {
  const guess = await startLoginAttempt(pool, realm, addressOf(email))
  const isRight =
    guess === null ? await verifyDummyPassword(password) : await verifyPassword(password, guess.password_hash)
  if (guess === null || !isRight) return null
  const at = await recordLogin(pool, guess)
  return at === null ? null : { subject: guess.subject, at }
}

const ADDRESS_LENGTH_MAX = 320

/** An address as it is kept. What can't be one is nobody's, and never reaches the database. */
export function addressOf(text: string): string {
  const address = text.trim().toLowerCase()
  const isPossible = address.length <= ADDRESS_LENGTH_MAX && address.isWellFormed() && !address.includes('\u0000')
  return isPossible ? address : ''
}
