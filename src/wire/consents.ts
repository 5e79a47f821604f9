import { z } from 'zod'
import { Currency, IdParams, Limit, Money, NoBody, NoHeaders, None, Timestamp, Uuid, listOf } from './common.ts'
import { ConsentType } from './mandate-fields.ts'
import { operation } from './operation.ts'
import { ConsentStatus } from './payments.ts'

/** The used and the remaining amount of a cap, where caps are enforced (decision 49). */
export const Allowance = z.strictObject({
  period: z.string().meta({ examples: ['MONTH'] }),
  max_amount: Money,
  used_amount: Money,
  remaining_amount: Money,
  resets_at: Timestamp,
})
export type Allowance = z.infer<typeof Allowance>

/** A mandate: a consent for recurring payments, as its merchant sees it. */
export const Mandate = z.strictObject({
  consent_id: Uuid,
  consent_type: ConsentType,
  status: ConsentStatus,
  currency: Currency,
  control_parameters: z.unknown().meta({ description: 'as they were sent' }),
  max_amount_per_payment: Money,
  allowances: z.array(Allowance),
  caps_enforced: z.boolean(),
  payer_name: z.string().nullable(),
  remittance_reference: z.string().nullable(),
  debtor_bank_id: z.string().nullable(),
  first_payment_id: Uuid,
  payment_count: z.int(),
  valid_to: Timestamp,
  expires_at: Timestamp,
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Mandate = z.infer<typeof Mandate>

export const listConsents = operation({
  name: 'listConsents',
  method: 'GET',
  path: '/api/v1/portal/consents',
  summary: 'List mandates, newest first',
  access: ['merchant'],
  permission: 'read payments',
  params: None,
  query: z.strictObject({ status: ConsentStatus.optional(), limit: Limit, cursor: z.string().max(256).optional() }),
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: listOf(Mandate) },
  errors: [],
})

export const getConsent = operation({
  name: 'getConsent',
  method: 'GET',
  path: '/api/v1/portal/consents/{id}',
  summary: 'Get a mandate with the remaining amounts of its caps',
  access: ['merchant'],
  permission: 'read payments',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: Mandate },
  errors: ['CONSENT_NOT_FOUND'],
})

/** The response to ending a mandate, by the merchant or the payer (decision 25). */
export const RevokedConsent = z.strictObject({ consent_id: Uuid, status: z.literal('REVOKED') })
export type RevokedConsent = z.infer<typeof RevokedConsent>

export const endConsent = operation({
  name: 'endConsent',
  dryRun: true,
  method: 'DELETE',
  path: '/api/v1/portal/consents/{id}',
  summary: 'End a mandate as its merchant',
  description: 'No further payment is made under the mandate.',
  access: ['merchant'],
  permission: 'create payments',
  evenIfInactive: true,
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: RevokedConsent },
  errors: ['CONSENT_NOT_FOUND', 'CONSENT_NOT_REVOCABLE'],
})
