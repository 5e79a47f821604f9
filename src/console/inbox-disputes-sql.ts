import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

/** What tells one dispute from another in a list. The amount is numeric(19,4) text. */
export const DisputeFacts = z.strictObject({
  id: z.string(),
  reason: z.string(),
  gross_amount: z.string(),
  currency: z.string(),
})
export type DisputeFacts = z.infer<typeof DisputeFacts>

/** The disputes of a page of the inbox, by their ids. */
export async function findDisputeFacts(
  db: CommonQueryMethods,
  ids: readonly string[],
): Promise<ReadonlyMap<string, DisputeFacts>> {
  if (ids.length === 0) return new Map()
  const rows = await db.any(sql.type(DisputeFacts)`
    select d.id, d.reason, p.gross_amount, p.currency
    from disputes d
    join payment_intents p on p.merchant_id = d.merchant_id and p.id = d.payment_intent_id
    where d.id = any (${sql.array([...ids], 'uuid')})
  `)
  return new Map(rows.map((row) => [row.id, row]))
}
