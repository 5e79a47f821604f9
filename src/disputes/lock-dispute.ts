import type { DatabaseTransactionConnection } from 'slonik'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import type { PaymentRecord } from '../payments/record.ts'
import { lockPaymentRow } from '../payments/sql.ts'
import { findDispute, findDisputeById, lockDisputeRow } from './read-sql.ts'
import type { DisputeRecord } from './record.ts'

/** A dispute as it is named: by its merchant, or by an operator, who knows no merchant. */
export type DisputeLookup = { merchantId: string | undefined; id: string }

/**
 * Holds a dispute and its payment until the transaction's end. The payment comes first, as it does where a dispute is
 * raised: whoever takes both takes them in one order.
 * @throws {DomainError} DISPUTE_NOT_FOUND
 */
export async function lockDispute(
  tx: DatabaseTransactionConnection,
  name: DisputeLookup,
): Promise<{ dispute: DisputeRecord; payment: PaymentRecord }> {
  const found = isUuid(name.id) ? await findByLookup(tx, name) : null
  if (found === null) throw disputeNotFound()
  const payment = await lockPaymentRow(tx, { merchantId: found.merchant_id, id: found.payment_id })
  if (payment === null) throw new Error('a dispute without its payment')
  return { dispute: await lockDisputeRow(tx, { merchantId: found.merchant_id, id: found.id }), payment }
}

function findByLookup(
  tx: DatabaseTransactionConnection,
  { merchantId, id }: DisputeLookup,
): Promise<DisputeRecord | null> {
  return merchantId === undefined ? findDisputeById(tx, id) : findDispute(tx, { merchantId, id })
}

/** The same answer for an id that does not exist and for one that is somebody else's. */
export function disputeNotFound(): DomainError {
  return new DomainError('DISPUTE_NOT_FOUND', 'there is no such dispute')
}

/** Whether a dispute is at its end, where only a refund that the bank has refused can be ordered again. */
export function isResolved({ status }: Pick<DisputeRecord, 'status'>): boolean {
  return status === 'RESOLVED_MERCHANT_FAVOUR' || status === 'RESOLVED_PAYER_FAVOUR'
}

/** @param why what stands in the way beside that */
export function disputeClosed({ status }: DisputeRecord, why?: string): DomainError {
  const favoured = status === 'RESOLVED_MERCHANT_FAVOUR' ? "the merchant's" : "the payer's"
  const more = why === undefined ? '' : `, and ${why}`
  return new DomainError('DISPUTE_CLOSED', `the dispute is resolved in ${favoured} favour${more}`)
}
