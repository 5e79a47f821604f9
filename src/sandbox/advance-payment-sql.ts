import type { CommonQueryMethods } from 'slonik'
import { sql } from '../db/sql.ts'

/** Makes an authorised payment due at once; one that is due already stays as it is, and so does who works on it. */
export async function settleNow(
  db: CommonQueryMethods,
  { merchantId, id }: { merchantId: string; id: string },
): Promise<void> {
  await db.query(sql.typeAlias('void')`
    update payment_intents set settle_at = now()
    where merchant_id = ${merchantId} and id = ${id} and status = 'Authorised' and settle_at > now()
  `)
}

/** Makes a payment's PENDING refunds due at once: asking a bank twice gives money back once. */
export async function resumeAllNow(
  db: CommonQueryMethods,
  { merchantId, id }: { merchantId: string; id: string },
): Promise<void> {
  await db.query(sql.typeAlias('void')`
    update payment_refunds set resume_at = now()
    where merchant_id = ${merchantId} and payment_intent_id = ${id} and status = 'PENDING' and resume_at > now()
  `)
}
