import type { Violation } from '../../src/verify/verify-database.ts'
import { EXIT } from '../base/exit-codes.ts'
import { command } from '../kit/command.ts'
import { durationOf } from '../kit/context.ts'
import type { Context } from '../kit/context.ts'
import { withProgress } from '../output/progress.ts'
import { tableBelow } from '../output/table.ts'
import type { Column } from '../output/table.ts'
import { databaseOf, withPool } from './with-pool.ts'

const SHOWN_MAX = 3

export const verify = command({
  command: 'verify',
  summary: 'Check the invariants of the database',
  details: `Reads SVC_DATABASE_URL, or the database of the running svc up, in read-only snapshots of bounded size, beside the running
service; no payment waits for it. Checked are payments, consents, disputes and their audit events, webhooks and their queue,
ledger and accounts, and what svc reconcile compares. The daily job does the same, except for what svc reconcile compares.

Exit code 0: all hold. Exit code 3: one is broken; its name, its rule, its first rows and what to do are printed.`,
  examples: ['svc verify', 'SVC_DATABASE_URL=postgres://... svc verify --json', "svc verify -o json -q '[].invariant'"],
  flags: {
    grace: { value: 'time', summary: 'How late due work may be before it counts: 30s, 1h (default 15m)' },
  },
  async run(context, { grace }) {
    const { verifyDatabase } = await import('../../src/verify/verify-database.ts')
    const graceMs = grace === undefined ? undefined : durationOf(grace, '--grace')
    const violations = await withProgress(context, { title: 'Verifying', unit: 'parts' }, ({ at }) =>
      withPool({ databaseUrl: databaseOf(context), applicationName: 'svc verify' }, (pool) =>
        verifyDatabase({ pool }, { signal: new AbortController().signal, graceMs, onPart: at }),
      ),
    )
    print(context, violations)
    return violations.length === 0 ? undefined : EXIT.assertion
  },
})

export const VIOLATION_COLUMNS: readonly Column<Violation>[] = [
  { title: 'invariant', value: (row) => row.invariant, style: () => 'red' },
  { title: 'rows', value: (row) => String(row.count), align: 'right' },
  { title: 'must hold', value: (row) => row.rule, dropped: 1, least: 20 },
]

function print(context: Context, violations: readonly Violation[]): void {
  context.print.record(
    { is_whole: violations.length === 0, violations },
    [['Broken invariants', violations.length === 0 ? 'none' : String(violations.length)]],
    {
      id: violations.map(({ invariant }) => invariant).join('\n'),
      after: tableBelow(context.print, violations, VIOLATION_COLUMNS),
    },
  )
  noteViolations(context, violations)
}

/** The first rows of each, and what to do. */
export function noteViolations(context: Context, violations: readonly Violation[]): void {
  for (const { invariant, action, subjects, count } of violations) {
    const more = count > SHOWN_MAX ? `, and ${count - SHOWN_MAX} more` : ''
    context.note(`${invariant}: ${subjects.slice(0, SHOWN_MAX).join(', ')}${more}`)
    context.note(`  Next: ${action}`)
  }
}
