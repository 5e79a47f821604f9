import { z } from 'zod'
import { PERCENTAGE_PATTERN } from '../lib/percentage.ts'
import { IdParams, NoBody, NoHeaders, None, Timestamp, Uuid, listOf, text } from './common.ts'
import { operation } from './operation.ts'
import { PaymentStatus } from './payments.ts'

const Share = z
  .string()
  .regex(PERCENTAGE_PATTERN, 'must be a share such as "20%" or "0.5%", at most "100%"')
  .meta({ examples: ['20%'] })

/** The faults that the mock bank injects for one merchant. Faults that are left out are off. */
export const BankFaultSettings = z.strictObject({
  latency: z
    .string()
    .max(16)
    .meta({ description: 'delay of each response of the bank, such as 250ms or 3s; at most 60s', examples: ['3s'] })
    .optional(),
  drop_callback: Share.meta({ description: 'share of callbacks that are lost' }).optional(),
  duplicate: Share.meta({ description: 'share of callbacks that are sent twice' }).optional(),
  unavailable: Share.meta({ description: 'share of calls without a response; half of them take effect' }).optional(),
  fail_payout: Share.meta({ description: 'share of payouts that the bank rejects' }).optional(),
  return_payout: Share.meta({ description: 'share of payouts that come back after they were paid' }).optional(),
  seed: z
    .int()
    .min(0)
    .max(2_147_483_647)
    .meta({ description: 'seed of the choice of affected calls; 1 by default' })
    .optional(),
})
export type BankFaultSettings = z.output<typeof BankFaultSettings>

/** The fault injection settings of a merchant: all null if none are set. */
export const BankFaults = z.strictObject({
  merchant_id: Uuid,
  latency: z.string().nullable(),
  drop_callback: z.string().nullable(),
  duplicate: z.string().nullable(),
  unavailable: z.string().nullable(),
  fail_payout: z.string().nullable(),
  return_payout: z.string().nullable(),
  seed: z.int().nullable(),
  /** Random values used since the settings changed: for calls of the service, for callbacks of the bank, and for payouts. */
  calls: z.int(),
  callbacks: z.int(),
  payouts: z.int(),
  set_at: Timestamp.nullable(),
})
export type BankFaults = z.infer<typeof BankFaults>

/** A behaviour of the mock bank that a payment can ask for by name. */
export const BankScenario = z.strictObject({
  name: z.string().meta({ examples: ['insufficient-funds'] }),
  summary: z.string(),
})
export type BankScenario = z.infer<typeof BankScenario>

/** The statuses that a payment can be moved to. */
export const AdvanceTarget = PaymentStatus.extract(['Authorised', 'Settled', 'Refunded', 'Failed'])
export type AdvanceTarget = z.infer<typeof AdvanceTarget>

/** The result of moving a payment. */
export const AdvancedPayment = z.strictObject({
  payment_id: Uuid,
  old_status: PaymentStatus,
  new_status: PaymentStatus,
  /** False if its scenario ends in another status. */
  reached: z.boolean(),
  /** The payer's decision at the bank, of which the first counts. Null if this call made none. */
  decision: z.enum(['approve', 'cancel']).nullable(),
})
export type AdvancedPayment = z.infer<typeof AdvancedPayment>

const shared = {
  access: ['sandbox'],
  permission: 'operate sandbox',
  params: None,
  query: None,
  headers: NoHeaders,
} as const

export const getBankFaults = operation({
  ...shared,
  name: 'getBankFaults',
  method: 'GET',
  path: '/api/v1/sandbox/bank/faults',
  summary: 'Get the fault injection settings of a merchant',
  query: z.strictObject({ merchant_id: text(64) }),
  body: NoBody,
  replies: { 200: BankFaults },
  errors: ['MERCHANT_NOT_FOUND'],
})

export const setBankFaults = operation({
  ...shared,
  name: 'setBankFaults',
  dryRun: true,
  method: 'PUT',
  path: '/api/v1/sandbox/bank/faults',
  summary: 'Set the fault injection settings of a merchant',
  description: 'A request without faults turns fault injection off.',
  body: BankFaultSettings.extend({ merchant_id: text(64) }),
  replies: { 200: BankFaults },
  errors: ['MERCHANT_NOT_FOUND'],
})

export const listBankScenarios = operation({
  ...shared,
  name: 'listBankScenarios',
  method: 'GET',
  path: '/api/v1/sandbox/bank/scenarios',
  summary: 'List the scenarios of the mock bank',
  body: NoBody,
  replies: { 200: listOf(BankScenario) },
  errors: [],
})

export const advanceSandboxPayment = operation({
  ...shared,
  name: 'advanceSandboxPayment',
  method: 'POST',
  path: '/api/v1/sandbox/payments/{id}/advance',
  summary: 'Move a test payment to a status',
  description: 'Performs the steps of the payer and the bank.',
  params: IdParams,
  body: z.strictObject({
    to: AdvanceTarget,
    /** False for a payer who closes the browser after the decision at the bank. */
    returns: z.boolean().default(true),
  }),
  replies: { 200: AdvancedPayment },
  errors: [
    'PAYMENT_NOT_FOUND',
    'PAYMENT_NOT_AUTHORISED',
    'PAYMENT_NOT_CANCELLABLE',
    'PAYMENT_NOT_SETTLED',
    'PAYMENT_ALREADY_REFUNDED',
    'REFUND_REFUSED',
    'CONSENT_EXPIRED',
    'BANK_UNAVAILABLE',
  ],
})
