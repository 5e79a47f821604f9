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

/** False where it was not among them. */
export async function deleteUnanswered(tx: CommonQueryMethods, paymentId: string): Promise<boolean> {
  const { rowCount } = await tx.query(sql.type(z.object({}))`
    delete from unanswered_payments where payment_id = ${paymentId}
  `)
  return rowCount === 1
}

export function isUnanswered(tx: CommonQueryMethods, paymentId: string): Promise<boolean> {
  return tx.exists(sql.type(z.object({}))`select from unanswered_payments where payment_id = ${paymentId}`)
}

/** The first of them as tasks, which operators do within `time`. */
export function unansweredPayments({ time, limit }: { time: FragmentSqlToken; limit: number }): FragmentSqlToken {
  return sql.fragment`
    (
      select 'payment_unanswered' as kind, u.payment_id as id, u.merchant_id, 1 as count, u.since,
        u.since + ${time} as due_at
      from unanswered_payments u
      order by u.since
      limit ${limit}
    )`
}
