import type { App } from '../app.ts'
import { keyOfCursor, pageOf } from '../lib/cursor.ts'
import { isUuid } from '../lib/ids.ts'
import type { PayoutRecord } from './record.ts'
import { listPayoutRows } from './sql.ts'
import type { PayoutFilter } from './sql.ts'

export type ListPayoutsQuery = Omit<PayoutFilter, 'merchantId'> & { limit: number; cursor?: string | undefined }

/**
 * A page of payouts, the newest first.
 * @param merchantId undefined for those of all merchants; one that is no UUID has none
 * @throws {DomainError} VALIDATION_FAILED at `cursor`
 */
export async function listPayouts(
  app: Pick<App, 'pool'>,
  { merchantId, query: { cursor, ...query } }: { merchantId: string | undefined; query: ListPayoutsQuery },
): Promise<{ rows: readonly PayoutRecord[]; nextCursor: string | null }> {
  const afterId = cursor === undefined ? undefined : keyOfCursor(cursor, isUuid)
  if (merchantId !== undefined && !isUuid(merchantId)) return { rows: [], nextCursor: null }
  const found = await listPayoutRows(app.pool, { ...query, merchantId, afterId })
  return pageOf(found, query.limit, ({ id }) => id)
}
