import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import type { ErrorCode, FieldError } from '../lib/errors.ts'

/*
 * Error responses for checkout tokens. Payers read them, and shops that build their checkout, so they contain neither the
 * token's text nor the expected signature.
 */

const START_AGAIN = "go back to the shop and start again; the shop's server creates a new token"

export function malformedToken(): DomainError {
  return new DomainError(
    'CHECKOUT_TOKEN_INVALID',
    'the checkout token is not valid: expected base64 of a JSON object',
    {
      next: 'pass the token on exactly as the server created it; svc checkout token creates one to compare with',
    },
  )
}

export function invalidFields(errors: FieldError[]): DomainError {
  const details = errors.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ')
  return new DomainError('CHECKOUT_TOKEN_INVALID', `the checkout token is not valid: ${details}`, {
    errors,
    next: "fix it where the shop's server creates it; svc checkout token creates one to compare with",
  })
}

/** In live mode an unknown merchant and an invalid signature get the same error, so that client ids can't be probed. */
export function invalidSignature(mode: App['config']['mode']): DomainError {
  const problem = mode === 'live' ? 'it is not signed by its merchant' : "its signature is not its merchant's"
  return new DomainError('CHECKOUT_TOKEN_INVALID', `the checkout token is not valid: ${problem}`, {
    next: START_AGAIN,
  })
}

export function unknownMerchant(mode: App['config']['mode']): DomainError {
  if (mode === 'live') return invalidSignature(mode)
  return invalidFields([
    { path: 'merchantClientId', code: 'UNKNOWN_CLIENT', message: 'is not the client id of a merchant' },
  ])
}

export function tokenExpired(): DomainError {
  return new DomainError('CHECKOUT_TOKEN_EXPIRED', 'the checkout token has expired', { next: START_AGAIN })
}

/** @param foreign the token's fields whose origins are not allowed, with these origins */
export function originNotAllowed(foreign: readonly (readonly [string, string])[]): DomainError {
  const origins = [...new Set(foreign.map(([, origin]) => origin))]
  return new DomainError(
    'CHECKOUT_ORIGIN_NOT_ALLOWED',
    `the merchant has not allowed its checkout on ${origins.join(' and ')}`,
    {
      errors: foreign.map(([path, origin]) => ({
        path,
        code: 'ORIGIN_NOT_ALLOWED',
        message: `${origin} is not allowed`,
        value: origin,
      })),
      next: `if the page is yours, allow it: svc checkout origins add ${origins.join(' ')}`,
    },
  )
}

/** Errors that say why a shop can't be paid at all: payers get a general message, the code is for the merchant. */
const SHOP_UNAVAILABLE: ReadonlySet<ErrorCode> = new Set(['MERCHANT_NOT_APPROVED', 'MERCHANT_INACTIVE', 'PAYOUT_HELD'])

/** The error of a rejected payment, in words for its payer. */
export function errorForPayers(error: unknown): unknown {
  if (!(error instanceof DomainError) || !SHOP_UNAVAILABLE.has(error.code)) return error
  return shopUnavailable(error.code)
}

export function shopUnavailable(code: ErrorCode): DomainError {
  return new DomainError(code, "this shop can't take payments by bank at the moment", {
    next: 'choose another way to pay, or ask the shop',
  })
}
