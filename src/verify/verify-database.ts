import type { App } from '../app.ts'
import { compareEverything } from '../reconciliation/run-reconciliation.ts'
import { causeOf } from '../reconciliation/sql.ts'
import { checkInvariants } from './check-invariants.ts'
import type { CheckInvariantsInput, Violation } from './check-invariants.ts'
import { readNow } from './runs-sql.ts'

export type { Violation } from './check-invariants.ts'

/** Everything that can be checked of a database in use: the invariants, and what the reconciliation compares. */
export async function verifyDatabase(app: Pick<App, 'pool'>, input: CheckInvariantsInput): Promise<Violation[]> {
  const violations = await checkInvariants(app, input)
  const { difference_counts, differences } = await compareEverything(app, await readNow(app.pool), input.signal)
  const money = difference_counts.map(({ kind, count }) => ({
    invariant: kind,
    rule: 'payments, ledger, bank, settlements and payouts agree',
    action: `svc reconcile, docs/operators/reconcile.md; likely: ${causeOf(kind)}`,
    count,
    subjects: differences.filter((each) => each.kind === kind).map(({ subject }) => subject),
  }))
  return [...violations, ...money]
}
