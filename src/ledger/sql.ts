import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { sidesOf } from './movements.ts'
import type { Posting } from './movements.ts'
import { LedgerBalance } from './record.ts'

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
  return tx.any(sql.type(LedgerBalance)`
    select currency, account, balance from ledger_balances where merchant_id = ${merchantId} order by currency, account
  `)
}
