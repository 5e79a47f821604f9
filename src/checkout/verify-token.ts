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
import { parseToken } from './token-rules.ts'
import type { ParsedToken } from './token-rules.ts'

type VerifyApp = Pick<App, 'config' | 'publicUrl' | 'pool' | 'sealer' | 'log'>

/**
 * Checks a checkout token as it came from a browser (decisions 40 and 66). Whether its merchant may work is not asked
 * here: what it made before can still be read.
 * @throws {DomainError} CHECKOUT_TOKEN_INVALID, CHECKOUT_TOKEN_EXPIRED, CHECKOUT_ORIGIN_NOT_ALLOWED
 */
export async function verifyCheckoutToken(app: VerifyApp, text: string): Promise<VerifiedCheckout> {
  const split = text.length > CHECKOUT_TOKEN_LENGTH_MAX ? undefined : splitCheckoutToken(text)
  const json = split === undefined ? undefined : readCheckoutText(split.text)
  if (split === undefined || json === undefined) throw malformedToken()
  const read = parseToken(app, json)
  if (Array.isArray(read)) throw invalidFields(read)
  const client = await identifyMerchant(app, read.token.merchantClientId)
  if (client === null) throw unknownMerchant(app.config.mode)
  await checkSignature(app, split, client)
  checkOrderId(app, read.token)
  checkNotExpired(read.token)
  await checkOrigins(app, read, client)
  return {
    ...read,
    hash: orderHash({ text: split.text, jti: read.token.jti }),
    merchant: {
      id: client.merchant_id,
      clientId: client.client_id,
      tradingName: client.trading_name,
      isActive: client.is_active,
    },
  }
}

/** Live, the merchant must have signed it; in the sandbox it may, and a signature that is there must be its own. */
async function checkSignature(app: VerifyApp, split: SplitToken, { merchant_id }: MerchantClient): Promise<void> {
  if (split.signature === undefined && app.config.mode === 'sandbox') return
  const { secret, previousSecret } = await findSigningSecrets(app, merchant_id)
  if (!isSignedWith(split, [secret, previousSecret])) throw invalidSignature(app.config.mode)
}

/** Two orders that say the same would be one: live, each must have a name of its own, or its payers block each other. */
function checkOrderId({ config }: VerifyApp, { jti }: CheckoutToken): void {
  if (jti !== undefined || config.mode === 'sandbox') return
  throw invalidFields([{ path: 'jti', code: 'REQUIRED', message: 'is required: it tells orders apart' }])
}

function checkNotExpired({ exp }: CheckoutToken): void {
  if (exp !== undefined && exp * 1_000 <= Date.now()) throw tokenExpired()
}

/** Only pages that the merchant has named may embed its checkout and be returned to (decision 26). */
async function checkOrigins(app: VerifyApp, read: ParsedToken, { merchant_id }: MerchantClient): Promise<void> {
  const allowed = await getCheckoutOrigins(app, merchant_id)
  if (allowed.length === 0 && app.config.mode === 'sandbox') return
  const asked: readonly [keyof CheckoutToken, string][] = [
    ['callbackOrigin', read.callbackOrigin],
    ['returnUrl', new URL(read.token.returnUrl).origin],
  ]
  const foreign = asked.filter(([, origin]) => !allowed.includes(origin))
  if (foreign.length > 0) throw originNotAllowed(foreign)
}
