import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import type { IsoReason } from '../../lib/iso-reasons.ts'
import { mustMove } from '../../lib/machine.ts'
import type { OrderStatus } from '../../wire/orders.ts'
import { claimRows } from './open-sql.ts'
import type { Lease } from './open-sql.ts'
import type { ClaimedOrder } from './record.ts'
import { updateStatus } from './sql.ts'
import { ORDER_TRANSITIONS } from './states.ts'
import type { OrderTransition, OrderTrigger } from './states.ts'

/** A transition requested by a use case. `reason` belongs only to a rejection. */
export type OrderMove = { id: string; from: OrderStatus; on: OrderTrigger; reason?: IsoReason }

/**
 * Moves a payment order: a guarded update in the caller's transaction. Only this module writes an order's status, and
 * the transition table is its only rule.
 * @returns false if the order is no longer in `from`, or another transaction has locked it: nothing changed
 * @throws when the table has no such transition, which is a programming error
 */
export function moveOrder(tx: DatabaseTransactionConnection, { id, from, on, reason }: OrderMove): Promise<boolean> {
  const { to } = mustMove<OrderTransition>(ORDER_TRANSITIONS, from, on)
  if ((to === 'Rejected') !== (reason !== undefined)) throw new Error('a rejected order has a reason, and no other has')
  return updateStatus(tx, { id, from, to, reason: reason ?? null })
}

/**
 * Claims orders for a worker, the oldest of each account first, in one statement: Pending ones, and those of lost
 * workers, whose lease has expired. No other worker claims them during the lease.
 */
export function claimOrders(db: CommonQueryMethods, lease: Lease): Promise<readonly ClaimedOrder[]> {
  const from = 'Pending'
  const { to } = mustMove<OrderTransition>(ORDER_TRANSITIONS, from, 'execution')
  return claimRows(db, { ...lease, from, to })
}
