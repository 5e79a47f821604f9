import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { networkOf } from '../lib/network-hash.ts'
import { makeTokenBuckets } from '../lib/token-buckets.ts'
import type { Operation } from '../wire/operation.ts'
import { requestLink, verifyLink } from '../wire/payer.ts'
import { createPayment } from '../wire/payments.ts'
import type { Credentials } from './credentials.ts'

const SECONDS_PER_HOUR = 3_600

/**
 * What payers' browsers behind one network may do in a second, and at once (decisions 66 and 171). A widget that waits for
 * its bank asks less than once in two seconds, so that an office of payers has room behind one address; a new payment
 * costs the service and the bank more than a look at one. A payer signs in now and then, and each try is work for the
 * tables: so few in a second that nobody else waits for it.
 */
const ALLOWANCES = {
  ask: { burst: 40, perHour: 20 * SECONDS_PER_HOUR },
  pay: { burst: 10, perHour: 2 * SECONDS_PER_HOUR },
  signIn: { burst: 10, perHour: 2 * SECONDS_PER_HOUR },
}

/** Operations by which payers sign in: they carry no credential, and are held to an allowance all the same. */
export const SIGN_INS: ReadonlySet<string> = new Set([requestLink.name, verifyLink.name])

/** @throws {DomainError} RATE_LIMITED */
export type BrowserLimits = (operation: Operation, credentials: Credentials) => void

/**
 * Holds browsers to their allowance, before what they bring is looked at: who guesses is slowed down as well. One for the
 * operations and the pages together, or a network would have it twice. In memory,
 * for each process of its own; off unless the configuration wants rate limits.
 * @param now seconds; the process's own clock when not given
 */
export function makeBrowserLimits({ config }: Pick<App, 'config'>, now?: () => number): BrowserLimits {
  if (!config.rateLimits) return () => undefined
  const ask = makeTokenBuckets(ALLOWANCES.ask, now)
  const pay = makeTokenBuckets(ALLOWANCES.pay, now)
  const signIn = makeTokenBuckets(ALLOWANCES.signIn, now)
  const bucketsOf = (name: string) => (name === createPayment.name ? pay : SIGN_INS.has(name) ? signIn : ask)
  return ({ name }, { clientAddress = '' }) => {
    const seconds = bucketsOf(name)(networkOf(clientAddress))
    if (seconds === 0) return
    throw new DomainError('RATE_LIMITED', 'too many requests come from this address', {
      retryAfterSeconds: seconds,
      next: 'wait a moment, and try again',
    })
  }
}
