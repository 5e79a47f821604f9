import { z } from 'zod'
import { CURRENCY_DIGITS, isAmountText, isKnownCurrency, parseAmount } from '../lib/money.ts'
import { Reason } from './admin.ts'
import { Amount, Currency, IdParams, Money, NoBody, NoHeaders, None, Uuid, expecting } from './common.ts'
import { operation } from './operation.ts'

/** The largest payment of the scheme (decision 33): limits of a merchant go down from it. */
export const PAYMENT_AMOUNT_MAX = '1000000.00'

const Currencies = z.array(Currency)
const NewCurrencies = z
  .array(Currency.refine(isKnownCurrency, `is not offered: ${Object.keys(CURRENCY_DIGITS).join(' and ')} are`))
  .min(1)
  .max(10)
const NewMaximum = Amount.refine(isMaximum, `must be 0.01 to ${PAYMENT_AMOUNT_MAX}, with at most two decimals`)

function isMaximum(text: string): boolean {
  if (!isAmountText(text)) return true
  const amount = parseAmount(text)
  return amount > 0n && amount <= parseAmount(PAYMENT_AMOUNT_MAX) && amount % parseAmount('0.01') === 0n
}

/** What new payments of a merchant may be. */
export const MerchantLimits = z.strictObject({
  merchant_id: Uuid,
  currencies: Currencies,
  payment_amount_max: Money.meta({ description: 'the largest payment, in its own currency' }),
})
export type MerchantLimits = z.infer<typeof MerchantLimits>

export const getLimits = operation({
  name: 'getLimits',
  method: 'GET',
  path: '/api/v1/admin/merchants/{id}/limits',
  summary: "Get a merchant's limits for new payments",
  access: ['platform'],
  permission: 'administer platform',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: MerchantLimits },
  errors: ['MERCHANT_NOT_FOUND'],
})

export const setLimits = operation({
  name: 'setLimits',
  dryRun: true,
  method: 'PUT',
  path: '/api/v1/admin/merchants/{id}/limits',
  summary: "Set a merchant's currencies and largest payment",
  access: ['platform'],
  permission: 'administer platform',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: z
    .strictObject({
      currencies: NewCurrencies.optional(),
      payment_amount_max: NewMaximum.optional(),
      reason: Reason,
      expected: expecting({ currencies: Currencies, payment_amount_max: Amount }),
    })
    .refine(
      (body) => body.currencies !== undefined || body.payment_amount_max !== undefined,
      'must have currencies or payment_amount_max',
    ),
  replies: { 200: MerchantLimits },
  errors: ['MERCHANT_NOT_FOUND', 'CHANGED_MEANWHILE'],
})
