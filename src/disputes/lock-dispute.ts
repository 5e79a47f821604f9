import type { DatabaseTransactionConnection } from 'slonik'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import type { PaymentRecord } from '../payments/record.ts'
import { lockPaymentRow } from '../payments/sql.ts'
import { findDispute, findDisputeById, lockDisputeRow } from './read-sql.ts'
import type { DisputeRecord } from './record.ts'

/** A dispute's id with its merchant's; operators look up disputes of all merchants, without `merchantId`. */
export type DisputeLookup = { merchantId: string | undefined; id: string }

/**
 * Locks a dispute and its payment until the end of the transaction. The payment comes first, as it does when a dispute is
 * raised: one order for all transactions prevents deadlocks.
 * @throws {DomainError} DISPUTE_NOT_FOUND
 */
export async function lockDispute(
  tx: DatabaseTransactionConnection,
  lookup: DisputeLookup,
): Promise<{ dispute: DisputeRecord; payment: PaymentRecord }> {
  const found = isUuid(lookup.id) ? await findByLookup(tx, lookup) : null
  if (found === null) throw disputeNotFound()
  const payment = await lockPaymentRow(tx, { merchantId: found.merchant_id, id: found.payment_id })
  if (payment === null) throw new Error('the payment of a dispute is missing')
  return { dispute: await lockDisputeRow(tx, { merchantId: found.merchant_id, id: found.id }), payment }
}

function findByLookup(
  tx: DatabaseTransactionConnection,
  { merchantId, id }: DisputeLookup,
): Promise<DisputeRecord | null> {
  return merchantId === undefined ? findDisputeById(tx, id) : findDispute(tx, { merchantId, id })
}

/** The same error for an unknown id and for another merchant's dispute, so that ids can't be probed. */
export function disputeNotFound(): DomainError {
  return new DomainError('DISPUTE_NOT_FOUND', 'dispute not found')
}

/** Whether a dispute is resolved; after that only a refund that the bank refused can be ordered again. */
export function isResolved({ status }: Pick<DisputeRecord, 'status'>): boolean {
  return status === 'RESOLVED_MERCHANT_FAVOUR' || status === 'RESOLVED_PAYER_FAVOUR'
}

/** @param reason a further reason why the request is rejected */
export function disputeClosed({ status }: DisputeRecord, reason?: string): DomainError {
  const favoured = status === 'RESOLVED_MERCHANT_FAVOUR' ? "the merchant's" : "the payer's"
  const more = reason === undefined ? '' : `, and ${reason}`
  return new DomainError('DISPUTE_CLOSED', `the dispute is resolved in ${favoured} favour${more}`, {
    current: { status },
  })
}
