import { z } from 'zod'
import { NoBody, NoHeaders, None, Timestamp, Uuid, nameText, text } from './common.ts'
import { FeeFlat, FeePercentage } from './fees.ts'
import { operation } from './operation.ts'

/** A name that a test run gives to its data. */
export const Reference = text(200).meta({
  description: 'in a service that was started with a seed, the ids are derived from it; otherwise ignored',
  examples: ['refunds.yaml 2'],
})

/** A test merchant; by default approved, with the documented fees (decision 60). */
export const NewSandboxMerchant = z.strictObject({
  name: nameText(100).default('Sandbox Merchant'),
  kyb_status: z.enum(['PENDING', 'APPROVED', 'SUSPENDED']).default('APPROVED'),
  payout_held: z.boolean().default(false),
  fee_percentage: FeePercentage.default('0.0100'),
  fee_flat: FeeFlat.default('0.20'),
  webhook_url: text(2048).nullable().default(null),
  reference: Reference.optional(),
})
export type NewSandboxMerchant = z.output<typeof NewSandboxMerchant>

/** The new merchant with its credentials and signing secret. Only this response has the secrets. */
export const SandboxMerchant = z.strictObject({
  merchant_id: Uuid,
  client_id: z.string(),
  /** The secret of client_id, which has the role ADMIN; null without an identity provider. */
  client_secret: z.string().nullable(),
  realm_slug: z.string(),
  issuer: z.string().nullable(),
  name: z.string(),
  kyb_status: z.enum(['PENDING', 'APPROVED', 'SUSPENDED']),
  payout_held: z.boolean(),
  fee_percentage: z.string(),
  fee_flat: z.string(),
  webhook_url: z.string().nullable(),
  webhook_signing_secret: z.string(),
})
export type SandboxMerchant = z.infer<typeof SandboxMerchant>

export const createSandboxMerchant = operation({
  name: 'createSandboxMerchant',
  dryRun: true,
  method: 'POST',
  path: '/api/v1/sandbox/merchants',
  summary: 'Create a test merchant with credentials',
  access: ['sandbox'],
  permission: 'operate sandbox',
  params: None,
  query: None,
  headers: NoHeaders,
  body: NewSandboxMerchant,
  replies: { 201: SandboxMerchant },
  errors: [],
})

const ClockCustomers = z
  .array(z.string().max(64))
  .max(100)
  .meta({ description: 'external ids of customers of the bank' })

export const advanceSandboxClock = operation({
  name: 'advanceSandboxClock',
  method: 'POST',
  path: '/api/v1/sandbox/clock/advance',
  summary: 'Advance the clock of a merchant or of customers',
  description: 'Jobs that become due in that time run, in order.',
  access: ['sandbox'],
  permission: 'operate sandbox',
  params: None,
  query: None,
  headers: NoHeaders,
  // Needs a merchant, customers or both, and either `by` or `to`: the use case checks the combinations.
  body: z.strictObject({
    merchant_id: z.string().optional(),
    customer_ids: ClockCustomers.optional(),
    by: z
      .string()
      .max(16)
      .optional()
      .meta({ description: 'such as 90s, 5m, 11h or 7d; at most 400d', examples: ['11h'] }),
    to: z.iso
      .datetime({ offset: true })
      .optional()
      .meta({ description: 'instead of by: a time on their own clock, which GET /sandbox/clock returns' }),
  }),
  replies: {
    200: z.strictObject({
      /** Null if only the clock of customers was advanced. */
      merchant_id: Uuid.nullable(),
      customer_ids: ClockCustomers,
      advanced_ms: z.int(),
      /** How many due times the clock stopped at. */
      stops: z.int(),
    }),
  },
  errors: ['MERCHANT_NOT_FOUND'],
})

export const readSandboxClock = operation({
  name: 'readSandboxClock',
  method: 'GET',
  path: '/api/v1/sandbox/clock',
  summary: 'Get the clock of a merchant or customer',
  description: 'Returns its time, and how far that is ahead of the real time.',
  access: ['sandbox'],
  permission: 'operate sandbox',
  params: None,
  query: z.strictObject({
    merchant_id: text(64).optional(),
    customer_id: text(64).optional().meta({ description: 'external id, in place of merchant_id' }),
  }),
  headers: NoHeaders,
  body: NoBody,
  replies: {
    200: z.strictObject({
      merchant_id: Uuid.nullable(),
      customer_id: z.string().nullable(),
      now: Timestamp,
      /** Milliseconds ahead of the real time; never negative. */
      ahead_ms: z.int(),
    }),
  },
  errors: ['MERCHANT_NOT_FOUND'],
})
