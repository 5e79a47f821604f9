import { z } from 'zod'
import {
  IdParams,
  Limit,
  Money,
  NoBody,
  NoHeaders,
  None,
  Timestamp,
  Uuid,
  expecting,
  listOf,
  reasonText,
  text,
} from './common.ts'
import { OperatorAction } from './audit.ts'
import { operation } from './operation.ts'

export const KybStatus = z.enum(['PENDING', 'APPROVED', 'SUSPENDED'])
export type KybStatus = z.infer<typeof KybStatus>

const Flag = z.enum(['true', 'false']).transform((value) => value === 'true')

/** How many of a merchant's newest deliveries `recent_deliveries` counts. */
export const RECENT_DELIVERIES = 50

/** When a merchant's periods are settled (decision 259). */
export const SettlementSchedule = z.enum(['DAILY', 'WEEKLY', 'MANUAL'])
export type SettlementSchedule = z.infer<typeof SettlementSchedule>

/** A merchant as operators see it; SUPPORT sees the administrator's address masked (decision 30). */
export const AdminMerchant = z.strictObject({
  id: Uuid,
  client_id: z.string(),
  legal_name: z.string(),
  trading_name: z.string(),
  name: z.string(),
  kyb_status: KybStatus,
  fee_percentage: z.string().meta({ description: '0.0100 is 1%' }),
  fee_flat: z.string(),
  currencies: z.array(z.string()),
  payment_amount_max: Money.meta({ description: 'the largest payment' }),
  settlement_schedule: SettlementSchedule,
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

/** A merchant in a list, with the figures that the request includes. */
export const ListedMerchant = AdminMerchant.extend({
  recent_deliveries: z
    .strictObject({ delivered: z.int(), dead: z.int() })
    .optional()
    .meta({
      description: `only with "include": the outcomes of its newest ${RECENT_DELIVERIES} deliveries, without those in progress`,
    }),
})
export type ListedMerchant = z.infer<typeof ListedMerchant>

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
    include: z
      .literal('recent_deliveries')
      .optional()
      .meta({ description: 'figures to include for each merchant of the page' }),
    limit: Limit,
    cursor: z.string().max(64).optional(),
  }),
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: listOf(ListedMerchant) },
  errors: [],
})

export const getMerchant = operation({
  name: 'getMerchant',
  method: 'GET',
  path: '/api/v1/admin/merchants/{id}',
  summary: 'Get a merchant with its last 20 operator actions',
  access: ['platform'],
  permission: 'read merchants',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: AdminMerchant.extend({ actions: z.array(OperatorAction) }) },
  errors: ['MERCHANT_NOT_FOUND'],
})

/** The reason of an operator's action. Blank text is rejected. */
export const Reason = reasonText(500).optional().meta({ description: 'the reason, for the audit trail' })

export const setKybStatus = operation({
  name: 'setKybStatus',
  dryRun: true,
  method: 'PUT',
  path: '/api/v1/admin/merchants/{id}/kyb',
  summary: 'Approve, reject, suspend or reinstate a merchant',
  description: 'Setting the current status again changes nothing.',
  access: ['platform'],
  permission: 'operate merchants',
  needsFreshSignIn: true,
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({ kyb_status: KybStatus, reason: Reason, expected: expecting({ kyb_status: KybStatus }) }),
  replies: { 200: AdminMerchant },
  errors: ['MERCHANT_NOT_FOUND', 'KYB_TRANSITION_INVALID', 'CHANGED_MEANWHILE'],
})

export const setPayoutHold = operation({
  name: 'setPayoutHold',
  dryRun: true,
  method: 'PUT',
  path: '/api/v1/admin/merchants/{id}/hold',
  summary: "Hold or release a merchant's payouts",
  description: 'While its payouts are held, the merchant cannot create payments.',
  access: ['platform'],
  permission: 'operate merchants',
  needsFreshSignIn: true,
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({
    payout_held: z.boolean(),
    reason: Reason,
    expected: expecting({ payout_held: z.boolean() }),
  }),
  replies: { 200: AdminMerchant },
  errors: ['MERCHANT_NOT_FOUND', 'CHANGED_MEANWHILE'],
})

export const setMerchantActive = operation({
  name: 'setMerchantActive',
  dryRun: true,
  method: 'PUT',
  path: '/api/v1/admin/merchants/{id}/active',
  summary: 'Disable or enable a merchant',
  description:
    "A disabled merchant's realm rejects all sign-ins. Tokens that it has already live for 15 minutes at most: until then they read, refund, answer disputes and end mandates, and change nothing else.",
  access: ['platform'],
  permission: 'operate merchants',
  needsFreshSignIn: true,
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({ is_active: z.boolean(), reason: Reason, expected: expecting({ is_active: z.boolean() }) }),
  replies: { 200: AdminMerchant },
  errors: ['MERCHANT_NOT_FOUND', 'IDP_UNAVAILABLE', 'CHANGED_MEANWHILE'],
})
