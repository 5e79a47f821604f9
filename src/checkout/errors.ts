import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import type { ErrorCode, FieldError } from '../lib/errors.ts'

/*
 * What is told of tokens that are refused. Payers read it, and shops that build their checkout: neither the token's text
 * nor what it should have been signed with stands in it.
 */

const START_AGAIN = "go back to the shop and start again; the shop's server makes a new token"

export function malformedToken(): DomainError {
  return new DomainError('CHECKOUT_TOKEN_INVALID', 'the checkout token is not one: it is base64 of a JSON object', {
    next: 'hand on the token as the server made it; svc widget token makes one to compare with',
  })
}

export function invalidFields(errors: FieldError[]): DomainError {
  const told = errors.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ')
  return new DomainError('CHECKOUT_TOKEN_INVALID', `the checkout token is not valid: ${told}`, {
    errors,
    next: "mend it where the shop's server makes it; svc widget token makes one to compare with",
  })
}

/** Live, whether the merchant or the signature is wrong is one answer. */
export function invalidSignature(mode: App['config']['mode']): DomainError {
  const demand = mode === 'live' ? 'its merchant has not signed it' : "its signature is not its merchant's"
  return new DomainError('CHECKOUT_TOKEN_INVALID', `the checkout token is not valid: ${demand}`, {
    next: START_AGAIN,
  })
}

export function unknownMerchant(mode: App['config']['mode']): DomainError {
  if (mode === 'live') return invalidSignature(mode)
  return invalidFields([
    { path: 'merchantClientId', code: 'UNKNOWN_CLIENT', message: 'is no client of a merchant here' },
  ])
}

export function tokenExpired(): DomainError {
  return new DomainError('CHECKOUT_TOKEN_EXPIRED', 'the checkout token has ended', { next: START_AGAIN })
}

/** @param foreign the token's fields with their origins */
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
      })),
      next: `if the page is yours, allow it: svc origins add ${origins.join(' ')}`,
    },
  )
}

/** Why a shop can't be paid at all, in words for its payers; the merchant knows more by the code. */
const SHOP_UNAVAILABLE: ReadonlySet<ErrorCode> = new Set(['MERCHANT_NOT_APPROVED', 'MERCHANT_INACTIVE', 'PAYOUT_HELD'])

/** The refusal of a payment as its payer is told it. */
export function errorForPayers(error: unknown): unknown {
  if (!(error instanceof DomainError) || !SHOP_UNAVAILABLE.has(error.code)) return error
  return shopUnavailable(error.code)
}

export function shopUnavailable(code: ErrorCode): DomainError {
  return new DomainError(code, "this shop can't take payments by bank at the moment", {
    next: 'choose another way to pay, or ask the shop',
  })
}
