import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
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
 * @throws {DomainError} MERCHANT_NOT_FOUND for what is no id of a merchant
 */
export async function getReconciliation(
  app: Pick<App, 'pool'>,
  { merchantId, from, as_of: asOf = new Date().toISOString() }: GetReconciliationInput,
): Promise<Reconciliation> {
  if (merchantId !== undefined && !isUuid(merchantId)) throw new DomainError('MERCHANT_NOT_FOUND', 'merchant not found')
  const scope: Scope = { merchantId, from, asOf }
  return app.pool.transaction(async (tx) => {
    await readSnapshot(tx)
    const totals = (await listTotals(tx, scope)).map(presentTotal)
    const differences: Difference[] = []
    let hasMore = false
    for (const name of CHECK_NAMES) {
      const found = await listDifferences(tx, { name, scope, limit: OF_A_KIND_MAX + 1 })
      hasMore ||= found.length > OF_A_KIND_MAX
      differences.push(...found.slice(0, OF_A_KIND_MAX).map((row) => presentDifference(name, row)))
    }
    const isBalanced = differences.length === 0
    return { from: from ?? null, as_of: asOf, is_balanced: isBalanced, totals, differences, has_more: hasMore }
  })
}

function presentDifference(kind: CheckName, { expected, found, ...row }: DifferenceRecord): Difference {
  const money = (amount: string | null): string | null => (amount === null ? null : formatNumeric(amount, row.currency))
  return { kind, ...row, expected_amount: money(expected), found_amount: money(found), cause: causeOf(kind) }
}

function presentTotal({ merchant_id, currency, ...sums }: TotalRecord): ReconciledTotal {
  const money = (amount: string): string => formatNumeric(amount, currency)
  return {
    merchant_id,
    currency,
    settled_amount: money(sums.settled),
    ledger_settled_amount: money(sums.ledger_settled),
    fee_amount: money(sums.fees),
    ledger_fee_amount: money(sums.ledger_fees),
    refunded_amount: money(sums.refunded),
    ledger_refunded_amount: money(sums.ledger_refunded),
  }
}
