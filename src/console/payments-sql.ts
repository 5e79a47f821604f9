import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { filterConditions, paymentColumns } from '../payments/sql.ts'
import type { PaymentListQuery } from '../wire/payments.ts'
import { PaymentOfMerchant } from './record.ts'

/** How many payments a filter examines of one merchant, and of each in a list of all. */
const EXAMINED_MAX = 20_000
const EXAMINED_OF_EACH_MAX = 200

export type PageOfAll = { merchantId: string | undefined; query: PaymentListQuery; afterId: string | undefined }

/**
 * Payments of all merchants, the newest first, with one more than `limit` where there are more. Each merchant's own index
 * returns its newest ones, as with the outbox; an end-to-end id has an index of its own.
 */
export function listPaymentRowsOfAll(
  tx: CommonQueryMethods,
  { merchantId, query, afterId }: PageOfAll,
): Promise<readonly PaymentOfMerchant[]> {
  const limit = query.limit + 1
  return tx.any(sql.type(PaymentOfMerchant)`
    select ${paymentColumns}, m.realm_slug, m.trading_name
    from (
      select newest.merchant_id, newest.id
      from merchants m
      cross join lateral (${newestOf({ query, afterId, limit, examined: merchantId === undefined ? EXAMINED_OF_EACH_MAX : EXAMINED_MAX })}) newest
      where ${merchantCondition(merchantId, query.end_to_end_id)}
      order by newest.created_at desc, newest.id desc
      limit ${limit}
    ) page
    join merchants m on m.id = page.merchant_id
    cross join lateral (
      select found.* from payment_intents found where found.merchant_id = page.merchant_id and found.id = page.id
    ) p
    join payment_consents c on c.merchant_id = p.merchant_id and c.id = p.consent_id
    order by p.created_at desc, p.id desc
  `)
}

type Newest = Omit<PageOfAll, 'merchantId'> & { limit: number; examined: number }

/** The newest payments of merchant `m` that the filter leaves, of at most `examined` that lie in its time. */
function newestOf({ query, afterId, limit, examined }: Newest): FragmentSqlToken {
  const { from, to, ...others } = query
  const place = sql.fragment`(select a.created_at, a.id from payment_intents a where a.id = ${afterId ?? null}::uuid)`
  const inTime = [
    sql.fragment`o.merchant_id = m.id`,
    ...(from === undefined ? [] : [sql.fragment`o.created_at >= ${from}::timestamptz`]),
    ...(to === undefined ? [] : [sql.fragment`o.created_at < ${to}::timestamptz`]),
    ...(afterId === undefined ? [] : [sql.fragment`(o.created_at, o.id) < ${place}`]),
    ...(query.end_to_end_id === undefined ? [] : [sql.fragment`o.end_to_end_id = ${query.end_to_end_id}`]),
  ]
  const filters = filterConditions(others)
  const kept = filters.length === 0 ? sql.fragment`true` : sql.join(filters, sql.fragment` and `)
  // Without a filter every examined payment is returned.
  const examinedMax = filters.length === 0 ? limit : examined
  return sql.fragment`
    select p.merchant_id, p.id, p.created_at
    from (
      select o.* from payment_intents o
      where ${sql.join(inTime, sql.fragment` and `)}
      order by o.created_at desc, o.id desc
      limit ${examinedMax}
    ) p
    ${query.bank_id === undefined ? sql.fragment`` : sql.fragment`join payment_consents c on c.merchant_id = p.merchant_id and c.id = p.consent_id`}
    where ${kept}
    order by p.created_at desc, p.id desc
    limit ${limit}`
}

function merchantCondition(merchantId: string | undefined, endToEndId: string | undefined): FragmentSqlToken {
  const own = merchantId === undefined ? sql.fragment`true` : sql.fragment`m.id = ${merchantId}::uuid`
  if (endToEndId === undefined) return own
  return sql.fragment`${own} and m.id = (select p.merchant_id from payment_intents p where p.end_to_end_id = ${endToEndId})`
}

const PaymentMerchant = z.strictObject({
  merchant_id: z.string(),
  realm_slug: z.string().nullable(),
  trading_name: z.string(),
})

/** The merchant of a payment; null for an unknown payment. */
export function findPaymentMerchant(
  tx: CommonQueryMethods,
  id: string,
): Promise<z.infer<typeof PaymentMerchant> | null> {
  return tx.maybeOne(sql.type(PaymentMerchant)`
    select p.merchant_id, m.realm_slug, m.trading_name
    from payment_intents p join merchants m on m.id = p.merchant_id
    where p.id = ${id}
  `)
}
