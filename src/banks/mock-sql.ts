import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { ExecutionOrder, RefundOrder } from './connector.ts'
import type { MockBankRequest } from './mock-request.ts'

/** What the payer decided; `approve` includes approvals that the scenario turns into something else. */
export const Decision = z.enum(['approve', 'cancel'])
export type Decision = z.infer<typeof Decision>

export const Authorisation = z.strictObject({
  state: z.string(),
  end_to_end_id: z.string(),
  amount: z.string(),
  currency: z.string(),
  scenario: z.string(),
  decision: Decision,
  code: z.string().nullable(),
  bank_reference: z.string(),
})
export type Authorisation = z.infer<typeof Authorisation>

const Calls = z.strictObject({ calls: z.int() })
const Booking = z.strictObject({ payment_id: z.string(), bank_reference: z.string() })
const RefundRoom = z.strictObject({ fits: z.boolean() })

const columns = sql.fragment`state, end_to_end_id, amount, currency, scenario, decision, code, bank_reference`

/** Records the payer's first decision; null when there is one already. */
export function insertAuthorisation(
  pool: CommonQueryMethods,
  {
    request,
    decision,
    code,
    bankReference,
  }: { request: MockBankRequest; decision: Decision; code: string | null; bankReference: string },
): Promise<Authorisation | null> {
  return pool.maybeOne(sql.type(Authorisation)`
    insert into mock_bank.authorisations (
      state, consent_reference, end_to_end_id, amount, currency, payee_name, debtor_bank_id, scenario, decision, code,
      bank_reference
    )
    values (
      ${request.state}, ${request.consent}, ${request.endToEndId}, ${request.amount}, ${request.currency},
      ${request.payeeName}, ${request.debtorBankId ?? null}, ${request.scenario}, ${decision}, ${code}, ${bankReference}
    )
    on conflict (state) do nothing
    returning ${columns}
  `)
}

export function findAuthorisation(pool: CommonQueryMethods, state: string): Promise<Authorisation | null> {
  return pool.maybeOne(sql.type(Authorisation)`select ${columns} from mock_bank.authorisations where state = ${state}`)
}

/** Finds an authorisation and holds its row to the transaction's end: refunds of one payment take turns. */
export function lockAuthorisation(tx: CommonQueryMethods, state: string): Promise<Authorisation | null> {
  return tx.maybeOne(
    sql.type(Authorisation)`select ${columns} from mock_bank.authorisations where state = ${state} for update`,
  )
}

/** Counts an exchange, this one included. */
export async function countExchange(pool: CommonQueryMethods, state: string): Promise<number> {
  const row = await pool.one(sql.type(Calls)`
    update mock_bank.authorisations set exchange_calls = exchange_calls + 1 where state = ${state} returning exchange_calls as calls
  `)
  return row.calls
}

/** Counts an execution, this one included. */
export async function countExecution(pool: CommonQueryMethods, state: string): Promise<number> {
  const row = await pool.one(sql.type(Calls)`
    update mock_bank.authorisations set execution_calls = execution_calls + 1 where state = ${state} returning execution_calls as calls
  `)
  return row.calls
}

/** Takes the money, once for each end-to-end id and for each payment. */
export async function insertDebit(
  pool: CommonQueryMethods,
  order: ExecutionOrder,
  bankReference: string,
): Promise<void> {
  await pool.query(sql.typeAlias('void')`
    insert into mock_bank.bank_debits (end_to_end_id, payment_id, amount, currency, bank_reference)
    values (${order.endToEndId}, ${order.paymentId}, ${order.amount}, ${order.currency}, ${bankReference})
    on conflict do nothing
  `)
}

export function findDebit(pool: CommonQueryMethods, endToEndId: string): Promise<z.infer<typeof Booking> | null> {
  return pool.maybeOne(sql.type(Booking)`
    select payment_id, bank_reference from mock_bank.bank_debits where end_to_end_id = ${endToEndId}
  `)
}

export function findCredit(pool: CommonQueryMethods, refundId: string): Promise<z.infer<typeof Booking> | null> {
  return pool.maybeOne(sql.type(Booking)`
    select payment_id, bank_reference from mock_bank.bank_credits where refund_id = ${refundId}
  `)
}

/** Whether what was taken, less what was given back, still covers the refund; null when nothing was taken. */
export async function refundFits(tx: CommonQueryMethods, order: RefundOrder): Promise<boolean | null> {
  const row = await tx.maybeOne(sql.type(RefundRoom)`
    select d.currency = ${order.currency}
      and d.amount >= ${order.amount}::numeric + coalesce(
        (select sum(c.amount) from mock_bank.bank_credits c where c.end_to_end_id = d.end_to_end_id), 0
      ) as fits
    from mock_bank.bank_debits d
    where d.end_to_end_id = ${order.endToEndId} and d.payment_id = ${order.paymentId}
  `)
  return row?.fits ?? null
}

/** Gives the money back. */
export async function insertCredit(tx: CommonQueryMethods, order: RefundOrder, bankReference: string): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    insert into mock_bank.bank_credits (refund_id, payment_id, end_to_end_id, amount, currency, bank_reference)
    values (
      ${order.refundId}, ${order.paymentId}, ${order.endToEndId}, ${order.amount}, ${order.currency}, ${bankReference}
    )
  `)
}
