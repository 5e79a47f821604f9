import { z } from 'zod'
import {
  Currency,
  IdParams,
  Limit,
  MerchantNames,
  Money,
  NoBody,
  NoHeaders,
  None,
  Timestamp,
  Uuid,
  expecting,
  listOf,
} from './common.ts'
import { Reason, SettlementSchedule } from './admin.ts'
import { operation } from './operation.ts'

export const LINE_KINDS = ['PAYMENT', 'FEE', 'REFUND', 'DISPUTE_REFUND', 'CORRECTION', 'DEBT', 'ROUNDING'] as const

const SettlementStatus = z.enum(['CLOSED', 'PAID_OUT'])

/** What a merchant is owed for a period, in one currency. */
export const Settlement = z.strictObject({
  settlement_id: Uuid,
  merchant_id: Uuid,
  currency: Currency,
  status: SettlementStatus.meta({ description: '`PAID_OUT` once the bank has paid its payout' }),
  kind: SettlementSchedule.meta({ description: 'how the period ended; `MANUAL` where it was ended by hand' }),
  period_from: Timestamp.meta({ description: "in the sandbox, both are times of the merchant's own clock" }),
  period_to: Timestamp,
  opening_balance: Money.meta({ description: 'what the settlement before could not pay: a debt, negative' }),
  gross_amount: Money,
  fee_amount: Money,
  refunded_amount: Money,
  corrected_amount: Money.meta({ description: 'corrections by the platform, with their sign' }),
  deducted_amount: Money.meta({
    description: 'debts that payouts have kept back; negative where such a payout came to nothing',
  }),
  rounding_amount: Money.meta({ description: 'what rounding to whole pence has added, with its sign' }),
  net_amount: Money.meta({
    description:
      'opening balance + gross − fees − refunds + corrections + deducted debts + rounding; negative where the merchant owes',
  }),
  payable_amount: Money.meta({ description: 'the net amount, or 0.00 where it is carried over instead' }),
  line_count: z.int(),
  payout_id: Uuid.nullable().meta({ description: 'the payout that pays it; null again when that failed or came back' }),
  bank_account_id: Uuid.nullable().meta({ description: 'the active bank account when the period closed' }),
  closed_at: Timestamp,
})
export type Settlement = z.infer<typeof Settlement>

/** A settlement as operators see it. */
export const AdminSettlement = Settlement.extend(MerchantNames)
export type AdminSettlement = z.infer<typeof AdminSettlement>

export const SettlementLine = z.strictObject({
  id: z.string().meta({ description: 'the number of the entry of the ledger', examples: ['1042'] }),
  kind: z.enum(LINE_KINDS),
  payment_id: Uuid.nullable(),
  refund_id: Uuid.nullable(),
  end_to_end_id: z.string().nullable(),
  remittance_reference: z.string().nullable(),
  amount: Money.meta({ description: 'what it adds: fees and refunds are negative', examples: ['50.00', '-0.7125'] }),
  currency: Currency,
  occurred_at: Timestamp,
})
export type SettlementLine = z.infer<typeof SettlementLine>

export const MerchantSettlementSchedule = z.strictObject({ merchant_id: Uuid, settlement_schedule: SettlementSchedule })
export type MerchantSettlementSchedule = z.infer<typeof MerchantSettlementSchedule>

const Day = z.iso.date().meta({ examples: ['2026-11-22'] })
const Page = z.strictObject({ limit: Limit, cursor: z.string().max(200).optional() })
const ListQuery = Page.extend({
  currency: Currency.optional(),
  status: SettlementStatus.optional(),
  from: Day.optional().meta({ description: 'periods that end on this day in London, or later' }),
  to: Day.optional().meta({ description: 'periods that end on this day in London, or earlier' }),
})
export type SettlementListQuery = z.output<typeof ListQuery>

const ofMerchants = { access: ['merchant'], headers: NoHeaders } as const
const ofOperators = { access: ['platform'], headers: NoHeaders } as const
const ofReaders = { ...ofMerchants, permission: 'read balances' } as const
const AS_CSV = 'Also as CSV, with Accept: text/csv.'

export const listSettlements = operation({
  ...ofReaders,
  name: 'listSettlements',
  method: 'GET',
  path: '/api/v1/portal/settlements',
  summary: 'List settlements, last period first',
  description: AS_CSV,
  csv: true,
  params: None,
  query: ListQuery,
  body: NoBody,
  replies: { 200: listOf(Settlement) },
  errors: [],
})

