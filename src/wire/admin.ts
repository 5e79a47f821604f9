import { z } from 'zod'
import { IdParams, Limit, NoBody, NoHeaders, None, Timestamp, Uuid, listOf, reasonText, text } from './common.ts'
import { operation } from './operation.ts'

export const KybStatus = z.enum(['PENDING', 'APPROVED', 'SUSPENDED'])
export type KybStatus = z.infer<typeof KybStatus>

const Flag = z.enum(['true', 'false']).transform((value) => value === 'true')

/** A merchant as operators see it; SUPPORT sees the administrator's address masked (decision 30). */
export const AdminMerchant = z.strictObject({
  id: Uuid,
  client_id: z.string(),
  legal_name: z.string(),
  trading_name: z.string(),
  name: z.string(),
  kyb_status: KybStatus,
  fee_percentage: z.string().meta({ description: '0.0100 is 1 %' }),
  fee_flat: z.string(),
  webhook_url: z.string().nullable(),
  is_active: z.boolean(),
  realm_slug: z.string().nullable(),
  admin_email: z.string().nullable(),
  payout_held: z.boolean(),
  payout_held_at: Timestamp.nullable(),
  payout_held_by: z.string().nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type AdminMerchant = z.infer<typeof AdminMerchant>

/** What an operator did: who, when, why, before and after. */
export const OperatorAction = z.strictObject({
  ordinal: z.string().meta({ description: 'its place in the order of all actions' }),
  action: z.string().meta({ examples: ['merchant.kyb'] }),
  actor: z.string().meta({ description: "a person's e-mail address, or a client's id" }),
  actor_id: z.string().meta({ description: 'the `sub` of the token; it stays when an address changes hands' }),
  actor_role: z.string(),
  merchant_id: Uuid.nullable(),
  realm_slug: z.string().nullable().meta({ description: "the merchant's realm" }),
  subject_id: z.string(),
  reason: z.string().nullable(),
  before: z.record(z.string(), z.unknown()).nullable(),
  after: z.record(z.string(), z.unknown()).nullable(),
  created_at: Timestamp,
  action_hash: z.string(),
})
export type OperatorAction = z.infer<typeof OperatorAction>

export const listMerchants = operation({
  name: 'listMerchants',
  method: 'GET',
  path: '/api/v1/admin/merchants',
  summary: 'List merchants',
  access: ['platform'],
  permission: 'read merchants',
  params: None,
  query: z.strictObject({
    kyb_status: KybStatus.optional(),
    payout_held: Flag.optional(),
    is_active: Flag.optional(),
    search: text(140).optional().meta({ description: 'part of a name or of the realm' }),
    order: z.enum(['newest', 'oldest']).default('newest'),
    limit: Limit,
    cursor: z.string().max(64).optional(),
  }),
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: listOf(AdminMerchant) },
  errors: [],
})

export const getMerchant = operation({
  name: 'getMerchant',
  method: 'GET',
  path: '/api/v1/admin/merchants/{id}',
  summary: 'Get a merchant, with the last 20 things that operators did to it',
  access: ['platform'],
  permission: 'read merchants',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: AdminMerchant.extend({ actions: z.array(OperatorAction) }) },
  errors: ['MERCHANT_NOT_FOUND'],
})

/** Why an operator does something. A blank says nothing, so it is refused. */
export const Reason = reasonText(500).optional().meta({ description: 'why; it stands in the audit trail' })

export const setKybStatus = operation({
  name: 'setKybStatus',
  method: 'PUT',
  path: '/api/v1/admin/merchants/{id}/kyb',
  summary: 'Approve, refuse, suspend or reinstate a merchant; the status it has already is no change',
  access: ['platform'],
  permission: 'operate merchants',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({ kyb_status: KybStatus, reason: Reason }),
  replies: { 200: AdminMerchant },
  errors: ['MERCHANT_NOT_FOUND', 'KYB_TRANSITION_INVALID'],
})

export const setPayoutHold = operation({
  name: 'setPayoutHold',
  method: 'PUT',
  path: '/api/v1/admin/merchants/{id}/hold',
  summary: "Hold a merchant's payouts, or release them; while held it creates no payments",
  access: ['platform'],
  permission: 'operate merchants',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({ payout_held: z.boolean(), reason: Reason }),
  replies: { 200: AdminMerchant },
  errors: ['MERCHANT_NOT_FOUND'],
})

export const setMerchantActive = operation({
  name: 'setMerchantActive',
  method: 'PUT',
  path: '/api/v1/admin/merchants/{id}/active',
  summary: 'Disable a merchant, whose realm then signs nobody in, or enable it again',
  access: ['platform'],
  permission: 'operate merchants',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({ is_active: z.boolean(), reason: Reason }),
  replies: { 200: AdminMerchant },
  errors: ['MERCHANT_NOT_FOUND', 'IDP_UNAVAILABLE'],
})

export const listAudit = operation({
  name: 'listAudit',
  method: 'GET',
  path: '/api/v1/admin/audit',
  summary: 'List what operators did, the newest first',
  access: ['platform'],
  permission: 'administer platform',
  params: None,
  query: z.strictObject({
    merchant_id: z.string().optional(),
    action: text(64).optional(),
    actor: text(254).optional(),
    limit: Limit,
    cursor: z.string().max(64).optional(),
  }),
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: listOf(OperatorAction) },
  errors: [],
})
