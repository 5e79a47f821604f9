import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { CorrectionRecord } from './record.ts'

const columns = sql.fragment`id, merchant_id, currency, amount, booked_against, reference, payment_id, created_by, created_at`

export type NewCorrection = Omit<CorrectionRecord, 'created_at'> & {
  idempotencyKey: string | null
  refundId: string | null
}

/** Null where the key, or the refund, has a correction already. */
export function insertCorrection(
  tx: DatabaseTransactionConnection,
  correction: NewCorrection,
): Promise<CorrectionRecord | null> {
  return tx.maybeOne(sql.type(CorrectionRecord)`
    insert into corrections (
      id, merchant_id, currency, amount, booked_against, reference, idempotency_key, refund_id, payment_id, created_by
    )
    values (
      ${correction.id}, ${correction.merchant_id}, ${correction.currency}, ${correction.amount}::numeric,
      ${correction.booked_against}::ledger_account, ${correction.reference}, ${correction.idempotencyKey},
      ${correction.refundId}, ${correction.payment_id}, ${correction.created_by}
    )
    on conflict do nothing
    returning ${columns}
  `)
}

export function findCorrectionOfKey(
  tx: CommonQueryMethods,
  { merchantId, idempotencyKey }: { merchantId: string; idempotencyKey: string | null },
): Promise<CorrectionRecord | null> {
  return tx.maybeOne(sql.type(CorrectionRecord)`
    select ${columns} from corrections where merchant_id = ${merchantId} and idempotency_key = ${idempotencyKey}
  `)
}

/** What credited a returned refund. */
export function findCorrectionOfRefund(
  tx: CommonQueryMethods,
  { merchantId, refundId }: { merchantId: string; refundId: string },
): Promise<CorrectionRecord | null> {
  return tx.maybeOne(sql.type(CorrectionRecord)`
    select ${columns} from corrections where merchant_id = ${merchantId} and refund_id = ${refundId}
  `)
}

const NamedPayment = z.object({ status: z.string(), currency: z.string(), gross_amount: z.string() })
const Added = z.object({ amount: z.string() })

/**
 * A payment that corrections may name, locked so that they take turns.
 * @returns with it the amount that those have added so far
 */
export async function lockNamedPayment(
  tx: DatabaseTransactionConnection,
  { merchantId, paymentId }: { merchantId: string; paymentId: string },
): Promise<(z.infer<typeof NamedPayment> & { added: string }) | null> {
  const payment = await tx.maybeOne(sql.type(NamedPayment)`
    select status, currency, gross_amount from payment_intents where merchant_id = ${merchantId} and id = ${paymentId}
    for no key update
  `)
  if (payment === null) return null
  // A statement of its own, which sees what was committed while the other waited.
  const added = await tx.oneFirst(sql.type(Added)`
    select coalesce(sum(amount), 0)::numeric(19, 4) as amount from corrections
    where merchant_id = ${merchantId} and payment_id = ${paymentId}
  `)
  return { ...payment, added }
}
