import type { App } from '../app.ts'
import { formatSum } from '../lib/money.ts'
import { DIFFERENCE_KINDS } from '../wire/reconciliation.ts'
import type { Difference, ReconciledTotal, Reconciliation } from '../wire/reconciliation.ts'
import { findDifferences, readTotals } from './get-reconciliation.ts'
import { failAbandonedRuns, insertDueRun, readExtent, readLastCompared, tryLockRuns, updateRun } from './runs-sql.ts'
import { PERIOD_CHECKS, WHOLE_CHECKS, readSnapshot } from './sql.ts'
import type { CheckName, Scope } from './sql.ts'

const DAY_MS = 86_400_000
/** The next run, in minutes after this one began. Differences are looked at again soon, so that a repair is seen. */
const NEXT = { BALANCED: 24 * 60, DIFFERENT: 60, FAILED: 10 } as const
/** Longer than any run. */
const LEASE_MINUTES = 240
const DIFFERENCES_MAX = 100

type Found = Pick<Reconciliation, 'totals' | 'differences'> & { counts: Map<Difference['kind'], number> }

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
    const { totals, differences, counts } = await compareEverything(app, asOf, signal)
    const count = [...counts.values()].reduce((sum, each) => sum + each, 0)
    const status = count === 0 ? 'BALANCED' : 'DIFFERENT'
    await updateRun(app.pool, {
      id,
      status,
      totals,
      difference_counts: [...counts].map(([kind, of]) => ({ kind, count: of })),
      difference_count: count,
      differences,
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

/** Day by day and merchant by merchant: a statement over everything would not end in time. */
async function compareEverything(app: Pick<App, 'pool'>, asOf: string, signal: AbortSignal): Promise<Found> {
  const found: Found = { totals: [], differences: [], counts: new Map() }
  const { begins_at: beginsAt, merchant_ids: merchantIds } = await readExtent(app.pool)
  if (beginsAt === null) return found
  for (const day of daysBetween(beginsAt, asOf))
    await add(found, { app, signal, scope: { merchantId: undefined, ...day }, checks: PERIOD_CHECKS })
  for (const merchantId of merchantIds)
    await add(found, { app, signal, scope: { merchantId, from: undefined, asOf }, checks: WHOLE_CHECKS })
  return found
}

type Part = { app: Pick<App, 'pool'>; signal: AbortSignal; scope: Scope; checks: readonly CheckName[] }

async function add(found: Found, { app, signal, scope, checks }: Part): Promise<void> {
  signal.throwIfAborted()
  const part = await app.pool.transaction(async (tx) => {
    await readSnapshot(tx)
    const totals = checks === PERIOD_CHECKS ? await readTotals(tx, scope) : []
    return { totals, ...(await findDifferences(tx, scope, checks)) }
  })
  found.differences = [...found.differences, ...part.differences].slice(0, DIFFERENCES_MAX)
  for (const { kind, count } of part.difference_counts) found.counts.set(kind, (found.counts.get(kind) ?? 0) + count)
  found.totals = sumTotals([...found.totals, ...part.totals])
}

/** Days that touch without sharing a microsecond. */
function* daysBetween(from: string, to: string): Generator<{ from: string; asOf: string }> {
  const end = Date.parse(to)
  for (let begin = Math.floor(Date.parse(from) / DAY_MS) * DAY_MS; begin <= end; begin += DAY_MS) {
    const last = new Date(begin + DAY_MS - 1).toISOString().replace('Z', '999Z')
    yield { from: new Date(begin).toISOString(), asOf: begin + DAY_MS > end ? to : last }
  }
}

function sumTotals(totals: readonly ReconciledTotal[]): ReconciledTotal[] {
  const groups = Map.groupBy(totals, ({ merchant_id, currency }) => `${merchant_id} ${currency}`)
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (first === undefined) return []
    const { merchant_id, trading_name, currency } = first
    const sum = (amounts: readonly string[]): string => formatSum(amounts, currency)
    return [
      {
        merchant_id,
        trading_name,
        currency,
        settled_amount: sum(group.map((each) => each.settled_amount)),
        ledger_settled_amount: sum(group.map((each) => each.ledger_settled_amount)),
        fee_amount: sum(group.map((each) => each.fee_amount)),
        ledger_fee_amount: sum(group.map((each) => each.ledger_fee_amount)),
        refunded_amount: sum(group.map((each) => each.refunded_amount)),
        ledger_refunded_amount: sum(group.map((each) => each.ledger_refunded_amount)),
      },
    ]
  })
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
