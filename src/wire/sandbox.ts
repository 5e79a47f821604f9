import { z } from 'zod'
import { NoHeaders, None, Uuid, nameText, text } from './common.ts'
import { FeeFlat, FeePercentage } from './fees.ts'
import { operation } from './operation.ts'

/** A merchant to try things with; approved, with the documented fees, where nothing else is asked for (decision 60). */
export const NewSandboxMerchant = z.strictObject({
  name: nameText(100).default('Sandbox Merchant'),
  kyb_status: z.enum(['PENDING', 'APPROVED', 'SUSPENDED']).default('APPROVED'),
  payout_held: z.boolean().default(false),
  fee_percentage: FeePercentage.default('0.0100'),
  fee_flat: FeeFlat.default('0.20'),
  webhook_url: text(2048).nullable().default(null),
})
export type NewSandboxMerchant = z.output<typeof NewSandboxMerchant>

/** The new merchant with its credentials, the signing secret among them: this once. */
export const SandboxMerchant = z.strictObject({
  merchant_id: Uuid,
  client_id: z.string(),
  /** Of client_id, an ADMIN; null without an identity provider. */
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
  method: 'POST',
  path: '/api/v1/sandbox/merchants',
  summary: 'Make a merchant with credentials, for one test run',
  access: ['sandbox'],
  permission: 'operate sandbox',
  params: None,
  query: None,
  headers: NoHeaders,
  body: NewSandboxMerchant,
  replies: { 201: SandboxMerchant },
  errors: [],
})

export const advanceSandboxClock = operation({
  name: 'advanceSandboxClock',
  method: 'POST',
  path: '/api/v1/sandbox/clock/advance',
  summary: 'Let time pass for one merchant: what becomes due on the way happens, in its order',
  access: ['sandbox'],
  permission: 'operate sandbox',
  params: None,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({
    merchant_id: z.string(),
    by: z
      .string()
      .max(16)
      .meta({ description: 'such as 90s, 5m, 11h or 7d; at most 400d', examples: ['11h'] }),
  }),
  replies: {
    200: z.strictObject({
      merchant_id: Uuid,
      advanced_ms: z.int(),
      /** How many due times were stopped at on the way. */
      stops: z.int(),
    }),
  },
  errors: ['MERCHANT_NOT_FOUND'],
})
