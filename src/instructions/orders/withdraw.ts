import type { DatabaseTransactionConnection } from 'slonik'
import { moveOrder } from './move.ts'

/**
 * Withdraws a payment that is not yet executed, in the caller's transaction: Rejected with DS02.
 * @returns false if a worker has claimed it, or is just claiming it: then it can't be withdrawn. Never waits for a
 *   worker.
 */
export function withdrawOrder(tx: DatabaseTransactionConnection, orderId: string): Promise<boolean> {
  return moveOrder(tx, { id: orderId, from: 'Pending', on: 'withdrawal', reason: 'DS02' })
}
