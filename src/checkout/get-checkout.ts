import type { App } from '../app.ts'
import { parseAmount, formatAmount } from '../lib/money.ts'
import { getBranding } from '../merchants/branding.ts'
import type { Checkout } from '../wire/checkout.ts'
import { isPaid } from './sql.ts'
import type { VerifiedCheckout } from './record.ts'
import { shopUnavailable } from './errors.ts'

/**
 * A checkout for the widget. The payee is the merchant's registered trading name, whatever name the token has.
 * @throws {DomainError} MERCHANT_INACTIVE
 */
export async function getCheckout(
  app: Pick<App, 'pool' | 'config'>,
  { token, hash, callbackOrigin, merchant }: VerifiedCheckout,
): Promise<Checkout> {
  if (!merchant.isActive) throw shopUnavailable('MERCHANT_INACTIVE')
  return {
    mode: app.config.mode,
    merchant_name: merchant.tradingName,
    merchant_client_id: merchant.clientId,
    amount: formatAmount(parseAmount(token.amount), token.currency),
    currency: token.currency,
    payer_name: token.payerName ?? null,
    remittance_reference: token.remittanceReference ?? null,
    is_paid: await isPaid(app.pool, { merchantId: merchant.id, hash }),
    is_fast_path: token.debtorIdentification !== undefined,
    callback_origin: callbackOrigin,
    return_url: token.returnUrl,
    expires_at: token.exp === undefined ? null : new Date(token.exp * 1_000).toISOString(),
    branding: await getBranding(app, merchant.id),
  }
}
