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
 * Moves a request, in a transaction of the caller's who holds its row. This module alone writes the status, and the
 * transition table is its only rule.
 * @throws when the table has no such move or the request is elsewhere, which is a programmer's error
 */
export async function moveRequest(
  tx: DatabaseTransactionConnection,
  { id, from, on, changes }: RequestMove,
): Promise<void> {
  const { to } = mustMove<PaymentRequestTransition>(PAYMENT_REQUEST_TRANSITIONS, from, on)
  if (!(await updateRequest(tx, { id, from, to, changes }))) throw new Error(`a request did not move on ${on}`)
}

/** Moves requests that nobody has decided on in time, at most `limit` of them; how many there were. */
export function moveExpired(db: CommonQueryMethods, limit: number): Promise<number> {
  const { to } = mustMove<PaymentRequestTransition>(PAYMENT_REQUEST_TRANSITIONS, 'Sent', 'expiry')
  return updateExpired(db, { from: 'Sent', to, reasonCode: EXPIRED, limit })
}
