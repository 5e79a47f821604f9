import type { App } from '../app.ts'
import { keyOfCursor, pageOf } from '../lib/cursor.ts'
import { isUuid } from '../lib/ids.ts'
import type { RunRecord } from './record.ts'
import { listRunRows } from './runs-sql.ts'

/**
 * A page of the runs of the daily job, the newest first.
 * @throws {DomainError} VALIDATION_FAILED at `cursor`
 */
export async function listReconciliations(
  { pool }: Pick<App, 'pool'>,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<{ rows: readonly RunRecord[]; nextCursor: string | null }> {
  const afterId = cursor === undefined ? undefined : keyOfCursor(cursor, isUuid)
  return pageOf(await listRunRows(pool, { afterId, limit }), limit, ({ id }) => id)
}
