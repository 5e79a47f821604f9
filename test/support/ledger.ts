import { randomUUID } from 'node:crypto'
import type { Movement } from '../../src/ledger/movements.ts'
import { listBalanceRows, postMovements } from '../../src/ledger/sql.ts'
import type { TestMerchant, TestService } from './app.ts'

export type EntryRow = { movement: string; debit: string; credit: string; amount: string; currency: string }

/** The entries of a payment or a refund, by the name of their movement. */
export async function entriesOf({ owner }: Pick<TestService, 'owner'>, subjectId: string): Promise<EntryRow[]> {
  const { rows } = await owner.query<EntryRow>(
    `select movement::text as movement, debit::text as debit, credit::text as credit, amount, currency
     from ledger_entries where subject_id = $1 order by movement::text`,
    [subjectId],
  )
  return rows
}

/** A merchant's balances by currency and account, as numeric text. */
export async function balancesOf(
  { app }: Pick<TestService, 'app'>,
  { id }: TestMerchant,
): Promise<Record<string, Record<string, string>>> {
  const balances: Record<string, Record<string, string>> = {}
  for (const { currency, account, balance } of await listBalanceRows(app.pool, id))
    balances[currency] = { ...balances[currency], [account]: balance }
  return balances
}

/** Posts movements of new subjects. @returns their ids */
export async function postFor(
  { app }: Pick<TestService, 'app'>,
  merchantId: string,
  ...movements: [movement: Exclude<Movement, 'correction'>, amount: string, currency?: string][]
): Promise<string[]> {
  const postings = movements.map(([movement, amount, currency = 'GBP']) => {
    return { merchantId, movement, subjectId: randomUUID(), amount, currency }
  })
  await app.pool.transaction((tx) => postMovements(tx, postings))
  return postings.map(({ subjectId }) => subjectId)
}
