import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../../app.ts'
import { withdrawOrder } from '../orders/withdraw.ts'
import { lockRequestForDecision } from './lock-request.ts'
import { moveRequest } from './move.ts'
import { getRequest } from './get-request.ts'
import type { RequestName } from './read-sql.ts'
import { REJECTED_BY_CUSTOMER, WITHDRAWN, requestClosed } from './reasons.ts'
import type { PaymentRequestRecord } from './record.ts'

/**
 * Ends a request. Its payer, or an offer's payee, rejects it, or withdraws it with its payment after accepting it,
 * while that is not in progress (decision 5). Its requester withdraws it while it is undecided.
 * @throws {DomainError} PAYMENT_REQUEST_NOT_FOUND, PAYMENT_REQUEST_CLOSED
 */
export async function rejectRequest(app: Pick<App, 'pool'>, name: RequestName): Promise<PaymentRequestRecord> {
  return app.pool.transaction(async (tx) => {
    const request = await lockRequestForDecision(tx, name)
    const { id, status } = request
    const isMaker = request.customer_id === name.customerId
    if (status === 'Sent' && !isMaker) {
      await moveRequest(tx, { id, from: status, on: 'rejection', changes: { reasonCode: REJECTED_BY_CUSTOMER } })
    } else {
      const canEnd = isMaker ? status === 'Sent' : await isWithdrawn(tx, request)
      if (!canEnd) throw requestClosed(request)
      await moveRequest(tx, { id, from: status, on: 'withdrawal', changes: { reasonCode: WITHDRAWN } })
    }
    return getRequest(tx, name)
  })
}

/**
 * A worker locks the payment before its request. No deadlock is possible, because a withdrawal never waits for a
 * worker.
 */
async function isWithdrawn(tx: DatabaseTransactionConnection, request: PaymentRequestRecord): Promise<boolean> {
  const { status, order_id: orderId } = request
  return status === 'Accepted' && orderId !== null && withdrawOrder(tx, orderId)
}
