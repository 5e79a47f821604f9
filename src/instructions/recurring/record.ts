import { z } from 'zod'
import { ISO_REASONS } from '../../lib/iso-reasons.ts'
import { OrderStatus } from '../../wire/orders.ts'
import { RecurringStatus } from '../../wire/recurring.ts'
import { PaymentTerms } from '../orders/record.ts'

/** A recurring payment as ordered, with its progress (migrations/0012_recurring_payments.sql). */
export const RecurringRecord = z.object({
  id: z.string(),
  customer_id: z.string(),
  frequency: z.string(),
  first_payment_at: z.string(),
  next_payment_at: z.string().nullable(),
  final_payment_at: z.string().nullable(),
  ...PaymentTerms.shape,
  status: RecurringStatus,
  /** Both are null when no run is left. */
  next_run_day: z.string().nullable(),
  next_run_at: z.string().nullable(),
  run_count: z.int(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type RecurringRecord = z.infer<typeof RecurringRecord>

/** A recurring payment with the payment of its last run. */
export const RecurringView = RecurringRecord.extend({
  last_order_id: z.string().nullable(),
  last_order_status: OrderStatus.nullable(),
  last_order_reason: z.enum(ISO_REASONS).nullable(),
})
export type RecurringView = z.infer<typeof RecurringView>

/** A recurring payment whose next run is due, locked by a worker. */
export const DueRecurring = RecurringRecord.extend({ next_run_day: z.string() })
export type DueRecurring = z.infer<typeof DueRecurring>
