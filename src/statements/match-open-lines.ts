import type { DatabaseTransactionConnection } from 'slonik'
import { listDays, matchInOrder, matchLines } from './match-sql.ts'
import type { Matched } from './match-sql.ts'
import type { OwnAccounts } from './own-accounts.ts'

/** The surest rule first: what it has matched is gone for the next. */
export async function matchOpenLines(
  tx: DatabaseTransactionConnection,
  { paying }: Pick<OwnAccounts, 'paying'>,
): Promise<Omit<Matched, 'doubtful'>> {
  const all: Omit<Matched, 'doubtful'> = { count: 0, payouts: [], refunds: [] }
  const add = ({ count, payouts, refunds }: Matched): void => {
    all.count += count
    all.payouts.push(...payouts)
    all.refunds.push(...refunds)
  }
  for (const rule of ['END_TO_END_ID', 'END_TO_END_ID_31', 'END_TO_END_ID_18', 'REFERENCE'] as const) {
    for (const days of await listDays(tx, rule)) {
      const matched = await matchLines(tx, { rule, days, paying })
      add(matched)
      if (rule !== 'END_TO_END_ID') continue
      for (const day of matched.doubtful) add(await matchInOrder(tx, { day, paying }))
    }
  }
  return all
}
