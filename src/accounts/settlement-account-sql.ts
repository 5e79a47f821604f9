import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

const Found = z.strictObject({ id: z.string() })
type Found = z.infer<typeof Found>
const Locked = z.strictObject({ locked: z.unknown() })

/** The merchant's first business account in this currency; null if there is none yet. */
export function findSettlementAccount(
  tx: CommonQueryMethods,
  { merchantId, currency }: { merchantId: string; currency: string },
): Promise<Found | null> {
  return tx.maybeOne(sql.prepared('find_settlement_account', Found)`
    select a.id
    from customers c
    join accounts a on a.customer_id = c.id
    where c.merchant_id = ${merchantId} and a.currency = ${currency} and a.account_type = 'Business'
      and a.account_sub_type = 'CurrentAccount'
    order by a.created_at, a.id
    limit 1
  `)
}

/** Serialises transactions that open accounts for a merchant. */
export async function lockSettlementAccounts(tx: CommonQueryMethods, merchantId: string): Promise<void> {
  await tx.one(sql.type(Locked)`
    select pg_advisory_xact_lock(hashtextextended(${`settlement accounts ${merchantId}`}, 0)) as locked
  `)
}

/** Finds or creates the bank customer of a merchant; serialised by `lockSettlementAccounts`. */
export function ensureMerchantCustomer(
  tx: CommonQueryMethods,
  { id, merchantId, name }: { id: string; merchantId: string; name: string },
): Promise<Found> {
  return tx.one(sql.type(Found)`
    with made as (
      insert into customers (id, external_customer_id, name, merchant_id)
      values (${id}, ${`merchant-${merchantId}`}, left(${name}, 140), ${merchantId})
      on conflict (merchant_id) do nothing
      returning id
    )
    select id from made
    union all
    select id from customers where merchant_id = ${merchantId}
  `)
}
