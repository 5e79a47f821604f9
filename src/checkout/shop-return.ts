import type { App } from '../app.ts'
import { signPaymentResult } from '../lib/checkout-token.ts'
import { withParameters } from '../lib/web-address.ts'
import { formatNumeric } from '../lib/money.ts'
import type { PaymentRecord } from '../payments/record.ts'
import { findUsableSecrets } from '../signing/open-secrets.ts'
import type { PaymentResult } from '../wire/checkout.ts'
import type { CheckoutPayment } from '../wire/new-payment.ts'
import { ownOrigins } from './token-rules.ts'

const PATH = '/payments/return'
/** Marks the way back of a payer who went to the bank in the shop's own tab, and so goes on to the shop by itself. */
const ON = { to: 'shop' } as const

/** Where a bank sends the payer of a checkout: a page in the language of the checkout (decision 365). */
export function bankReturnUrl({ publicUrl }: Pick<App, 'publicUrl'>, { same_tab, locale }: CheckoutPayment): string {
  const url = new URL(`${publicUrl}${PATH}`)
  if (same_tab === true) url.searchParams.set('to', ON.to)
  if (locale !== undefined) url.searchParams.set('lang', locale)
  return url.href
}

/** Whether the payer who comes back with this query goes on to the shop by itself. */
export function goesOnToShop(query: URLSearchParams): boolean {
  return query.get('to') === ON.to
}

/** Whether a checkout's payer has a page of the shop to return to: one without a website names ours (decision 337). */
export function hasShopPage(app: Pick<App, 'config' | 'publicUrl'>, returnUrl: string | null): returnUrl is string {
  return returnUrl !== null && !ownOrigins(app).some((origin) => returnUrl === `${origin}${PATH}`)
}

/**
 * The shop's page with the payment's signed result: one signature, and during a rotation of the secret one of the previous
 * secret as well (decision 335). Without a secret to sign with it has the payment's id alone.
 */
export async function shopReturnUrl(
  app: Pick<App, 'sealer' | 'log' | 'pool'>,
  payment: PaymentRecord & { return_url: string },
): Promise<string> {
  const result: PaymentResult = {
    payment_id: payment.id,
    status: payment.status,
    order: payment.order_id,
    amount: formatNumeric(payment.gross_amount, payment.currency),
    currency: payment.currency,
    end_to_end_id: payment.end_to_end_id,
    failure_code: payment.failure_code,
    issued_at: new Date().toISOString(),
  }
  const secrets = await findUsableSecrets(app, payment.merchant_id)
  return withParameters(new URL(payment.return_url), {
    payment_id: payment.id,
    ...(secrets !== undefined && {
      payment_result: signPaymentResult(result, [secrets.secret, secrets.previousSecret]),
    }),
  })
}
