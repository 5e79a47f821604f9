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

/** Notes that a bank has settled a payment that had failed before (decision 278). */
export async function insertSettledAfterFailure(
  tx: CommonQueryMethods,
  payment: { id: string; merchantId: string; bankReference: string },
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    insert into unanswered_payments (payment_id, merchant_id, bank_reference)
    values (${payment.id}, ${payment.merchantId}, ${payment.bankReference})
    on conflict (payment_id) do update set bank_reference = excluded.bank_reference
  `)
}

/** What an operator is to find out: what became of an order, or, with what the bank calls it, where its money belongs. */
const Unanswered = z.object({ bank_reference: z.string().nullable() })
export type Unanswered = z.infer<typeof Unanswered>

/** Null where it is not among them. */
export function deleteUnanswered(tx: CommonQueryMethods, paymentId: string): Promise<Unanswered | null> {
  return tx.maybeOne(sql.type(Unanswered)`
    delete from unanswered_payments where payment_id = ${paymentId} returning bank_reference
  `)
}

export function findUnanswered(tx: CommonQueryMethods, paymentId: string): Promise<Unanswered | null> {
  return tx.maybeOne(sql.type(Unanswered)`
    select bank_reference from unanswered_payments where payment_id = ${paymentId}
  `)
}

/** The first of them as tasks, which operators do within `time`. */
export function unansweredPayments({ time, limit }: { time: FragmentSqlToken; limit: number }): FragmentSqlToken {
  return sql.fragment`
    (
      select case when u.bank_reference is null then 'payment_unanswered' else 'payment_settled_late' end as kind, u.payment_id as id, u.merchant_id, 1 as count, u.since,
        u.since + ${time} as due_at
      from unanswered_payments u
      order by u.since
      limit ${limit}
    )`
}
