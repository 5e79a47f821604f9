import type { App } from '../app.ts'
import { isSignedWith, orderHash, readCheckoutText, splitCheckoutToken } from '../lib/checkout-token.ts'
import type { SplitToken } from '../lib/checkout-token.ts'
import { identifyMerchant } from '../merchants/identify.ts'
import type { MerchantClient } from '../merchants/record.ts'
import { getCheckoutOrigins } from '../merchants/checkout-origins.ts'
import { findSigningSecrets } from '../signing/open-secrets.ts'
import { CHECKOUT_TOKEN_LENGTH_MAX } from '../wire/checkout.ts'
import type { CheckoutToken } from '../wire/checkout.ts'
import type { VerifiedCheckout } from './record.ts'
import {
  tokenExpired,
  malformedToken,
  invalidSignature,
  originNotAllowed,
  unknownMerchant,
  invalidFields,
} from './errors.ts'
import { hasShopPage } from './shop-return.ts'
import { ownOrigins, parseToken } from './token-rules.ts'
import type { ParsedToken } from './token-rules.ts'

type VerifyApp = Pick<App, 'config' | 'publicUrl' | 'pool' | 'sealer' | 'log'>

/**
 * Verifies a checkout token that a browser sent (decisions 40 and 66). Whether its merchant is active is not checked here,
 * so that payments that were created before can still be read.
 * @throws {DomainError} CHECKOUT_TOKEN_INVALID, CHECKOUT_TOKEN_EXPIRED, CHECKOUT_ORIGIN_NOT_ALLOWED
 */
export async function verifyCheckoutToken(app: VerifyApp, text: string): Promise<VerifiedCheckout> {
  const split = text.length > CHECKOUT_TOKEN_LENGTH_MAX ? undefined : splitCheckoutToken(text)
  const json = split === undefined ? undefined : readCheckoutText(split.text)
  if (split === undefined || json === undefined) throw malformedToken()
  const parsed = parseToken(app, json)
  if (Array.isArray(parsed)) throw invalidFields(parsed)
  const client = await identifyMerchant(app, parsed.token.merchantClientId)
  if (client === null) throw unknownMerchant(app.config.mode)
  await checkSignature(app, split, client)
  checkOrderId(app, parsed.token)
  checkNotExpired(parsed.token)
  await checkOrigins(app, parsed, client)
  return {
    ...parsed,
    hash: orderHash({ text: split.text, jti: parsed.token.jti }),
    merchant: {
      id: client.merchant_id,
      clientId: client.client_id,
      tradingName: client.trading_name,
      isActive: client.is_active,
    },
  }
}

/** In live mode the merchant must have signed it; in the sandbox a signature is optional, but must be valid. */
async function checkSignature(app: VerifyApp, split: SplitToken, { merchant_id }: MerchantClient): Promise<void> {
  if (split.signature === undefined && app.config.mode === 'sandbox') return
  const { secret, previousSecret } = await findSigningSecrets(app, merchant_id)
  if (!isSignedWith(split, [secret, previousSecret])) throw invalidSignature(app.config.mode)
}

/** Tokens with equal fields would be one order, which is paid once: in live mode a `jti` must distinguish them. */
function checkOrderId({ config }: VerifyApp, { jti }: CheckoutToken): void {
  if (jti !== undefined || config.mode === 'sandbox') return
  throw invalidFields([{ path: 'jti', code: 'REQUIRED', message: 'is required: it distinguishes orders' }])
}

function checkNotExpired({ exp }: CheckoutToken): void {
  if (exp !== undefined && exp * 1_000 <= Date.now()) throw tokenExpired()
}

/** Only origins that the merchant has allowed may embed its checkout and be returned to (decision 26). */
async function checkOrigins(app: VerifyApp, parsed: ParsedToken, { merchant_id }: MerchantClient): Promise<void> {
  const named = await getCheckoutOrigins(app, merchant_id)
  // A payment link is for our own page, which no page embeds.
  const allowed = hasShopPage(app, parsed.token.returnUrl) ? named : [...named, ...ownOrigins(app)]
  if (named.length === 0 && app.config.mode === 'sandbox') return
  const origins: readonly [keyof CheckoutToken, string][] = [
    ['callbackOrigin', parsed.callbackOrigin],
    ['returnUrl', new URL(parsed.token.returnUrl).origin],
  ]
  const foreign = origins.filter(([, origin]) => !allowed.includes(origin))
  if (foreign.length > 0) throw originNotAllowed(foreign)
}
