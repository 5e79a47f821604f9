import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { sidesOf } from './movements.ts'
import type { Posting } from './movements.ts'
import { CurrencySums, LedgerBalance, MerchantBalances } from './record.ts'

/**
 * Posts movements in the transaction of what moved the money. Each is posted once: a repeat changes nothing, and one that
 * differs from what was posted is rejected.
 * @returns the number of new entries
 */
export function postMovements(tx: DatabaseTransactionConnection, postings: readonly Posting[]): Promise<number> {
  const items = postings.map((posting) => ({
    merchant_id: posting.merchantId,
    movement: posting.movement,
    subject_id: posting.subjectId,
    ...sidesOf(posting),
    amount: posting.amount,
    currency: posting.currency,
  }))
  return tx.oneFirst(sql.type(z.object({ count: z.number() }))`
    select post_ledger(array(
      select i from json_populate_recordset(null::ledger_posting, ${JSON.stringify(items)}::json) i
    )) as count
  `)
}

/**
 * Adds entries to the kept balances, `rowsMax` at most. For one merchant it waits for others that are doing so.
 * @returns how many
 */
export function foldEntries(
  tx: CommonQueryMethods,
  rowsMax: number,
  merchantId: string | null = null,
): Promise<number> {
  return tx.oneFirst(sql.type(z.object({ count: z.number() }))`
    select fold_ledger(${rowsMax}, ${merchantId}) as count
  `)
}

/** The balances of a merchant's accounts at this moment. */
export function listBalanceRows(tx: CommonQueryMethods, merchantId: string): Promise<readonly LedgerBalance[]> {
  return tx.any(sql.prepared('list_balances', LedgerBalance)`
    select currency, account, balance from ledger_balances where merchant_id = ${merchantId} order by currency, account
  `)
}

const sums = sql.fragment`
  coalesce(sum(balance) filter (where account = 'bank'), 0.0000) as bank,
  coalesce(sum(balance) filter (where account = 'clearing'), 0.0000) as clearing,
  coalesce(sum(balance) filter (where account = 'merchant_payable'), 0.0000) as merchant_payable,
  coalesce(sum(balance) filter (where account = 'held'), 0.0000) as held,
  coalesce(sum(balance) filter (where account = 'payouts_in_transit'), 0.0000) as payouts_in_transit,
  coalesce(sum(balance) filter (where account = 'fees_earned'), 0.0000) as fees_earned,
  coalesce(sum(balance) filter (where account = 'rounding'), 0.0000) as rounding
`

export type BalancesPage = {
  merchantId: string | undefined
  after: { merchantId: string; currency: string } | undefined
  limit: number
}

/** A page of balances by merchant and currency, with one row more than `limit` where there are more. */
export function listMerchantBalances(
  tx: CommonQueryMethods,
  { merchantId, after, limit }: BalancesPage,
): Promise<readonly MerchantBalances[]> {
  const isMeant = merchantId === undefined ? sql.fragment`true` : sql.fragment`merchant_id = ${merchantId}::uuid`
  const isAfter =
    after === undefined
      ? sql.fragment`true`
      : sql.fragment`(merchant_id, currency) > (${after.merchantId}::uuid, ${after.currency}::char(3))`
  return tx.any(sql.type(MerchantBalances)`
    with page as (
      select merchant_id, currency, ${sums}
      from ledger_balances
      where ${isMeant} and ${isAfter}
      group by merchant_id, currency
      order by merchant_id, currency
      limit ${limit + 1}
    )
    select page.*, m.trading_name, m.realm_slug
    from page join merchants m on m.id = page.merchant_id
    order by page.merchant_id, page.currency
  `)
}

/** The balances of the whole service by currency, or of one merchant. */
export function sumBalances(tx: CommonQueryMethods, merchantId: string | undefined): Promise<readonly CurrencySums[]> {
  const isMeant = merchantId === undefined ? sql.fragment`true` : sql.fragment`merchant_id = ${merchantId}::uuid`
  return tx.any(sql.type(CurrencySums)`
    select currency, ${sums} from ledger_balances where ${isMeant} group by currency order by currency
  `)
}
