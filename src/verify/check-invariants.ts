import type { App } from '../app.ts'
import { findByKey, readSnapshot } from '../reconciliation/sql.ts'
import type { Invariant } from './invariant.ts'
import { SOURCE_NAMES, findEnd } from './part-sql.ts'
import type { Part } from './part-sql.ts'
import { INVARIANTS, INVARIANT_NAMES, findBreaches } from './sql.ts'
import type { InvariantName } from './sql.ts'

/** Rows of a part: every query over so many takes a small share of the 5 s that a statement may last. */
const PART_ROWS = 10_000
/** The most rows that are listed of one invariant. */
const SUBJECTS_MAX = 100
/** How long something due may be late before it counts: a job is slow, or a bank away for a moment. */
const GRACE_MS = 900_000

/** Rows that break one invariant: the first of them, and how many there are. */
export type Violation = { invariant: string; rule: string; action: string; count: number; subjects: string[] }

export type CheckInvariantsInput = {
  signal: AbortSignal
  graceMs?: number | undefined
  partRows?: number
  /** After each part. */
  onPart?: (parts: number) => void
}

/**
 * Checks every invariant on a database in use: each part is one read-only snapshot of its own, which no payment waits for.
 * @returns the violations, in the order of the invariants
 */
export async function checkInvariants(
  { pool }: Pick<App, 'pool'>,
  { signal, graceMs = GRACE_MS, partRows = PART_ROWS, onPart }: CheckInvariantsInput,
): Promise<Violation[]> {
  const found = new Map<InvariantName, Violation>()
  let parts = 0
  const check = (names: readonly InvariantName[], range: (end: Part['upTo']) => Part, find: FindEnd) =>
    pool.transaction(async (tx) => {
      signal.throwIfAborted()
      await readSnapshot(tx)
      await findByKey(tx, true)
      const end = await find(tx)
      for (const name of names) {
        const { count, subjects } = await findBreaches(tx, { name, part: range(end), limit: SUBJECTS_MAX })
        if (count > 0) add(found, { name, count, subjects })
      }
      onPart?.((parts += 1))
      return end
    })
  await check(
    namesOf(undefined),
    () => ({ after: null, upTo: null, graceMs }),
    async () => null,
  )
  for (const source of SOURCE_NAMES) {
    let after: Part['after'] = null
    do {
      const begin: Part['after'] = after
      after = await check(
        namesOf(source),
        (upTo) => ({ after: begin, upTo, graceMs }),
        (tx) => findEnd(tx, { source, after: begin, rows: partRows }),
      )
    } while (after !== null)
  }
  return INVARIANT_NAMES.flatMap((name) => found.get(name) ?? [])
}

type FindEnd = (tx: Parameters<typeof findEnd>[0]) => Promise<Part['upTo']>

function namesOf(source: Invariant['source']): InvariantName[] {
  return INVARIANT_NAMES.filter((name) => {
    const invariant: Invariant = INVARIANTS[name]
    return invariant.source === source
  })
}

function add(
  found: Map<InvariantName, Violation>,
  { name, count, subjects }: { name: InvariantName; count: number; subjects: readonly string[] },
): void {
  const { rule, action } = INVARIANTS[name]
  const before = found.get(name) ?? { invariant: name, rule, action, count: 0, subjects: [] }
  found.set(name, {
    ...before,
    count: before.count + count,
    subjects: [...before.subjects, ...subjects].slice(0, SUBJECTS_MAX),
  })
}
