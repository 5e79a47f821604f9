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

/** A move that a use case asks for. `reason` belongs to a rejection and to nothing else. */
export type OrderMove = { id: string; from: OrderStatus; on: OrderTrigger; reason?: IsoReason }

/**
 * Moves a payment order: a guarded update in the caller's transaction. This module alone writes an order's status, and
 * the transition table is its only rule.
 * @returns false where the order is no longer in `from`, or another transaction holds it: nothing changed
 * @throws when the table has no such move, which is a programmer's error
 */
export function moveOrder(tx: DatabaseTransactionConnection, { id, from, on, reason }: OrderMove): Promise<boolean> {
  const { to } = mustMove<OrderTransition>(ORDER_TRANSITIONS, from, on)
  if ((to === 'Rejected') !== (reason !== undefined)) throw new Error('a rejected order has a reason, and no other has')
  return updateStatus(tx, { id, from, to, reason: reason ?? null })
}

/**
 * Takes orders for a worker, of each account the oldest first, in a statement of its own: those that are Pending, and
 * those whose worker was lost, which its lease tells. Nobody else takes them while the lease lasts.
 */
export function claimOrders(db: CommonQueryMethods, lease: Lease): Promise<readonly ClaimedOrder[]> {
  const from = 'Pending'
  const { to } = mustMove<OrderTransition>(ORDER_TRANSITIONS, from, 'execution')
  return claimRows(db, { ...lease, from, to })
}
