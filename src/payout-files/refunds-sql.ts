import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { sql } from '../db/sql.ts'
import { refundAccount } from '../payments/refunds/sql.ts'
import { FileRefund } from './record.ts'
import type { Page } from './sql.ts'

const columns = sql.fragment`
  r.id, r.merchant_id, r.payment_intent_id, p.currency, r.amount, r.status, r.failure_code, r.end_to_end_id, c.payer_name,
  c.id as consent_id,
  ${refundAccount}
`
const tables = sql.fragment`
  payment_refunds r
  join payment_intents p on p.merchant_id = r.merchant_id and p.id = r.payment_intent_id
  join payment_consents c on c.merchant_id = p.merchant_id and c.id = p.consent_id
`

/** Refunds that wait for a file, the longest first. Locked. */
export function lockWaitingRefunds(
  tx: DatabaseTransactionConnection,
  { limit, after }: Page<Pick<FileRefund, 'merchant_id' | 'id'>>,
): Promise<readonly FileRefund[]> {
  const isBehind =
    after === undefined
      ? sql.fragment`true`
      : sql.fragment`(r.created_at, r.id) > (
          select a.created_at, a.id from payment_refunds a
          where a.merchant_id = ${after.merchant_id} and a.id = ${after.id}
        )`
  return tx.any(sql.type(FileRefund)`
    select ${columns} from ${tables}
    where r.status = 'PENDING' and r.end_to_end_id is not null and r.file_id is null and ${isBehind}
    order by r.created_at, r.id
    limit ${limit + 1}
    for update of r
  `)
}

/**
 * The refunds of a file, in the order of their payments. Not locked: what ends a refund locks its payment first, and only
 * one that is PENDING ends.
 */
export function listRefundsOfFile(tx: CommonQueryMethods, fileId: string): Promise<readonly FileRefund[]> {
  return tx.any(sql.type(FileRefund)`
    select ${columns} from ${tables} where r.file_id = ${fileId} order by r.payment_intent_id, r.created_at, r.id
  `)
}
