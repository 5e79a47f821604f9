import { z } from 'zod'
import { commaProblem, fitsCurrency, isAmountText, isKnownCurrency, parseAmount } from '../lib/money.ts'
import {
  Currency,
  IdParams,
  IdempotencyKey,
  Limit,
  MerchantNames,
  Money,
  NoBody,
  NoHeaders,
  None,
  Timestamp,
  Uuid,
  listOf,
  reasonText,
} from './common.ts'
import { PAYMENT_AMOUNT_MAX } from './limits.ts'
import { operation } from './operation.ts'

const amount = (description: string) => z.string().meta({ description, examples: ['49.30', '-0.70'] })

/** Why `merchant_payable` is not being paid out. */
export const PayoutBlock = z.enum([
  'MERCHANT_NOT_APPROVED',
  'MERCHANT_INACTIVE',
  'PAYOUT_HELD',
  'BANK_ACCOUNT_MISSING',
  'BANK_ACCOUNT_REJECTED',
  'MERCHANT_IN_DEBT',
])
export type PayoutBlock = z.infer<typeof PayoutBlock>

const payoutBlock = PayoutBlock.nullable().meta({
  description:
    'what stands between `merchant_payable` and the next payout; BANK_ACCOUNT_REJECTED until there is another account, ' +
    'MERCHANT_IN_DEBT while clearing is negative by as much',
})

/** What is owed to a merchant in one currency, and the fees it has paid. */
export const Balance = z.strictObject({
  currency: Currency,
  clearing: amount('from settled payments less fees and refunds, until a settlement closes the period'),
  merchant_payable: amount('from closed settlements, to be paid out'),
  held: amount('set aside while the payouts of the merchant are held'),
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

/** What a correction is booked against: money at the bank, or the fees of the platform. */
export const CORRECTED_AGAINST = ['BANK', 'FEES'] as const

const SignedAmount = z
  .string()
  .refine(isCorrection, {
    error: ({ input }) =>
      commaProblem(input) ?? `must be an amount such as 5.00 or -5.00, not 0, of at most ${PAYMENT_AMOUNT_MAX}`,
  })
  .meta({ examples: ['5.00', '-5.00'], description: 'what the merchant gets; with a minus, what it gives' })

function isCorrection(text: string): boolean {
  const amount = text.replace(/^-/, '')
  return isAmountText(amount) && parseAmount(amount) > 0n && parseAmount(amount) <= parseAmount(PAYMENT_AMOUNT_MAX)
}

const CorrectBalance = z
  .strictObject({
    amount: SignedAmount,
    currency: Currency.refine(isKnownCurrency, 'is not offered'),
    booked_against: z.enum(CORRECTED_AGAINST).meta({
      description: 'BANK for money that the bank got or gave without a payment, FEES for the fees of the platform',
    }),
    reference: reasonText(140).optional().meta({ description: 'what the merchant reads in its settlement' }),
    payment_id: z.string().max(64).optional().meta({
      description:
        'a Failed payment that its bank has settled, whose money this is; all corrections that name it add its amount at most',
    }),
    reason: reasonText(500).meta({ description: 'the reason, for the audit trail' }),
  })
  .refine((body) => body.booked_against === 'FEES' || isWhole(body), {
    path: ['amount'],
    error: 'must have at most two decimals where it is booked against BANK',
  })
  .refine((body) => body.payment_id === undefined || (body.booked_against === 'BANK' && !body.amount.startsWith('-')), {
    path: ['payment_id'],
    error: 'must be left out where money is taken, or booked against FEES',
  })
export type CorrectBalance = z.output<typeof CorrectBalance>

function isWhole({ amount, currency }: { amount: string; currency: string }): boolean {
  return (
    !isCorrection(amount) || !isKnownCurrency(currency) || fitsCurrency(parseAmount(amount.replace(/^-/, '')), currency)
  )
}

export const Correction = z.strictObject({
  correction_id: Uuid,
  merchant_id: Uuid,
  amount: Money,
  currency: Currency,
  booked_against: z.enum(CORRECTED_AGAINST),
  reference: z.string().nullable(),
  payment_id: Uuid.nullable(),
  created_by: z.string(),
  created_at: Timestamp,
})
export type Correction = z.infer<typeof Correction>

export const correctBalance = operation({
  name: 'correctBalance',
  needsFreshSignIn: true,
  dryRun: true,
  method: 'POST',
  path: '/api/v1/admin/merchants/{id}/corrections',
  summary: "Add to a merchant's balance, or take from it",
  description:
    'Where no payment, refund or payout is the reason. The next settlement has it as a line. A repetition with the same ' +
    'key answers the same correction.',
  access: ['platform'],
  permission: 'administer platform',
  params: IdParams,
  query: None,
  headers: z.object({ 'x-idempotency-key': IdempotencyKey.optional() }),
  body: CorrectBalance,
  replies: { 201: Correction },
  errors: ['MERCHANT_NOT_FOUND', 'PAYMENT_NOT_FOUND', 'IDEMPOTENCY_KEY_REUSED'],
})
