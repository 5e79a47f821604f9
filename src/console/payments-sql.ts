import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { Examined, examinedOfEach } from '../db/examined-sql.ts'
import { sql } from '../db/sql.ts'
import { EXAMINED_MAX, examinedPayments, isCompared } from '../payments/list-sql.ts'
import { paymentColumns } from '../payments/sql.ts'
import type { PaymentListQuery } from '../wire/payments.ts'
import { PaymentOfMerchant } from './record.ts'

export type PageOfAll = { merchantId: string | undefined; query: PaymentListQuery; afterId: string | undefined }

const ExaminedPayment = PaymentOfMerchant.extend(Examined.shape)

/**
 * Payments of all merchants, the newest first, with one more than `limit` where there are more. Each merchant's own index
 * returns its newest ones, as with the outbox; an end-to-end id has an index of its own. The page ends with the first payment
 * that is the last one examined of its merchant.
 */
export async function listPaymentRowsOfAll(
  tx: CommonQueryMethods,
  { merchantId, query, afterId }: PageOfAll,
): Promise<readonly z.infer<typeof ExaminedPayment>[]> {
  const limit = query.limit + 1
  const after =
    afterId === undefined
      ? undefined
      : sql.fragment`select created_at, id from payment_intents where id = ${afterId}::uuid`
  const isShared = merchantId === undefined && isCompared(query)
  const examined = isShared ? await examinedOfEach(tx, EXAMINED_MAX) : EXAMINED_MAX
  const newest = examinedPayments({ merchant: sql.fragment`m.id`, query, after, examined, limit })
  return tx.any(sql.type(ExaminedPayment)`
    select ${paymentColumns}, m.realm_slug, m.trading_name, page.matches, page.is_last_examined
    from (
      select newest.*
      from merchants m
      cross join lateral (${newest}) newest
      where ${merchantCondition(merchantId, query.end_to_end_id)}
      order by newest.created_at desc, newest.id desc
      limit ${limit}
    ) page
    join merchants m on m.id = page.merchant_id
    cross join lateral (
      select found.* from payment_intents found where found.merchant_id = page.merchant_id and found.id = page.id
    ) p
    join payment_consents c on c.merchant_id = p.merchant_id and c.id = p.consent_id
    order by page.created_at desc, page.id desc
  `)
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
