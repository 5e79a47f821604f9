import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { DueSettlement } from './record.ts'

/** Notes that an operator must find out what became of a payment's order (decision 273). */
export async function insertUnanswered(
  tx: CommonQueryMethods,
  { id, merchant_id: merchantId }: Pick<DueSettlement, 'id' | 'merchant_id'>,
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    insert into unanswered_payments (payment_id, merchant_id) values (${id}, ${merchantId}) on conflict do nothing
  `)
}

/** How long a bank may leave a payment open before an operator asks it: since its authorisation, or since it was asked (decision 426). */
const OPEN_DAYS_MAX = 3

/** Notes the same of a payment that its bank has left open for so long since its authorisation, although it is asked. */
export async function insertIfOpenTooLong(
  tx: CommonQueryMethods,
  { id, merchant_id: merchantId }: Pick<DueSettlement, 'id' | 'merchant_id'>,
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    insert into unanswered_payments (payment_id, merchant_id)
    select id, merchant_id
    from payment_intents
    where merchant_id = ${merchantId} and id = ${id} and status = 'Authorised'
      and sandbox_moved_moment(merchant_id, updated_at) <= now() - make_interval(days => ${OPEN_DAYS_MAX})
    on conflict do nothing
  `)
}

/** Ends the task of a payment whose bank has said what became of it; not one of money that came too late. */
export async function clearUnanswered(tx: CommonQueryMethods, paymentId: string): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    delete from unanswered_payments where payment_id = ${paymentId} and bank_reference is null
  `)
}

/** Notes that a bank has settled a payment that had failed before (decision 278). */
export async function insertSettledAfterFailure(
  tx: CommonQueryMethods,
  payment: { id: string; merchantId: string; bankReference: string },
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    insert into unanswered_payments (payment_id, merchant_id, bank_reference)
    values (${payment.id}, ${payment.merchantId}, ${payment.bankReference})
    on conflict (payment_id) do update
      set bank_reference = excluded.bank_reference, since = least(unanswered_payments.since, excluded.since)
  `)
}

/** Not where an operator has the bank's word that it took the order, and the bank may yet say what became of it. */
const isDue = sql.fragment`since <= now()`

/** What an operator is to find out: what became of an order, or, with what the bank calls it, where its money belongs. */
const Unanswered = z.object({ bank_reference: z.string().nullable() })
export type Unanswered = z.infer<typeof Unanswered>

/** Puts the task off, while the bank is asked by its id of the payment. False where it is none. */
export async function putOffUnanswered(tx: CommonQueryMethods, paymentId: string): Promise<boolean> {
  const { rowCount } = await tx.query(sql.type(z.object({}))`
    update unanswered_payments set since = now() + make_interval(days => ${OPEN_DAYS_MAX})
    where payment_id = ${paymentId} and bank_reference is null and ${isDue}
  `)
  return rowCount === 1
}

/** Null where it is not among them. */
export function deleteUnanswered(tx: CommonQueryMethods, paymentId: string): Promise<Unanswered | null> {
  return tx.maybeOne(sql.type(Unanswered)`
    delete from unanswered_payments where payment_id = ${paymentId} and ${isDue} returning bank_reference
  `)
}

export function findUnanswered(tx: CommonQueryMethods, paymentId: string): Promise<Unanswered | null> {
  return tx.maybeOne(sql.type(Unanswered)`
    select bank_reference from unanswered_payments where payment_id = ${paymentId} and ${isDue}
  `)
}

/**
 * Whether the row `u` is a task for the payment `p`: not while it is put off, nor where the bank has answered since, and a
 * worker that noted its silence was slower, or died before it removed the row.
 */
export const isOpenTask = sql.fragment`(u.bank_reference is not null or p.status = 'Authorised' and u.since <= now())`

/** The first of them as tasks, which operators do within `time`. */
export function unansweredPayments({ time, limit }: { time: FragmentSqlToken; limit: number }): FragmentSqlToken {
  return sql.fragment`
    (
      select case when u.bank_reference is null then 'payment_unanswered' else 'payment_settled_late' end as kind, u.payment_id as id, u.merchant_id, 1 as count, u.since,
        u.since + ${time} as due_at
      from unanswered_payments u
      join payment_intents p on p.merchant_id = u.merchant_id and p.id = u.payment_id
      where ${isOpenTask}
      order by u.since
      limit ${limit}
    )`
}
