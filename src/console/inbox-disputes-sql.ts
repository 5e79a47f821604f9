import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

/** The details that distinguish a dispute in a list. The amount is numeric(19,4) text. */
export const InboxDispute = z.strictObject({
  id: z.string(),
  reason: z.string(),
  gross_amount: z.string(),
  currency: z.string(),
})
export type InboxDispute = z.infer<typeof InboxDispute>

/** The disputes of a page of the inbox. */
export function listInboxDisputes(tx: CommonQueryMethods, ids: readonly string[]): Promise<readonly InboxDispute[]> {
  return tx.any(sql.type(InboxDispute)`
    select d.id, d.reason, p.gross_amount, p.currency
    from disputes d
    join payment_intents p on p.merchant_id = d.merchant_id and p.id = d.payment_intent_id
    where d.id = any (${sql.array([...ids], 'uuid')})
  `)
}
