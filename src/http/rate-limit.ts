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
 * Rates for payers' browsers of one network (decisions 32 and 66). A widget that waits for its bank sends less than one
 * request in two seconds, so an office of payers fits behind one address. A new payment costs the service and the bank
 * more than reading one. Payers sign in rarely, and each attempt writes to the database.
 */
const RATES = {
  read: { burst: 40, perHour: 20 * SECONDS_PER_HOUR },
  pay: { burst: 10, perHour: 2 * SECONDS_PER_HOUR },
  signIn: { burst: 10, perHour: 2 * SECONDS_PER_HOUR },
}

/** Operations that sign payers in. They need no credential, and are rate limited as well. */
export const SIGN_INS: ReadonlySet<string> = new Set([requestLink.name, verifyLink.name])

/** @throws {DomainError} RATE_LIMITED */
export type BrowserLimits = (operation: Operation, credentials: Credentials) => void

/**
 * Limits the requests of browsers before their credentials are checked, so that guessing is limited as well. One instance
 * serves operations and pages, or a network would have each rate twice. In memory, for each process; off unless the
 * configuration enables rate limits.
 * @param now seconds; the process's own clock when not given
 */
export function makeBrowserLimits({ config }: Pick<App, 'config'>, now?: () => number): BrowserLimits {
  if (!config.rateLimits) return () => undefined
  const read = makeTokenBuckets(RATES.read, now)
  const pay = makeTokenBuckets(RATES.pay, now)
  const signIn = makeTokenBuckets(RATES.signIn, now)
  const bucketsOf = (name: string) => (name === createPayment.name ? pay : SIGN_INS.has(name) ? signIn : read)
  return ({ name }, { clientAddress = '' }) => {
    const seconds = bucketsOf(name)(networkOf(clientAddress))
    if (seconds === 0) return
    throw new DomainError('RATE_LIMITED', 'too many requests from this address', {
      retryAfterSeconds: seconds,
      next: 'wait a moment, then try again',
    })
  }
}
