import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { sql } from '../../db/sql.ts'
import type { PaymentRequestStatus } from '../../wire/payment-requests.ts'
import type { PaymentRequestKind } from './record.ts'

export type NewPaymentRequest = {
  id: string
  customerId: string
  counterpartyId: string
  kind: PaymentRequestKind
  name: string
  identifier: string
  amountMinor: bigint
  currency: string
  reference: string | null
  accountId: string
  payerId: string
  /** `YYYY-MM-DD`, of a request to pay: it ends with that day in London. */
  dueDate: string | null
  /** An offer, which has no due date, expires after this many days. */
  offerDays: number
}

/** Records a request as Sent. */
export async function insertRequest(tx: DatabaseTransactionConnection, request: NewPaymentRequest): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    insert into payment_requests (
      id, customer_id, counterparty_id, kind, name, identifier, amount_minor, currency, due_date, expires_at, reference,
      account_id, payer_id
    )
    values (
      ${request.id}, ${request.customerId}, ${request.counterpartyId}, ${request.kind}::payment_request_kind,
      ${request.name}, ${request.identifier}, ${request.amountMinor}, ${request.currency}, ${request.dueDate}::date,
      coalesce(
        (${request.dueDate}::date + 1)::timestamp at time zone 'Europe/London',
        now() + make_interval(days => ${request.offerDays})
      ),
      ${request.reference}, ${request.accountId}, ${request.payerId}
    )
  `)
}

/** The changes of a transition besides the status; omitted members stay as they are. */
export type RequestChanges = {
  reasonCode?: string | undefined
  counterpartyAccountId?: string | undefined
  orderId?: string | undefined
}

/** Moves a request that is still in `from`; false if it is not. */
export async function updateRequest(
  tx: DatabaseTransactionConnection,
  update: { id: string; from: PaymentRequestStatus; to: PaymentRequestStatus; changes: RequestChanges },
): Promise<boolean> {
  const { changes } = update
  const { rowCount } = await tx.query(sql.typeAlias('void')`
    update payment_requests
    set status = ${update.to}::payment_request_status, status_reason_code = ${changes.reasonCode ?? null},
      counterparty_account_id = coalesce(${changes.counterpartyAccountId ?? null}::uuid, counterparty_account_id),
      order_id = coalesce(${changes.orderId ?? null}::uuid, order_id), updated_at = clock_timestamp()
    where id = ${update.id} and status = ${update.from}::payment_request_status
  `)
  return rowCount === 1
}

/**
 * Ends overdue requests, up to a limit, and returns their count. Requests locked by a decision are left to the next
 * run. Their end is their expiry time, however late this runs.
 */
export async function updateExpired(
  tx: CommonQueryMethods,
  update: { from: PaymentRequestStatus; to: PaymentRequestStatus; reasonCode: string; limit: number },
): Promise<number> {
  const { rowCount } = await tx.query(sql.typeAlias('void')`
    update payment_requests
    set status = ${update.to}::payment_request_status, status_reason_code = ${update.reasonCode}, updated_at = expires_at
    where id in (
      select id
      from payment_requests
      where status = ${update.from}::payment_request_status and expires_at <= now()
      order by expires_at
      limit ${update.limit}
      for update skip locked
    )
  `)
  return rowCount
}

/** Locks a request until the transaction ends. */
export async function lockRequest(tx: DatabaseTransactionConnection, id: string): Promise<void> {
  await tx.query(sql.typeAlias('void')`select from payment_requests where id = ${id} for update`)
}
