import type { App } from '../app.ts'
import { bankOfAccount } from '../banks/bank-of-account.ts'
import { debtorAccountOf } from '../banks/connector.ts'
import { parseAmount, formatAmount } from '../lib/money.ts'
import { errorOfOutcome } from '../payments/creation-rules.ts'
import { getBranding } from '../merchants/branding.ts'
import type { Checkout } from '../wire/checkout.ts'
import { findPaidPayment, findRefusal } from './sql.ts'
import type { VerifiedCheckout } from './record.ts'
import { errorForPayers, shopUnavailable } from './errors.ts'

/**
 * A checkout for the widget. The payee is the merchant's registered trading name, whatever name the token has.
 * @throws {DomainError} MERCHANT_INACTIVE, and as `createPayment` does for its merchant, amount and currency
 */
export async function getCheckout(
  app: Pick<App, 'pool' | 'config' | 'catalogue'>,
  { token, hash, callbackOrigin, merchant }: VerifiedCheckout,
): Promise<Checkout> {
  if (!merchant.isActive) throw shopUnavailable('MERCHANT_INACTIVE')
  const paid = await findPaidPayment(app.pool, { merchantId: merchant.id, hash })
  if (paid === null) await checkPayable(app, { merchant, body: token })
  const { collectionAccount, provider } = app.config
  const account = debtorAccountOf({
    debtor_account_scheme: token.debtorAccountScheme,
    debtor_identification: token.debtorIdentification,
  })
  return {
    mode: app.config.mode,
    merchant_name: merchant.tradingName,
    shop_name: token.merchantName,
    merchant_client_id: merchant.clientId,
    payee_name: collectionAccount?.name ?? merchant.tradingName,
    payee_account_end: collectionAccount?.identification.slice(-4) ?? null,
    provider: {
      name: provider.name ?? null,
      terms_url: provider.termsUrl ?? null,
      privacy_url: provider.privacyUrl ?? null,
    },
    amount: formatAmount(parseAmount(token.amount), token.currency),
    currency: token.currency,
    payer_name: token.payerName ?? null,
    remittance_reference: token.remittanceReference ?? null,
    is_paid: paid !== null,
    paid_by: paid,
    is_fast_path: account !== undefined,
    debtor_bank_id: (account && bankOfAccount(app.catalogue.list, account)?.id) ?? null,
    callback_origin: callbackOrigin,
    return_url: token.returnUrl,
    expires_at: token.exp === undefined ? null : new Date(token.exp * 1_000).toISOString(),
    branding: await getBranding(app, merchant.id),
  }
}

/** A payer should not choose a bank for a payment that no bank can make. */
async function checkPayable(
  app: Pick<App, 'pool'>,
  rejected: { merchant: { id: string }; body: { amount: string; currency: string } },
): Promise<void> {
  const refusal = await findRefusal(app.pool, { merchantId: rejected.merchant.id, ...rejected.body })
  if (refusal !== null) throw errorForPayers(await errorOfOutcome(app, refusal, rejected))
}
