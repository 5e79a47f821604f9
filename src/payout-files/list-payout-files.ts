import type { App } from '../app.ts'
import { keyOfCursor, pageOf } from '../lib/cursor.ts'
import { isUuid } from '../lib/ids.ts'
import type { PayoutFileRecord } from './record.ts'
import { listPayoutFileRows } from './sql.ts'

/**
 * A page of files of payouts, the newest first.
 * @throws {DomainError} VALIDATION_FAILED at `cursor`
 */
export async function listPayoutFiles(
  app: Pick<App, 'pool'>,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<{ rows: readonly PayoutFileRecord[]; nextCursor: string | null }> {
  const afterId = cursor === undefined ? undefined : keyOfCursor(cursor, isUuid)
  return pageOf(await listPayoutFileRows(app.pool, { afterId, limit }), limit, ({ id }) => id)
}
