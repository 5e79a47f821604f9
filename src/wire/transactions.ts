import { z } from 'zod'
import {
  Currency,
  EXAMINED_PAGES,
  IdParams,
  Money,
  NoBody,
  NoHeaders,
  None,
  Timestamp,
  Uuid,
  listOf,
} from './common.ts'
import { operation } from './operation.ts'
import { ListQuery, PaymentStatus } from './payments.ts'

/**
 * A payment as a line of the merchant's books (decisions 51 and 159). Fee and net keep the values of its creation, in
 * every status.
 */
export const Transaction = z.strictObject({
  payment_id: Uuid,
  created_at: Timestamp,
  settled_at: Timestamp.nullable(),
  status: PaymentStatus,
  end_to_end_id: z.string(),
  gross_amount: Money,
  fee_amount: Money,
  net_amount: Money,
  refunded_amount: Money,
  payout_amount: z.string().meta({
    description:
      'what the payment adds to payouts: `net_amount` less `refunded_amount` once it has settled, `"0.00"` before that and where it failed. Fees stay, so that after a full refund it is the fee, negative',
    examples: ['49.30', '0.00', '-0.70'],
  }),
  currency: Currency,
  payer_name: z.string().nullable(),
  debtor_bank_id: z.string().nullable(),
  remittance_reference: z.string().nullable(),
  bank_reference: z.string().nullable(),
  failure_code: z.string().nullable(),
})
export type Transaction = z.infer<typeof Transaction>

export const listTransactions = operation({
  name: 'listTransactions',
  method: 'GET',
  path: '/api/v1/portal/transactions',
  summary: 'List transactions, newest first',
  description: `Also as CSV, with Accept: text/csv. ${EXAMINED_PAGES}`,
  access: ['merchant'],
  permission: 'read payments',
  csv: true,
  params: None,
  query: ListQuery,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: listOf(Transaction) },
  errors: [],
})

export const getTransaction = operation({
  name: 'getTransaction',
  method: 'GET',
  path: '/api/v1/portal/transactions/{id}',
  summary: 'Get a transaction',
  access: ['merchant'],
  permission: 'read payments',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: Transaction },
  errors: ['PAYMENT_NOT_FOUND'],
})
