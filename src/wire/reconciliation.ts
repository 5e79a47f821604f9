import { z } from 'zod'
import { Currency, Instant, Limit, Money, NoBody, NoHeaders, None, Timestamp, Uuid, listOf } from './common.ts'
import { operation } from './operation.ts'

/** What can disagree. */
export const DIFFERENCE_KINDS = [
  'PAYMENT_LEDGER',
  'FEE_LEDGER',
  'LEDGER_WITHOUT_PAYMENT',
  'REFUND_LEDGER',
  'LEDGER_WITHOUT_REFUND',
  'REFUNDED_AMOUNT',
  'LEDGER_BALANCE',
  'BANK_DEBIT',
  'BANK_DEBIT_OF_FAILED',
  'BANK_CREDIT',
  'BANK_CREDIT_UNKNOWN',
  'SETTLED_AFTER_FAILURE',
  'DISPUTE_REFUND',
  'FILE_REFUND',
  'FILE_PAYOUT',
  'STATEMENT_LINE_MISSING',
  'STATEMENT_LINE_OF_FAILED',
  'STATEMENT_DEBIT_KNOWN',
  'STATEMENT_CREDIT_KNOWN',
  'STATEMENT_DEBIT_UNKNOWN',
  'STATEMENT_LINE_UNKNOWN',
  'REFUND_RETURN',
  'STATEMENT_LINE',
  'SETTLEMENT_LINE',
  'SETTLEMENT_LINE_WITHOUT_ENTRY',
  'SETTLEMENT_TOTAL',
  'LINE_WITHOUT_SETTLEMENT',
  'SETTLEMENT_LEDGER',
  'SETTLEMENT_OPENING',
  'PAYOUT_LEDGER',
  'LEDGER_WITHOUT_PAYOUT',
  'SETTLEMENT_PAYOUT',
  'BANK_PAYOUT',
  'BANK_PAYOUT_RETURN',
  'BANK_PAYOUT_UNKNOWN',
  'CORRECTION_LEDGER',
  'CORRECTION_WITHOUT_ACTION',
  'HOLD_WITHOUT_ACTION',
  'HELD_BALANCE',
] as const

export const Difference = z.strictObject({
  kind: z.enum(DIFFERENCE_KINDS),
  merchant_id: Uuid.nullable().meta({ description: 'null for a line of a statement that is no movement here' }),
  trading_name: z.string().nullable(),
  /**
   * The row: a payment, a refund, a line of a statement, a settlement, a payout, the number of an entry, or the name of
   * an account of the ledger.
   */
  subject: z.string(),
  payment_id: Uuid.nullable(),
  currency: Currency,
  expected_amount: Money.nullable().meta({ description: 'null where there should be none' }),
  found_amount: Money.nullable().meta({ description: 'null where there is none' }),
  cause: z.string().meta({ description: 'the most likely cause' }),
})
export type Difference = z.infer<typeof Difference>

/** The sums of one merchant and currency: by the payments, and by the ledger. */
export const ReconciledTotal = z.strictObject({
  merchant_id: Uuid,
  trading_name: z.string(),
  currency: Currency,
  settled_amount: Money,
  ledger_settled_amount: Money,
  fee_amount: Money,
  ledger_fee_amount: Money,
  refunded_amount: Money,
  ledger_refunded_amount: Money,
})
export type ReconciledTotal = z.infer<typeof ReconciledTotal>

const DifferenceCount = z.strictObject({ kind: z.enum(DIFFERENCE_KINDS), count: z.int() })

const Reconciliation = z.strictObject({
  from: Timestamp.nullable(),
  as_of: Timestamp,
  is_balanced: z.boolean(),
  totals: z.array(ReconciledTotal),
  difference_counts: z.array(DifferenceCount).meta({ description: 'of the kinds that there are' }),
  differences: z.array(Difference),
  has_more: z
    .boolean()
    .meta({ description: 'whether a kind has more differences than are listed: 100 of each at most' }),
})
export type Reconciliation = z.infer<typeof Reconciliation>

/** A run of the daily job. */
export const KeptReconciliation = z.strictObject({
  id: Uuid,
  status: z
    .enum(['RUNNING', 'BALANCED', 'DIFFERENT', 'FAILED'])
    .meta({ description: 'a run that has FAILED, or whose process has ended, is followed by another' }),
  as_of: Timestamp,
  started_at: Timestamp,
  finished_at: Timestamp.nullable(),
  next_run_at: Timestamp,
  totals: z.array(ReconciledTotal),
  difference_counts: z.array(DifferenceCount),
  difference_count: z.int(),
  differences: z.array(Difference).meta({ description: '100 at most, some of each kind' }),
  failure: z.string().nullable().meta({ description: 'why it has FAILED' }),
})
export type KeptReconciliation = z.infer<typeof KeptReconciliation>

const Query = z.strictObject({
  from: Instant.optional().meta({
    description:
      'movements since then; without it everything, and the kept balances are recounted as well, unless that takes too long',
  }),
  as_of: Instant.optional().meta({ description: 'movements until then; now by default' }),
})

const ofReconciliation = {
  method: 'GET',
  summary: 'Compare payments, ledger, bank and statements',
  description: 'Reads one snapshot. Every difference has its row, both amounts and the most likely cause.',
  params: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: Reconciliation },
} as const

export const getReconciliation = operation({
  ...ofReconciliation,
  name: 'getReconciliation',
  path: '/api/v1/admin/reconciliation',
  access: ['platform'],
  permission: 'read merchants',
  query: Query.extend({ merchant_id: z.string().max(64).optional() }),
  errors: ['MERCHANT_NOT_FOUND'],
})

export const getPortalReconciliation = operation({
  ...ofReconciliation,
  name: 'getPortalReconciliation',
  path: '/api/v1/portal/reconciliation',
  access: ['merchant'],
  permission: 'read balances',
  query: Query,
  errors: [],
})

export const listReconciliations = operation({
  name: 'listReconciliations',
  method: 'GET',
  path: '/api/v1/admin/reconciliations',
  summary: 'List runs of the daily reconciliation, newest first',
  access: ['platform'],
  permission: 'read merchants',
  params: None,
  query: z.strictObject({ limit: Limit, cursor: z.string().max(256).optional() }),
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: listOf(KeptReconciliation) },
  errors: [],
})
