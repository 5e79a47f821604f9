import { setTimeout as delay } from 'node:timers/promises'
import type { EmbeddedParts } from '../parts.ts'
import { verifyDummyPassword, verifyPassword } from './passwords.ts'
import { recordLogin, startLoginAttempt } from './login-attempts-sql.ts'

/**
 * `at`: whole seconds since 1970. `busy`: too many sign-ins are running. `rejected` has no reason, because the reason
 * would be shown to anyone.
 */
export type SignInResult =
  | { outcome: 'signed-in'; subject: string; at: number }
  | { outcome: 'rejected' }
  | { outcome: 'busy' }

type Attempt = { realm: string; email: string; password: string }

/** Concurrent sign-ins of one process. Hashing uses a few threads and 19 MiB each; more sign-ins would only queue. */
const CONCURRENT_MAX = 100

/** Longer than a rejection takes in any case, so that its duration does not reveal the reason. */
const REFUSAL_MS = 150

/**
 * Creates the check of address and password. An unknown address, a wrong password, a locked user and a disabled user
 * give the same result in the same time.
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

/** Counts the attempt before the password is checked. */
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

/** An address in its stored form; empty for text that can't be an address, which then never reaches the database. */
export function addressOf(text: string): string {
  const address = text.trim().toLowerCase()
  const isPossible = address.length <= ADDRESS_LENGTH_MAX && address.isWellFormed() && !address.includes('\u0000')
  return isPossible ? address : ''
}
