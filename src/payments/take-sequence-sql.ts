import type { DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

/** Takes the next place among a payment's webhooks, for one about the payment that is not a move of its own. */
export async function takeWebhookSequence(
  tx: DatabaseTransactionConnection,
  key: { merchantId: string; id: string },
): Promise<number> {
  const { webhook_sequence } = await tx.one(sql.type(z.object({ webhook_sequence: z.int() }))`
    update payment_intents
    set webhook_sequence = webhook_sequence + 1
    where merchant_id = ${key.merchantId} and id = ${key.id}
    returning webhook_sequence
  `)
  return webhook_sequence
}
