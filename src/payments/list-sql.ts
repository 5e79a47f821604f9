import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import type { z } from 'zod'
import { Examined, examinedRows } from '../db/examined-sql.ts'
import { sql } from '../db/sql.ts'
import type { PaymentListQuery } from '../wire/payments.ts'
import { PaymentRecord } from './record.ts'
import { keyedPaymentTables, paymentColumns, paymentTables } from './sql.ts'

/**
 * How many of a merchant's payments a statement examines (decision 389): so few that it costs little also where the planner
 * reads and sorts all of a merchant who has not many more, before a page of frequent ones could end early.
 */
export const EXAMINED_MAX = 5_000

/** Filters of a list of payments, and the last payment of the page before. */
export type PaymentPage = { merchantId: string; query: PaymentListQuery; afterId: string | undefined }

type ExaminedInput = {
  /** The merchant's id as SQL: a value, or a column of the statement around it. */
  merchant: FragmentSqlToken
  query: PaymentListQuery
  /** The place of the last payment of the page before, as a selection of its `created_at` and `id`. */
  after: FragmentSqlToken | undefined
  /** How many payments it examines at most, and how many of them it returns. */
  examined: number
  limit: number
}

/**
 * A merchant's newest payments that match: what an index has decides which payments are examined, and the other filters are
 * compared with each of them.
 */
export function examinedPayments({ merchant, query, after, examined, limit }: ExaminedInput): FragmentSqlToken {
  const candidates = (count: number): FragmentSqlToken => sql.fragment`
    select p.merchant_id, p.id, p.created_at, p.status, p.currency, p.gross_amount, p.consent_id
    from payment_intents p
    where ${sql.join(indexedConditions({ merchant, query, after }), sql.fragment` and `)}
    order by p.created_at desc, p.id desc
    limit ${count}`
  return examinedRows({ candidates, matches: comparedConditions(query), examined, limit })
}

/** Whether filters are compared with each payment. */
export function isCompared(query: PaymentListQuery): boolean {
  return comparedConditions(query).length > 0
}

function indexedConditions({ merchant, query, after }: Pick<ExaminedInput, 'merchant' | 'query' | 'after'>) {
  const { status, from, to, end_to_end_id: endToEndId } = query
  const conditions = [sql.fragment`p.merchant_id = ${merchant}`]
  if (hasIndex(status)) conditions.push(sql.fragment`p.status = ${status}::payment_status`)
  if (from !== undefined) conditions.push(sql.fragment`p.created_at >= ${from}::timestamptz`)
  if (to !== undefined) conditions.push(sql.fragment`p.created_at < ${to}::timestamptz`)
  if (endToEndId !== undefined) conditions.push(sql.fragment`p.end_to_end_id = ${endToEndId}`)
  if (after !== undefined) conditions.push(sql.fragment`(p.created_at, p.id) < (${after})`)
  return conditions
}

function hasIndex(status: PaymentListQuery['status']): status is 'Failed' | 'Refunded' {
  return status === 'Failed' || status === 'Refunded'
}

function comparedConditions({ status, currency, ...query }: PaymentListQuery): FragmentSqlToken[] {
  const conditions: FragmentSqlToken[] = []
  if (status !== undefined && !hasIndex(status)) conditions.push(sql.fragment`o.status = ${status}::payment_status`)
  if (currency !== undefined) conditions.push(sql.fragment`o.currency = ${currency}`)
  if (query.min_amount !== undefined) conditions.push(sql.fragment`o.gross_amount >= ${query.min_amount}::numeric`)
  if (query.max_amount !== undefined) conditions.push(sql.fragment`o.gross_amount <= ${query.max_amount}::numeric`)
  if (query.bank_id !== undefined)
    conditions.push(sql.fragment`coalesce((
      select c.debtor_bank_id = ${query.bank_id}
      from payment_consents c
      where c.merchant_id = o.merchant_id and c.id = o.consent_id
    ), false)`)
  return conditions
}

/** The examined payments of one merchant's page, with one more than its limit where there are more. */
export function examinedPage({ merchantId, query, afterId }: PaymentPage): FragmentSqlToken {
  const merchant = sql.fragment`${merchantId}::uuid`
  const after =
    afterId === undefined
      ? undefined
      : sql.fragment`
          select created_at, id from payment_intents where merchant_id = ${merchant} and id = ${afterId}::uuid`
  return examinedPayments({ merchant, query, after, examined: EXAMINED_MAX, limit: query.limit + 1 })
}

const ExaminedPayment = PaymentRecord.extend(Examined.shape)
export type ExaminedPayment = z.infer<typeof ExaminedPayment>

/** A page of one merchant's payments, the newest first: `examinedPage` with the payments' columns. */
export function listPaymentRows(tx: CommonQueryMethods, page: PaymentPage): Promise<readonly ExaminedPayment[]> {
  // Filters make many texts, and the best plan depends on their values. So does that of a later page: a plan for the
  // average merchant may look for its first row in all of a merchant's.
  if (page.afterId !== undefined || hasFilter(page.query))
    return tx.any(sql.type(ExaminedPayment)`
      select ${paymentColumns}, page.matches, page.is_last_examined
      from (${examinedPage(page)}) page
      join ${paymentTables} on p.merchant_id = page.merchant_id and p.id = page.id
      order by page.created_at desc, page.id desc`)
  return tx.any(sql.prepared('list_payments', ExaminedPayment)`
    select ${paymentColumns}, true as matches, false as is_last_examined
    from ${keyedPaymentTables}
    where p.merchant_id = ${page.merchantId}
    order by p.created_at desc, p.id desc
    limit ${page.query.limit + 1}
  `)
}

function hasFilter({ limit: _limit, cursor: _cursor, ...filters }: PaymentListQuery): boolean {
  return Object.values(filters).some((value) => value !== undefined)
}
