import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

const Paid = z.object({ is_paid: z.boolean() })

/** Whether a payment of the token was authorised: the order is paid, or its payment is in progress. */
export async function isPaid(
  tx: CommonQueryMethods,
  { merchantId, hash }: { merchantId: string; hash: string },
): Promise<boolean> {
  const { is_paid } = await tx.one(sql.prepared('is_checkout_paid', Paid)`
    select exists (
      select from payment_intents p
      where p.merchant_id = ${merchantId} and p.checkout_token_hash = ${hash}
        and p.status in ('Authorised', 'Settled', 'Refunded')
    ) as is_paid
  `)
  return is_paid
}
