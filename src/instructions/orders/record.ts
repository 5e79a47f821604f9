import { z } from 'zod'
import { SCHEME_NAMES } from '../../lib/account-identification.ts'
import { ISO_REASONS } from '../../lib/iso-reasons.ts'
import { OrderStatus } from '../../wire/orders.ts'

/** Debtor, creditor and amount: of one payment, and of each run of a recurring one. */
export const PaymentTerms = z.object({
  debtor_account_id: z.string(),
  creditor_scheme_name: z.enum(SCHEME_NAMES),
  creditor_identification: z.string(),
  creditor_name: z.string().nullable(),
  amount_minor: z.bigint(),
  currency: z.string(),
  reference: z.string().nullable(),
})

/** A payment as ordered, with its status (migrations/0013_payment_orders.sql). */
export const OrderRecord = z.object({
  id: z.string(),
  customer_id: z.string(),
  instruction_identification: z.string(),
  end_to_end_identification: z.string(),
  ...PaymentTerms.shape,
  status: OrderStatus,
  status_reason_code: z.enum(ISO_REASONS).nullable(),
  recurring_payment_id: z.string().nullable(),
  payment_request_id: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type OrderRecord = z.infer<typeof OrderRecord>

/** A payment claimed by a worker, with the columns that it needs before locking it. */
export const ClaimedOrder = OrderRecord.pick({ id: true, debtor_account_id: true })
export type ClaimedOrder = z.infer<typeof ClaimedOrder>

/** A payment locked by a worker, with the debtor's name for the other side. */
export const LockedOrder = OrderRecord.extend({ debtor_name: z.string() })
export type LockedOrder = z.infer<typeof LockedOrder>
