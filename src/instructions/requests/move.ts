import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { mustMove } from '../../lib/machine.ts'
import type { PaymentRequestStatus } from '../../wire/payment-requests.ts'
import { EXPIRED } from './reasons.ts'
import { updateExpired, updateRequest } from './sql.ts'
import type { RequestChanges } from './sql.ts'
import { PAYMENT_REQUEST_TRANSITIONS } from './states.ts'
import type { PaymentRequestTransition, PaymentRequestTrigger } from './states.ts'

export type RequestMove = {
  id: string
  from: PaymentRequestStatus
  on: PaymentRequestTrigger
  changes: RequestChanges
}

/**
 * Moves a request, in the transaction of a caller who has locked its row. Only this module writes the status, and the
 * transition table is its only rule.
 * @throws when the table has no such transition or the request has another status, which is a programming error
 */
export async function moveRequest(
  tx: DatabaseTransactionConnection,
  { id, from, on, changes }: RequestMove,
): Promise<void> {
  const { to } = mustMove<PaymentRequestTransition>(PAYMENT_REQUEST_TRANSITIONS, from, on)
  if (!(await updateRequest(tx, { id, from, to, changes }))) throw new Error(`a request did not move on ${on}`)
}

/** Moves requests without a decision in time, at most `limit`, and returns their count. */
export function moveExpired(db: CommonQueryMethods, limit: number): Promise<number> {
  const { to } = mustMove<PaymentRequestTransition>(PAYMENT_REQUEST_TRANSITIONS, 'Sent', 'expiry')
  return updateExpired(db, { from: 'Sent', to, reasonCode: EXPIRED, limit })
}
