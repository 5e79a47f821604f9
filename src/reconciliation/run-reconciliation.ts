import type { App } from '../app.ts'
import { DIFFERENCE_KINDS } from '../wire/reconciliation.ts'
import type { Difference } from '../wire/reconciliation.ts'
import { compareWhole, compareWindow, mergeFindings } from './compare.ts'
import type { Findings } from './compare.ts'
import {
  failAbandonedRuns,
  insertDueRun,
  listMerchantIds,
  readLastCompared,
  tryLockRuns,
  updateRun,
} from './runs-sql.ts'
import { readSnapshot } from './sql.ts'
import type { Scope } from './sql.ts'
import { listWindows } from './windows-sql.ts'

/** The next run, in minutes after this one began. Differences are looked at again soon, so that a repair is seen. */
const NEXT = { BALANCED: 24 * 60, DIFFERENT: 60, FAILED: 10 } as const
/** Longer than any run. */
const LEASE_MINUTES = 240
const DIFFERENCES_MAX = 100

/**
 * Reconciles everything once a day, and keeps the result. A run that fails is repeated after ten minutes, and one that
 * finds differences after an hour. A job.
 * @throws what made the run fail, after it is recorded
 */
export async function runReconciliation(app: App, signal: AbortSignal): Promise<{ more: boolean }> {
  const id = app.ids.uuid()
  const asOf = await app.pool.transaction(async (tx) => {
    if (!(await tryLockRuns(tx))) return null
    await failAbandonedRuns(tx)
    return insertDueRun(tx, { id, leaseMinutes: LEASE_MINUTES })
  })
  if (asOf !== null) await run(app, { id, asOf, signal })
  await showLastRun(app)
  return { more: false }
}

async function run(app: App, { id, asOf, signal }: { id: string; asOf: string; signal: AbortSignal }): Promise<void> {
  try {
    const { totals, differences, difference_counts } = await compareEverything(app, asOf, signal)
    const count = difference_counts.reduce((sum, each) => sum + each.count, 0)
    const status = count === 0 ? 'BALANCED' : 'DIFFERENT'
    await updateRun(app.pool, {
      id,
      status,
      totals,
      difference_counts,
      difference_count: count,
      differences: pickOfEachKind(differences, DIFFERENCES_MAX),
      failure: null,
      minutesToNext: NEXT[status],
    })
    if (count > 0) app.log.error({ reconciliation_id: id, count }, 'the reconciliation has found differences')
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error)
    const nothing = { totals: [], difference_counts: [], difference_count: 0, differences: [] }
    await updateRun(app.pool, { id, status: 'FAILED', ...nothing, failure, minutesToNext: NEXT.FAILED })
    throw error
  }
}

/** The first of every kind, then the second of each and so on, so that none hides another; in their order. */
function pickOfEachKind(differences: readonly Difference[], max: number): Difference[] {
  const kinds = [...Map.groupBy(differences, ({ kind }) => kind).values()]
  const ranked = kinds.flatMap((ofKind) => ofKind.map((difference, rank) => ({ difference, rank })))
  const picked = ranked.toSorted((a, b) => a.rank - b.rank).slice(0, max)
  const kept = new Set(picked.map(({ difference }) => difference))
  return differences.filter((each) => kept.has(each))
}

/** Part by part and merchant by merchant: a statement over everything would not end in time. */
export async function compareEverything(app: Pick<App, 'pool'>, asOf: string, signal: AbortSignal): Promise<Findings> {
  const parts: Findings[] = []
  const compare = async (scope: Scope, of: typeof compareWhole): Promise<void> => {
    signal.throwIfAborted()
    const part = await app.pool.transaction(async (tx) => {
      await readSnapshot(tx)
      return of(tx, scope, { signal })
    })
    parts.push(part)
  }
  for (const window of await listWindows(app.pool, { merchantId: undefined, from: undefined, asOf }))
    await compare(window, compareWindow)
  for (const merchantId of await listMerchantIds(app.pool))
    await compare({ merchantId, from: undefined, asOf }, compareWhole)
  return mergeFindings(parts)
}

/** Every process shows the last run, whichever made it. */
async function showLastRun({ pool, metrics }: Pick<App, 'pool' | 'metrics'>): Promise<void> {
  const last = await readLastCompared(pool)
  if (last === null) return
  const counts = new Map(last.difference_counts.map(({ kind, count }) => [kind, count]))
  for (const kind of DIFFERENCE_KINDS) metrics.reconciliationDifferences.set({ kind }, counts.get(kind) ?? 0)
  metrics.reconciliationTime.set(Number(last.finished_us) / 1e6)
  metrics.reconciliationSeconds.set(Number(last.seconds))
}
