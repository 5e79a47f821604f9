import type { CommonQueryMethods } from 'slonik'
import { sql } from '../db/sql.ts'

/** Makes an authorised payment due now; one that is due already stays as it is, including its worker's lease. */
export async function settleNow(
  tx: CommonQueryMethods,
  { merchantId, id }: { merchantId: string; id: string },
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    update payment_intents set settle_at = now()
    where merchant_id = ${merchantId} and id = ${id} and status = 'Authorised' and settle_at > now()
  `)
}

/** Makes a payment's PENDING refunds due now: the bank's idempotency key prevents a second refund. */
export async function resumeAllNow(
  tx: CommonQueryMethods,
  { merchantId, id }: { merchantId: string; id: string },
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    update payment_refunds set resume_at = now()
    where merchant_id = ${merchantId} and payment_intent_id = ${id} and status = 'PENDING' and resume_at > now()
  `)
}
