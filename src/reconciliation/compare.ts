import type { DatabaseTransactionConnection } from 'slonik'
import type { PartKey } from '../db/parts-sql.ts'
import { formatNumeric, formatSum } from '../lib/money.ts'
import type { Difference, ReconciledTotal, Reconciliation } from '../wire/reconciliation.ts'
import type { DifferenceRecord, TotalRecord } from './record.ts'
import { findEntriesEnd, sumEntries } from './balance-sql.ts'
import type { EntrySum } from './scope-sql.ts'
import { CHECK_NAMES, PERIOD_CHECKS, WHOLE_CHECKS, causeOf, findByKey, listDifferences, listTotals } from './sql.ts'
import type { CheckName, Scope } from './sql.ts'
import { WINDOW_ENTRIES, listNumbers } from './windows-sql.ts'

/** The most differences of one kind that are listed. */
const OF_A_KIND_MAX = 100

/** What some checks found: the sums, the first differences of each kind, and how many there are. */
export type Findings = Pick<Reconciliation, 'totals' | 'differences' | 'difference_counts'>

/** Sums and compares what moved in the time. */
export async function compareWindow(tx: DatabaseTransactionConnection, scope: Scope): Promise<Findings> {
  await findByKey(tx, true)
  const found = await findDifferences(tx, scope, PERIOD_CHECKS)
  return { ...found, totals: (await listTotals(tx, scope)).map(presentTotal) }
}

/** Entries of a statement that adds them up: a merchant's account has two of each of its payments. */
const ENTRIES_FACTOR = 4

export type WholeOptions = { windowEntries?: number; signal?: AbortSignal }

/** The checks that no time can limit. Lines and entries are read in parts, because each payment has some. */
export async function compareWhole(
  tx: DatabaseTransactionConnection,
  scope: Scope,
  { windowEntries = WINDOW_ENTRIES, signal }: WholeOptions = {},
): Promise<Findings> {
  await findByKey(tx, false)
  const inParts = new Set<CheckName>(['SETTLEMENT_LINE_WITHOUT_ENTRY'])
  const others = WHOLE_CHECKS.filter((name) => !inParts.has(name))
  const sums = await sumAll(tx, scope, { rows: windowEntries * ENTRIES_FACTOR, signal })
  const parts = [await findDifferences(tx, { ...scope, sums }, others)]
  for (const numbers of await listNumbers(tx, windowEntries * 10)) {
    signal?.throwIfAborted()
    parts.push(await findDifferences(tx, { ...scope, numbers }, [...inParts]))
  }
  return mergeFindings(parts)
}

async function sumAll(
  tx: DatabaseTransactionConnection,
  { merchantId }: Scope,
  { rows, signal }: { rows: number; signal: AbortSignal | undefined },
): Promise<EntrySum[]> {
  const sums: EntrySum[] = []
  let upTo: PartKey | null = null
  do {
    signal?.throwIfAborted()
    const after: PartKey | null = upTo
    upTo = await findEntriesEnd(tx, { merchantId, after, rows })
    sums.push(...(await sumEntries(tx, { merchantId, after, upTo })))
  } while (upTo !== null)
  return sums
}

/** Adds up what was found in the parts, the differences in the order of the checks. */
export function mergeFindings(parts: readonly Findings[]): Findings {
  const merged: Findings = {
    totals: sumTotals(parts.flatMap(({ totals }) => totals)),
    differences: [],
    difference_counts: [],
  }
  for (const kind of CHECK_NAMES) {
    const counts = parts.flatMap((part) => part.difference_counts).filter((each) => each.kind === kind)
    if (counts.length === 0) continue
    merged.difference_counts.push({ kind, count: counts.reduce((sum, { count }) => sum + count, 0) })
    const differences = parts.flatMap((part) => part.differences).filter((each) => each.kind === kind)
    merged.differences.push(...differences.slice(0, OF_A_KIND_MAX))
  }
  return merged
}

async function findDifferences(
  tx: DatabaseTransactionConnection,
  scope: Scope,
  names: readonly CheckName[],
): Promise<Findings> {
  const found: Findings = { totals: [], differences: [], difference_counts: [] }
  for (const kind of names) {
    const rows = await listDifferences(tx, { name: kind, scope, limit: OF_A_KIND_MAX })
    const count = rows[0]?.of_kind ?? 0
    if (count > 0) found.difference_counts.push({ kind, count })
    found.differences.push(...rows.map((row) => presentDifference(kind, row)))
  }
  return found
}

function presentDifference(kind: CheckName, difference: DifferenceRecord): Difference {
  const { expected, found, cause, of_kind: _, ...row } = difference
  const money = (amount: string | null): string | null => (amount === null ? null : formatNumeric(amount, row.currency))
  return { kind, ...row, expected_amount: money(expected), found_amount: money(found), cause: cause ?? causeOf(kind) }
}

function presentTotal({ merchant_id, trading_name, currency, ...sums }: TotalRecord): ReconciledTotal {
  const money = (amount: string): string => formatNumeric(amount, currency)
  return {
    merchant_id,
    trading_name,
    currency,
    settled_amount: money(sums.settled),
    ledger_settled_amount: money(sums.ledger_settled),
    fee_amount: money(sums.fees),
    ledger_fee_amount: money(sums.ledger_fees),
    refunded_amount: money(sums.refunded),
    ledger_refunded_amount: money(sums.ledger_refunded),
  }
}

/** By merchant and currency, whichever part has them first. */
function sumTotals(totals: readonly ReconciledTotal[]): ReconciledTotal[] {
  const groups = Map.groupBy(totals, ({ merchant_id, currency }) => `${merchant_id} ${currency}`)
  return [...groups.keys()].toSorted().flatMap((key) => {
    const group = groups.get(key) ?? []
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
