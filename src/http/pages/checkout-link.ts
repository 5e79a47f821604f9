import type { App } from '../../app.ts'
import { verifyCheckoutToken } from '../../checkout/verify-token.ts'
import type { VerifiedCheckout } from '../../checkout/record.ts'
import { encodeCheckoutToken } from '../../lib/checkout-token.ts'
import { DomainError } from '../../lib/errors.ts'

/** A verified checkout, with its token. */
export type CheckoutLink = { token: string; opened: VerifiedCheckout }

/** Parameters that the page accepts instead of a token, only in the sandbox (contract §Development and test routes). */
const PARAMETERS = ['amount', 'currency', 'merchant', 'return_url'] as const
const PARAMETER_LENGTH_MAX = 2_048

/**
 * Verifies the checkout of an address or a form: by its token, or in the sandbox by the fields of one, from which each visit
 * creates a new unsigned token.
 * @throws {DomainError} as `verifyCheckoutToken` does
 */
export async function openCheckout(app: App, values: URLSearchParams): Promise<CheckoutLink> {
  const twice = ['token', ...PARAMETERS].find((name) => values.getAll(name).length > 1)
  if (twice !== undefined) throw new DomainError('CHECKOUT_TOKEN_INVALID', `the address has ${twice} more than once`)
  const token = values.get('token') ?? tokenOfParts(app, values)
  const opened = await verifyCheckoutToken(app, token).catch((error: unknown) => {
    throw values.has('token') ? error : inParameters(error)
  })
  return { token, opened }
}

function tokenOfParts(app: App, values: URLSearchParams): string {
  if (app.config.mode === 'live') {
    throw new DomainError('CHECKOUT_TOKEN_INVALID', 'the address has no checkout token', {
      next: "go back to the shop and start again; the shop's server makes the token and signs it",
    })
  }
  const missing = PARAMETERS.filter((name) => !values.get(name))
  if (missing.length > 0) {
    throw new DomainError('CHECKOUT_TOKEN_INVALID', `the address lacks ${missing.join(', ')}`, {
      next: 'open /checkout?amount=50.00&currency=GBP&merchant=<client id>&return_url=https://shop.example/basket',
    })
  }
  const tooLong = PARAMETERS.find((name) => (values.get(name)?.length ?? 0) > PARAMETER_LENGTH_MAX)
  if (tooLong !== undefined) throw new DomainError('CHECKOUT_TOKEN_INVALID', `${tooLong} in the address is too long`)
  const returnUrl = values.get('return_url') ?? ''
  return encodeCheckoutToken({
    amount: values.get('amount'),
    currency: values.get('currency'),
    // The page shows the trading name of the merchant instead.
    merchantName: 'Hosted checkout',
    apiUrl: `${app.publicUrl}/api/v1`,
    returnUrl,
    merchantClientId: values.get('merchant'),
    callbackOrigin: URL.canParse(returnUrl) ? new URL(returnUrl).origin : '',
    jti: app.ids.uuid(),
  })
}

const NAMES: Readonly<Record<string, string>> = { returnUrl: 'return_url', merchantClientId: 'merchant' }

/** The token's fields by their names in the address: errors about the token are reported for the original parameters. */
function inParameters(error: unknown): unknown {
  if (!(error instanceof DomainError) || error.errors === undefined) return error
  const errors = error.errors.filter(({ path }) => path !== 'callbackOrigin')
  if (errors.length === 0) return error
  const problems = errors.map(({ path, message }) => `${NAMES[path] ?? path} ${message}`).join('; ')
  return new DomainError(error.code, `the address is not valid: ${problems}`)
}
