import type { App } from '../app.ts'
import { isSignedWith, orderHash, readCheckoutText, splitCheckoutToken } from '../lib/checkout-token.ts'
import type { SplitToken } from '../lib/checkout-token.ts'
import { identifyMerchant } from '../merchants/identify.ts'
import type { MerchantClient } from '../merchants/record.ts'
import { getOrigins } from '../merchants/checkout-origins.ts'
import { findSigningSecrets } from '../signing/open-secrets.ts'
import { CHECKOUT_TOKEN_LENGTH_MAX } from '../wire/checkout.ts'
import type { CheckoutToken } from '../wire/checkout.ts'
import type { OpenCheckout } from './record.ts'
import { expired, notAToken, notSigned, originNotAllowed, unknownMerchant, wrongFields } from './errors.ts'
import { readToken } from './token-rules.ts'
import type { ReadToken } from './token-rules.ts'

type OpenApp = Pick<App, 'config' | 'publicUrl' | 'pool' | 'sealer' | 'log'>

/**
 * Checks a checkout token as it came from a browser (decisions 40 and 66). Whether its merchant may work is not asked
 * here: what it made before can still be read.
 * @throws {DomainError} CHECKOUT_TOKEN_INVALID, CHECKOUT_TOKEN_EXPIRED, CHECKOUT_ORIGIN_NOT_ALLOWED
 */
export async function openCheckoutToken(app: OpenApp, text: string): Promise<OpenCheckout> {
  const split = text.length > CHECKOUT_TOKEN_LENGTH_MAX ? undefined : splitCheckoutToken(text)
  const json = split === undefined ? undefined : readCheckoutText(split.text)
  if (split === undefined || json === undefined) throw notAToken()
  const read = readToken(app, json)
  if (Array.isArray(read)) throw wrongFields(read)
  const client = await identifyMerchant(app, read.token.merchantClientId)
  if (client === null) throw unknownMerchant(app.config.mode)
  await refuseUnsigned(app, split, client)
  refuseNameless(app, read.token)
  refuseExpired(read.token)
  await refuseOrigins(app, read, client)
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
async function refuseUnsigned(app: OpenApp, split: SplitToken, { merchant_id }: MerchantClient): Promise<void> {
  if (split.signature === undefined && app.config.mode === 'sandbox') return
  const { secret, previousSecret } = await findSigningSecrets(app, merchant_id)
  if (!isSignedWith(split, [secret, previousSecret])) throw notSigned(app.config.mode)
}

/** Two orders that say the same would be one: live, each must have a name of its own, or its payers block each other. */
function refuseNameless({ config }: OpenApp, { jti }: CheckoutToken): void {
  if (jti !== undefined || config.mode === 'sandbox') return
  throw wrongFields([{ path: 'jti', code: 'REQUIRED', message: 'is required: it tells orders apart' }])
}

function refuseExpired({ exp }: CheckoutToken): void {
  if (exp !== undefined && exp * 1_000 <= Date.now()) throw expired()
}

/** Only pages that the merchant has named may embed its checkout and be returned to (decision 26). */
async function refuseOrigins(app: OpenApp, read: ReadToken, { merchant_id }: MerchantClient): Promise<void> {
  const allowed = await getOrigins(app, merchant_id)
  if (allowed.length === 0 && app.config.mode === 'sandbox') return
  const asked: readonly [keyof CheckoutToken, string][] = [
    ['callbackOrigin', read.callbackOrigin],
    ['returnUrl', new URL(read.token.returnUrl).origin],
  ]
  const foreign = asked.filter(([, origin]) => !allowed.includes(origin))
  if (foreign.length > 0) throw originNotAllowed(foreign)
}
