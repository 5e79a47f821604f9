import type { App } from '../app.ts'
import { checkInvariants } from './check-invariants.ts'
import {
  failAbandonedVerifications,
  insertDueVerification,
  readLastVerification,
  tryLockVerifications,
  updateVerification,
} from './runs-sql.ts'
import { INVARIANT_NAMES } from './sql.ts'

/** The next run, in minutes after this one began. Violations are looked at again soon, so that a repair is seen. */
const NEXT = { WHOLE: 24 * 60, BROKEN: 60, FAILED: 10 } as const
/** Longer than any run. */
const LEASE_MINUTES = 240

/**
 * Checks the invariants of the database once a day, keeps the result and shows it in the metrics; what money should be is
 * compared by the reconciliation. A job.
 * @throws what made the run fail, after it is recorded
 */
export async function runVerification(app: App, signal: AbortSignal): Promise<{ more: boolean }> {
  const id = app.ids.uuid()
  const isBegun = await app.pool.transaction(async (tx) => {
    if (!(await tryLockVerifications(tx))) return false
    await failAbandonedVerifications(tx)
    return insertDueVerification(tx, { id, leaseMinutes: LEASE_MINUTES })
  })
  if (isBegun) await run(app, id, signal)
  await showLastRun(app)
  return { more: false }
}

async function run(app: App, id: string, signal: AbortSignal): Promise<void> {
  try {
    const violations = await checkInvariants(app, { signal })
    const minutesToNext = violations.length === 0 ? NEXT.WHOLE : NEXT.BROKEN
    await updateVerification(app.pool, { id, violations, failure: null, minutesToNext })
    for (const { invariant, count, subjects } of violations)
      app.log.error({ invariant, count, subjects: subjects.slice(0, 10) }, 'an invariant of the database is broken')
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error)
    await updateVerification(app.pool, { id, violations: null, failure, minutesToNext: NEXT.FAILED })
    throw error
  }
}

/** Every process shows the last run, whichever made it. */
async function showLastRun({ pool, metrics }: Pick<App, 'pool' | 'metrics'>): Promise<void> {
  const last = await readLastVerification(pool)
  if (last === null) return
  const counts = new Map(last.violations.map(({ invariant, count }) => [invariant, count]))
  for (const invariant of INVARIANT_NAMES) metrics.invariantViolations.set({ invariant }, counts.get(invariant) ?? 0)
  metrics.verificationTime.set(Number(last.finished_us) / 1e6)
}
