import type { DatabaseTransactionConnection } from 'slonik'
import { moveRequest } from './move.ts'

/** The outcome of the payment of an accepted request. */
export type OrderEnd =
  | { paymentRequestId: string; outcome: 'booked' }
  | { paymentRequestId: string; outcome: 'refused'; reasonCode: string }

/** Ends an accepted request with its payment, in the transaction that ends the payment (decision 5). */
export async function endWithOrder(tx: DatabaseTransactionConnection, end: OrderEnd): Promise<void> {
  const { paymentRequestId: id } = end
  await (end.outcome === 'booked'
    ? moveRequest(tx, { id, from: 'Accepted', on: 'payment', changes: {} })
    : moveRequest(tx, { id, from: 'Accepted', on: 'payment rejected', changes: { reasonCode: end.reasonCode } }))
}
