import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { runEach } from '../lib/paged-job.ts'
import { listByReference } from './by-reference-sql.ts'
import { DAYS_AFTER, DAYS_BEFORE, listDays, matchByReference, matchInOrder, matchLines } from './match-sql.ts'
import type { Matched } from './match-sql.ts'
import type { OwnAccounts } from './own-accounts.ts'
import { dayAfter, partsOfDays } from './parts-of-days.ts'
import type { Days } from './parts-of-days.ts'
import type { ByReference } from './record.ts'
import { lockStatements } from './sql.ts'

/** The surest rule first: what it has matched is gone for the next. */
export async function matchById(
  tx: DatabaseTransactionConnection,
  { paying }: Pick<OwnAccounts, 'paying'>,
): Promise<Omit<Matched, 'doubtful'>> {
  const all: Omit<Matched, 'doubtful'> = { count: 0, payouts: [], refunds: [] }
  const add = ({ count, payouts, refunds }: Matched): void => {
    all.count += count
    all.payouts.push(...payouts)
    all.refunds.push(...refunds)
  }
  for (const rule of ['END_TO_END_ID', 'END_TO_END_ID_31', 'END_TO_END_ID_18'] as const) {
    for (const days of await listDays(tx, rule)) {
      const matched = await matchLines(tx, { rule, days, paying })
      add(matched)
      if (rule !== 'END_TO_END_ID') continue
      for (const day of matched.doubtful) add(await matchInOrder(tx, { day, paying }))
    }
  }
  return all
}

/**
 * Matches lines with payments and refunds by their reference, each part of the days in a transaction of its own: none that
 * fails takes back what is known by its id, nor what other parts have found (decision 444).
 * @returns how many lines were matched
 * @throws what the first part has failed with, after all others
 */
export async function matchByReferences(pool: CommonQueryMethods): Promise<number> {
  let count = 0
  const failures: unknown[] = []
  await runEach(await pool.transaction((tx) => listDays(tx, 'REFERENCE')), {
    work: async (days) => {
      count += await pool.transaction((tx) => matchDays(tx, days))
    },
    onFailure: (error) => failures.push(error),
  })
  if (failures.length > 0) throw failures[0]
  return count
}

async function matchDays(tx: DatabaseTransactionConnection, days: Days): Promise<number> {
  await lockStatements(tx)
  const movements: ByReference[] = []
  const about = { from: dayAfter(days.from, -DAYS_BEFORE), to: dayAfter(days.to, DAYS_AFTER - 1) }
  for (const part of partsOfDays(about)) movements.push(...(await listByReference(tx, part)))
  return (await matchByReference(tx, { days, movements })).count
}
