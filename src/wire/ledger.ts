import { z } from 'zod'
import { Currency, Limit, MerchantNames, NoBody, NoHeaders, None, Uuid, listOf } from './common.ts'
import { operation } from './operation.ts'

const amount = (description: string) => z.string().meta({ description, examples: ['49.30', '-0.70'] })

/** Why `merchant_payable` is not being paid out. */
export const PayoutBlock = z.enum([
  'MERCHANT_NOT_APPROVED',
  'MERCHANT_INACTIVE',
  'PAYOUT_HELD',
  'BANK_ACCOUNT_MISSING',
  'BANK_ACCOUNT_REJECTED',
])
export type PayoutBlock = z.infer<typeof PayoutBlock>

const payoutBlock = PayoutBlock.nullable().meta({
  description:
    'what stands between `merchant_payable` and the next payout; BANK_ACCOUNT_REJECTED until there is another account',
})

/** What is owed to a merchant in one currency, and the fees it has paid. */
export const Balance = z.strictObject({
  currency: Currency,
  clearing: amount('from settled payments less fees and refunds, until a settlement closes the period'),
  merchant_payable: amount('from closed settlements, to be paid out'),
  held: amount('not paid out now'),
  payouts_in_transit: amount("sent to the merchant's bank account, not confirmed yet"),
  total: amount('the sum of the four; negative where refunds exceeded what was left'),
  fees_paid: amount('the fees of all payments so far'),
  payout_blocked_by: payoutBlock,
})
export type Balance = z.infer<typeof Balance>

export const getBalances = operation({
  name: 'getBalances',
  method: 'GET',
  path: '/api/v1/portal/balances',
  summary: 'Get balances, one row per currency',
  description: 'A currency appears with its first settled payment.',
  access: ['merchant'],
  permission: 'read balances',
  params: None,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: listOf(Balance) },
  errors: [],
})

/** The balances of all accounts of the ledger. */
const Accounts = Balance.omit({ fees_paid: true, payout_blocked_by: true }).extend({
  bank: amount("at the service's bank"),
  fees_earned: amount('the fees of the platform'),
  rounding: amount('what settlements have rounded off; negative where they have added'),
})

export const MerchantBalance = Accounts.extend({
  merchant_id: Uuid,
  ...MerchantNames,
  payout_blocked_by: payoutBlock,
})
export type MerchantBalance = z.infer<typeof MerchantBalance>

export const listBalances = operation({
  name: 'listBalances',
  method: 'GET',
  path: '/api/v1/admin/balances',
  summary: 'List balances of merchants, one row per currency',
  description:
    'The `totals` are the sums by currency over all pages. Bank less what is owed is fees and rounding, always.',
  access: ['platform'],
  permission: 'read merchants',
  params: None,
  query: z.strictObject({
    merchant_id: z.string().max(64).optional(),
    limit: Limit,
    cursor: z.string().max(256).optional(),
  }),
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: listOf(MerchantBalance).extend({ totals: z.array(Accounts) }) },
  errors: [],
})