export const getSettlement = operation({
  ...ofReaders,
  name: 'getSettlement',
  method: 'GET',
  path: '/api/v1/portal/settlements/{id}',
  summary: 'Get a settlement',
  description: AS_CSV,
  csv: true,
  params: IdParams,
  query: None,
  body: NoBody,
  replies: { 200: Settlement },
  errors: ['SETTLEMENT_NOT_FOUND'],
})

export const listSettlementLines = operation({
  ...ofReaders,
  name: 'listSettlementLines',
  method: 'GET',
  path: '/api/v1/portal/settlements/{id}/lines',
  summary: 'List the lines of a settlement, oldest first',
  description: `One for each payment, fee, refund and correction, and one for rounding. ${AS_CSV}`,
  csv: true,
  params: IdParams,
  query: Page,
  body: NoBody,
  replies: { 200: listOf(SettlementLine) },
  errors: ['SETTLEMENT_NOT_FOUND'],
})

export const closeSettlements = operation({
  ...ofMerchants,
  permission: 'manage settlements',
  name: 'closeSettlements',
  isRecorded: true,
  dryRun: true,
  method: 'POST',
  path: '/api/v1/portal/settlements',
  summary: 'Close the open periods now',
  description:
    'The next period begins now. Currencies in which nothing was posted since the last settlement have none. A dry run shows what would be settled.',
  params: None,
  query: None,
  body: z.strictObject({ currency: Currency.optional() }),
  replies: { 200: z.strictObject({ settlements: z.array(Settlement) }) },
  errors: [],
})

export const getSettlementSchedule = operation({
  ...ofReaders,
  name: 'getSettlementSchedule',
  method: 'GET',
  path: '/api/v1/portal/settlement-schedule',
  summary: 'Get when periods are settled',
  params: None,
  query: None,
  body: NoBody,
  replies: { 200: MerchantSettlementSchedule },
  errors: [],
})

export const putSettlementSchedule = operation({
  ...ofMerchants,
  permission: 'manage settlements',
  name: 'putSettlementSchedule',
  isRecorded: true,
  dryRun: true,
  method: 'PUT',
  path: '/api/v1/portal/settlement-schedule',
  summary: 'Set when periods are settled',
  description: 'Also for the period that is open.',
  params: None,
  query: None,
  body: z.strictObject({ settlement_schedule: SettlementSchedule }),
  replies: { 200: MerchantSettlementSchedule },
  errors: [],
})

export const listAdminSettlements = operation({
  ...ofOperators,
  permission: 'read merchants',
  name: 'listAdminSettlements',
  method: 'GET',
  path: '/api/v1/admin/settlements',
  summary: 'List settlements of all merchants, last period first',
  description: AS_CSV,
  csv: true,
  params: None,
  query: ListQuery.extend({ merchant_id: z.string().max(64).optional() }),
  body: NoBody,
  replies: { 200: listOf(AdminSettlement) },
  errors: [],
})

export const getAdminSettlement = operation({
  ...ofOperators,
  permission: 'read merchants',
  name: 'getAdminSettlement',
  method: 'GET',
  path: '/api/v1/admin/settlements/{id}',
  summary: 'Get a settlement of any merchant',
  params: IdParams,
  query: None,
  body: NoBody,
  replies: { 200: AdminSettlement },
  errors: ['SETTLEMENT_NOT_FOUND'],
})

export const listAdminSettlementLines = operation({
  ...ofOperators,
  permission: 'read merchants',
  name: 'listAdminSettlementLines',
  method: 'GET',
  path: '/api/v1/admin/settlements/{id}/lines',
  summary: 'List the lines of any settlement, oldest first',
  description: AS_CSV,
  csv: true,
  params: IdParams,
  query: Page,
  body: NoBody,
  replies: { 200: listOf(SettlementLine) },
  errors: ['SETTLEMENT_NOT_FOUND'],
})

export const setSettlementSchedule = operation({
  ...ofOperators,
  permission: 'operate merchants',
  name: 'setSettlementSchedule',
  dryRun: true,
  method: 'PUT',
  path: '/api/v1/admin/merchants/{id}/settlement-schedule',
  summary: "Set when a merchant's periods are settled",
  params: IdParams,
  query: None,
  body: z.strictObject({
    settlement_schedule: SettlementSchedule,
    reason: Reason,
    expected: expecting({ settlement_schedule: SettlementSchedule }),
  }),
  replies: { 200: MerchantSettlementSchedule },
  errors: ['MERCHANT_NOT_FOUND', 'CHANGED_MEANWHILE'],
})
