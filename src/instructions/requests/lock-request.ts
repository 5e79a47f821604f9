import type { DatabaseTransactionConnection } from 'slonik'
import { getRequest } from './get-request.ts'
import type { RequestName } from './read-sql.ts'
import { notYours } from './reasons.ts'
import type { PaymentRequestRecord } from './record.ts'
import { lockRequest } from './sql.ts'

/**
 * A request of which the caller is one side, locked until the transaction ends. Requests of other customers are never
 * locked, because a lock delays their owners.
 * @throws {DomainError} PAYMENT_REQUEST_NOT_FOUND
 */
export async function lockRequestForDecision(
  tx: DatabaseTransactionConnection,
  name: RequestName,
): Promise<PaymentRequestRecord> {
  const known = await getRequest(tx, name)
  await lockRequest(tx, known.id)
  // Read again: it may have moved, or expired, while waiting for the lock.
  return getRequest(tx, name)
}

/**
 * A request that the caller may accept, locked as above.
 * @throws {DomainError} PAYMENT_REQUEST_NOT_FOUND, or PAYMENT_REQUEST_CLOSED for its requester
 */
export async function lockForAcceptance(
  tx: DatabaseTransactionConnection,
  name: RequestName,
): Promise<PaymentRequestRecord> {
  const request = await lockRequestForDecision(tx, name)
  if (request.counterparty_id !== name.customerId) throw notYours(request)
  return request
}
