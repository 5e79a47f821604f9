import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { sql } from '../../db/sql.ts'
import type { SchemeName } from '../../lib/account-identification.ts'
import type { IsoReason } from '../../lib/iso-reasons.ts'
import type { OrderStatus } from '../../wire/orders.ts'
import { LockedOrder, OrderRecord } from './record.ts'

const orderColumns = sql.fragment`
  o.id, o.customer_id, o.instruction_identification, o.end_to_end_identification, o.debtor_account_id,
  o.creditor_scheme_name, o.creditor_identification, o.creditor_name, o.amount_minor, o.currency, o.reference, o.status,
  o.status_reason_code, o.recurring_payment_id, o.payment_request_id, o.created_at, o.updated_at
`

/** A payment to be executed: from a request of its own, from a run of a recurring payment, or from an acceptance. */
export type NewOrder = {
  id: string
  customerId: string
  instructionIdentification: string
  endToEndIdentification: string
  debtorAccountId: string
  creditor: { scheme: SchemeName; identification: string; name: string | null }
  amountMinor: bigint
  currency: string
  reference: string | null
  run?: { recurringPaymentId: string; day: string }
  paymentRequestId?: string
}

/** Records a payment as Pending, in the caller's transaction; false if the run has its payment already. */
export async function insertOrder(tx: DatabaseTransactionConnection, order: NewOrder): Promise<boolean> {
  const { rowCount } = await tx.query(sql.typeAlias('void')`
    insert into payment_orders (
      id, customer_id, instruction_identification, end_to_end_identification, debtor_account_id, creditor_scheme_name,
      creditor_identification, creditor_name, amount_minor, currency, reference, recurring_payment_id, run_day,
      payment_request_id
    )
    values (
      ${order.id}, ${order.customerId}, ${order.instructionIdentification}, ${order.endToEndIdentification},
      ${order.debtorAccountId}, ${order.creditor.scheme}, ${order.creditor.identification}, ${order.creditor.name},
      ${order.amountMinor}, ${order.currency}, ${order.reference}, ${order.run?.recurringPaymentId ?? null},
      ${order.run?.day ?? null}::date, ${order.paymentRequestId ?? null}
    )
    on conflict (recurring_payment_id, run_day) where recurring_payment_id is not null do nothing
  `)
  return rowCount === 1
}

/** A payment that this customer ordered. */
export function findOrder(
  tx: CommonQueryMethods,
  { customerId, id }: { customerId: string; id: string },
): Promise<OrderRecord | null> {
  return tx.maybeOne(sql.prepared('find_order', OrderRecord)`
    select ${orderColumns} from payment_orders o where o.customer_id = ${customerId} and o.id = ${id}
  `)
}

/**
 * Locks an order in this status until the transaction ends; null if it has another one. It waits for other locks: a
 * worker that is claiming orders also locks those that it finds claimed already, until its statement ends.
 */
export function lockOrder(
  tx: DatabaseTransactionConnection,
  { id, status }: { id: string; status: OrderStatus },
): Promise<LockedOrder | null> {
  return tx.maybeOne(sql.prepared('lock_order', LockedOrder)`
    select ${orderColumns}, a.name as debtor_name
    from payment_orders o
    join accounts a on a.customer_id = o.customer_id and a.id = o.debtor_account_id
    where o.id = ${id} and o.status = ${status}::order_status
    for no key update of o
  `)
}

/** Moves an order that is still in `from`; false if it is not, or if another transaction has locked it. */
export async function updateStatus(
  tx: DatabaseTransactionConnection,
  move: { id: string; from: OrderStatus; to: OrderStatus; reason: IsoReason | null },
): Promise<boolean> {
  const { rowCount } = await tx.query(sql.prepared('move_order', z.object({}))`
    update payment_orders
    set status = ${move.to}::order_status, status_reason_code = ${move.reason}, locked_until = null, updated_at = now()
    where id = (
      select id
      from payment_orders
      where id = ${move.id} and status = ${move.from}::order_status
      for no key update skip locked
    )
  `)
  return rowCount === 1
}
