import type { DatabaseTransactionConnection } from 'slonik'
import { getRequest } from './read.ts'
import type { RequestName } from './read-sql.ts'
import { notYours } from './reasons.ts'
import type { PaymentRequestRecord } from './record.ts'
import { lockRequest } from './sql.ts'

/**
 * A request of which the caller is one side, held until the transaction's end: what it is now, it stays. Nobody else's is
 * held, for whoever holds a row keeps others waiting.
 * @throws {DomainError} PAYMENT_REQUEST_NOT_FOUND
 */
export async function lockRequestForDecision(
  tx: DatabaseTransactionConnection,
  name: RequestName,
): Promise<PaymentRequestRecord> {
  const known = await getRequest(tx, name)
  await lockRequest(tx, known.id)
  // Read once more: it may have moved, or run out, while its row was waited for.
  return getRequest(tx, name)
}

/**
 * A request that the caller may accept, held as above.
 * @throws {DomainError} PAYMENT_REQUEST_NOT_FOUND, or PAYMENT_REQUEST_CLOSED for its maker
 */
export async function lockForAcceptance(
  tx: DatabaseTransactionConnection,
  name: RequestName,
): Promise<PaymentRequestRecord> {
  const request = await lockRequestForDecision(tx, name)
  if (request.counterparty_id !== name.customerId) throw notYours(request)
  return request
}
