import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { DisputeStatus } from '../wire/dispute-fields.ts'

const DisputeState = z.strictObject({ id: z.uuid(), status: DisputeStatus })
export type DisputeState = z.infer<typeof DisputeState>

/** The newest dispute of a payment; null if it was never disputed. */
export function findNewestDispute(
  tx: CommonQueryMethods,
  { merchantId, paymentId }: { merchantId: string; paymentId: string },
): Promise<DisputeState | null> {
  return tx.maybeOne(sql.type(DisputeState)`
    select id, status from disputes
    where merchant_id = ${merchantId} and payment_intent_id = ${paymentId}
    order by created_at desc, id desc
    limit 1
  `)
}
