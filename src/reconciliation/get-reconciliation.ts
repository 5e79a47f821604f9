import { StatementTimeoutError } from 'slonik'
import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { DomainError, invalidField } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { formatNumeric } from '../lib/money.ts'
import type { Difference, ReconciledTotal, Reconciliation } from '../wire/reconciliation.ts'
import type { DifferenceRecord, TotalRecord } from './record.ts'
import { CHECK_NAMES, causeOf, listDifferences, listTotals, readSnapshot } from './sql.ts'
import type { CheckName, Scope } from './sql.ts'

/** The most differences of one kind in a response. */
const OF_A_KIND_MAX = 100

export type GetReconciliationInput = {
  /** Undefined for operators: of all merchants. */
  merchantId: string | undefined
  from?: string | undefined
  as_of?: string | undefined
}

/**
 * Compares payments, refunds, the ledger, settlements, payouts, the mock bank's books and bank statements in one snapshot. It
 * changes nothing.
 * @throws {DomainError} MERCHANT_NOT_FOUND for what is no id of a merchant; VALIDATION_FAILED at `from` where one statement
 *   cannot compare so much: the daily run does it in parts
 */
export async function getReconciliation(
  app: Pick<App, 'pool'>,
  { merchantId, from, as_of: asOf = new Date().toISOString() }: GetReconciliationInput,
): Promise<Reconciliation> {
  if (merchantId !== undefined && !isUuid(merchantId)) throw new DomainError('MERCHANT_NOT_FOUND', 'merchant not found')
  const scope: Scope = { merchantId, from, asOf }
  try {
    return await app.pool.transaction((tx) => compare(tx, scope))
  } catch (error) {
    if (!(error instanceof StatementTimeoutError)) throw error
    const much = from === undefined ? 'is required: everything is' : 'is too early: that is'
    throw invalidField(
      'from',
      'TOO_MUCH',
      `${much} more than one request can compare; the daily run compares everything`,
    )
  }
}

async function compare(tx: DatabaseTransactionConnection, scope: Scope): Promise<Reconciliation> {
  await readSnapshot(tx)
  const found = await findDifferences(tx, scope, CHECK_NAMES)
  const hasMore = found.difference_counts.some(({ count }) => count > OF_A_KIND_MAX)
  const isBalanced = found.differences.length === 0
  const totals = await readTotals(tx, scope)
  return { from: scope.from ?? null, as_of: scope.asOf, is_balanced: isBalanced, totals, ...found, has_more: hasMore }
}

/** What some checks find: the first differences of each kind, and how many there are. */
export async function findDifferences(
  tx: DatabaseTransactionConnection,
  scope: Scope,
  names: readonly CheckName[],
): Promise<Pick<Reconciliation, 'difference_counts' | 'differences'>> {
  const differences: Difference[] = []
  const counts: Reconciliation['difference_counts'] = []
  for (const kind of names) {
    const found = await listDifferences(tx, { name: kind, scope, limit: OF_A_KIND_MAX })
    const count = found[0]?.of_kind ?? 0
    if (count > 0) counts.push({ kind, count })
    differences.push(...found.map((row) => presentDifference(kind, row)))
  }
  return { difference_counts: counts, differences }
}

export async function readTotals(tx: DatabaseTransactionConnection, scope: Scope): Promise<ReconciledTotal[]> {
  return (await listTotals(tx, scope)).map(presentTotal)
}

function presentDifference(kind: CheckName, difference: DifferenceRecord): Difference {
  const { expected, found, of_kind: _, ...row } = difference
  const money = (amount: string | null): string | null => (amount === null ? null : formatNumeric(amount, row.currency))
  return { kind, ...row, expected_amount: money(expected), found_amount: money(found), cause: causeOf(kind) }
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
