import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { PaidPayment } from '../wire/checkout.ts'

/** The payment of the token that was authorised: the order is paid, or its payment is in progress. */
export function findPaidPayment(
  tx: CommonQueryMethods,
  { merchantId, hash }: { merchantId: string; hash: string },
): Promise<PaidPayment | null> {
  return tx.maybeOne(sql.prepared('find_paid_payment_of_checkout', PaidPayment)`
    select p.id as payment_id, p.status, p.end_to_end_id
    from payment_intents p
    where p.merchant_id = ${merchantId} and p.checkout_token_hash = ${hash}
      and p.status in ('Authorised', 'Settled', 'Refunded')
  `)
}

const Refusal = z.object({ refusal: z.string().nullable() })

/** Why `create_payments` would reject the payment of a token, whatever bank the payer chooses; null if it wouldn't. */
export async function findRefusal(
  tx: CommonQueryMethods,
  { merchantId, amount, currency }: { merchantId: string; amount: string; currency: string },
): Promise<string | null> {
  const { refusal } = await tx.one(sql.prepared('find_refusal_of_checkout', Refusal)`
    select payment_refusal(m, ${amount}::numeric, ${currency}) as refusal from merchants m where m.id = ${merchantId}
  `)
  return refusal
}
