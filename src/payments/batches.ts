import { z } from 'zod'
import { makeBatcher } from '../db/batcher.ts'
import type { Batcher } from '../db/batcher.ts'
import type { ConnectionTarget } from '../db/connection.ts'
import { PaymentStatus } from '../wire/payments.ts'
import type { NewPaymentItem } from './create.ts'
import type { PaymentMoveItem } from './move.ts'

/** What `create_payments` answers for one item; the payment's columns are null where it refused. */
export const CreateOutcome = z.object({
  ord: z.bigint(),
  outcome: z.string(),
  payment_id: z.string().nullable(),
  status: PaymentStatus.nullable(),
  end_to_end_id: z.string().nullable(),
  gross_amount: z.string().nullable(),
  fee_amount: z.string().nullable(),
  net_amount: z.string().nullable(),
  currency: z.string().nullable(),
  consent_id: z.string().nullable(),
  redirect_url: z.string().nullable(),
  expires_at: z.string().nullable(),
  created_at: z.string().nullable(),
})
export type CreateOutcome = z.infer<typeof CreateOutcome>

/** What `move_payments` answers for one item. */
export const MoveOutcome = z.object({
  ord: z.bigint(),
  outcome: z.enum(['MOVED', 'STALE']),
  status: PaymentStatus.nullable(),
  expires_at: z.string().nullable(),
})
export type MoveOutcome = z.infer<typeof MoveOutcome>

/** The two writes that carry the service's load, each batched over connections of its own. */
export type PaymentBatches = {
  create: Batcher<NewPaymentItem, CreateOutcome>
  move: Batcher<PaymentMoveItem, MoveOutcome>
}

export function makePaymentBatches(target: ConnectionTarget): PaymentBatches {
  return {
    create: makeBatcher({
      ...target,
      name: 'create_payments',
      statement: 'select * from create_payments($1)',
      parseRow: (row) => CreateOutcome.parse(row),
    }),
    move: makeBatcher({
      ...target,
      name: 'move_payments',
      statement: 'select * from move_payments($1)',
      parseRow: (row) => MoveOutcome.parse(row),
    }),
  }
}
