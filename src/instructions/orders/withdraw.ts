import type { DatabaseTransactionConnection } from 'slonik'
import { moveOrder } from './move.ts'

/**
 * Withdraws a payment that is not yet carried out, in the caller's transaction: Rejected with DS02.
 * @returns false where a worker has taken it up, or is just taking it: it is withdrawn no more. Never waits for one.
 */
export function withdrawOrder(tx: DatabaseTransactionConnection, orderId: string): Promise<boolean> {
  return moveOrder(tx, { id: orderId, from: 'Pending', on: 'withdrawal', reason: 'DS02' })
}
