import { StatementTimeoutError } from 'slonik'
import type { App } from '../app.ts'
import { DomainError, invalidField } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import type { Reconciliation } from '../wire/reconciliation.ts'
import { compareWhole, compareWindow, mergeFindings } from './compare.ts'
import { readSnapshot } from './sql.ts'
import type { Scope } from './sql.ts'
import { WINDOW_ENTRIES, listWindows } from './windows-sql.ts'

/** Almost two million payments, which take about two minutes: the caller waits for it, and it has a connection of the pool. */
const WINDOWS_MAX = 80

/** Each holds a connection of the pool while it compares: the others are for payments. */
const AT_ONCE_MAX = 2

export type GetReconciliationInput = {
  /** Undefined for operators: of all merchants. */
  merchantId: string | undefined
  from?: string | undefined
  as_of?: string | undefined
}

/**
 * Compares payments, refunds, the ledger, settlements, payouts, the mock bank's books and bank statements in one snapshot,
 * part by part: a statement over everything would not end in time. It changes nothing.
 * @throws {DomainError} MERCHANT_NOT_FOUND for what is no id of a merchant, VALIDATION_FAILED at `from` where it would take
 *   minutes, RATE_LIMITED while this process compares for the same caller or for two others
 */
export async function getReconciliation(
  app: Pick<App, 'pool' | 'comparisons'>,
  { merchantId, from, as_of: asOf = new Date().toISOString() }: GetReconciliationInput,
  { windowEntries = WINDOW_ENTRIES, windowsMax = WINDOWS_MAX } = {},
): Promise<Reconciliation> {
  if (merchantId !== undefined && !isUuid(merchantId)) throw new DomainError('MERCHANT_NOT_FOUND', 'merchant not found')
  const scope: Scope = { merchantId, from, asOf }
  const tooMuch = (): DomainError => {
    const much = from === undefined ? 'is required: everything is' : 'is too early: that is'
    return invalidField(
      'from',
      'TOO_MUCH',
      `${much} more than one request can compare; the daily run compares everything`,
    )
  }
  const caller = merchantId ?? 'all'
  const release = app.comparisons.acquire([
    { key: 'of all callers', max: AT_ONCE_MAX },
    { key: caller, max: 1 },
  ])
  try {
    return await app.pool.transaction(async (tx) => {
      await readSnapshot(tx)
      const windows = await listWindows(tx, scope, windowEntries)
      if (windows.length > windowsMax) throw tooMuch()
      const parts = []
      for (const window of windows) parts.push(await compareWindow(tx, window))
      if (from === undefined) parts.push(await compareWhole(tx, scope, { windowEntries }))
      const found = mergeFindings(parts)
      const count = found.difference_counts.reduce((sum, each) => sum + each.count, 0)
      const hasMore = count > found.differences.length
      return { from: from ?? null, as_of: asOf, is_balanced: count === 0, ...found, has_more: hasMore }
    })
  } catch (error) {
    throw error instanceof StatementTimeoutError ? tooMuch() : error
  } finally {
    release()
  }
}
