import type { App } from '../app.ts'
import { readExamined } from '../db/examined-pages.ts'
import { keyOfCursor } from '../lib/cursor.ts'
import { isUuid } from '../lib/ids.ts'
import { isOrdinal } from './record.ts'
import type { OperatorActionRecord } from './record.ts'
import { listActionRows } from './sql.ts'

export type ListActionsQuery = {
  /** Any text: one that is not a merchant's id has no actions. */
  merchant_id?: string | undefined
  action?: string | undefined
  actor?: string | undefined
  /** Only actions at or after `from`, and before `to`. */
  from?: string | undefined
  to?: string | undefined
  limit: number
  cursor?: string | undefined
}

/**
 * A page of operator actions, the newest first (decision 26).
 * @throws {DomainError} VALIDATION_FAILED at `cursor`
 */
export async function listAudit(
  app: Pick<App, 'pool'>,
  query: ListActionsQuery,
): Promise<{ actions: readonly OperatorActionRecord[]; nextCursor: string | null }> {
  const beforeOrdinal = query.cursor === undefined ? undefined : keyOfCursor(query.cursor, isOrdinal)
  if (query.merchant_id !== undefined && !isUuid(query.merchant_id)) return { actions: [], nextCursor: null }
  const filter = {
    merchantId: query.merchant_id,
    action: query.action,
    actor: query.actor,
    from: query.from,
    to: query.to,
  }
  const { rows, nextCursor } = await readExamined({
    limit: query.limit,
    after: beforeOrdinal,
    read: (last, limit) => listActionRows(app.pool, { ...filter, beforeOrdinal: last, limit: limit + 1 }),
    keyOf: ({ ordinal }) => ordinal.toString(),
  })
  return { actions: rows, nextCursor }
}
