import { z } from 'zod'

import { MERCHANT_ROLES } from '../lib/permissions.ts'
import { KybStatus, SettlementSchedule } from '../wire/admin.ts'

/** A merchant's identity. */
export const MerchantIdentity = z.object({ id: z.string(), client_id: z.string(), trading_name: z.string() })
export type MerchantIdentity = z.infer<typeof MerchantIdentity>

/** A client of a merchant's realm with its merchant, which a request's credentials resolve to (decision 46). */
export const MerchantClient = z.object({
  client_id: z.string(),
  kind: z.enum(['portal', 'server', 'cli', 'credential']),
  /** The role of a server client or credential; null for payments only. People have their role in the token. */
  role: z.enum(MERCHANT_ROLES).nullable(),
  merchant_id: z.string(),
  trading_name: z.string(),
  kyb_status: KybStatus,
  is_active: z.boolean(),
  realm_slug: z.string().nullable(),
})
export type MerchantClient = z.infer<typeof MerchantClient>

/** A merchant as operators see it. */
export const MerchantRecord = z.object({
  id: z.string(),
  client_id: z.string(),
  legal_name: z.string(),
  trading_name: z.string(),
  name: z.string(),
  kyb_status: KybStatus,
  fee_percentage: z.string(),
  fee_flat: z.string(),
  currencies: z.array(z.string()),
  payment_amount_max: z.string(),
  settlement_schedule: SettlementSchedule,
  webhook_url: z.string().nullable(),
  is_active: z.boolean(),
  realm_slug: z.string().nullable(),
  /** The longest-serving administrator. */
  admin_email: z.string().nullable(),
  payout_held: z.boolean(),
  payout_held_at: z.string().nullable(),
  payout_held_by: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type MerchantRecord = z.infer<typeof MerchantRecord>
