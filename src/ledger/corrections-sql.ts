import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { sql } from '../db/sql.ts'
import { CorrectionRecord } from './record.ts'

const columns = sql.fragment`id, merchant_id, currency, amount, booked_against, reference, created_by, created_at`

export type NewCorrection = Omit<CorrectionRecord, 'created_at'> & {
  idempotencyKey: string | null
  refundId: string | null
}

/** Null where the key has a correction already. */
export function insertCorrection(
  tx: DatabaseTransactionConnection,
  correction: NewCorrection,
): Promise<CorrectionRecord | null> {
  return tx.maybeOne(sql.type(CorrectionRecord)`
    insert into corrections (
      id, merchant_id, currency, amount, booked_against, reference, idempotency_key, refund_id, created_by
    )
    values (
      ${correction.id}, ${correction.merchant_id}, ${correction.currency}, ${correction.amount}::numeric,
      ${correction.booked_against}::ledger_account, ${correction.reference}, ${correction.idempotencyKey},
      ${correction.refundId}, ${correction.created_by}
    )
    on conflict (merchant_id, idempotency_key) do nothing
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
