import type { App } from '../app.ts'
import { keyOfCursor, pageOf } from '../lib/cursor.ts'
import { isUuid } from '../lib/ids.ts'
import type { KybStatus } from '../wire/admin.ts'
import { listMerchantRows } from './admin-sql.ts'
import type { MerchantRecord } from './record.ts'

export type ListMerchantsQuery = {
  kyb_status?: KybStatus | undefined
  payout_held?: boolean | undefined
  is_active?: boolean | undefined
  search?: string | undefined
  order: 'newest' | 'oldest'
  limit: number
  cursor?: string | undefined
}

/**
 * A page of merchants; the cursor names the last merchant of the page before.
 * @throws {DomainError} VALIDATION_FAILED at `cursor`
 */
export async function listMerchants(
  app: Pick<App, 'pool'>,
  query: ListMerchantsQuery,
): Promise<{ merchants: readonly MerchantRecord[]; nextCursor: string | null }> {
  const found = await listMerchantRows(app.pool, {
    kybStatus: query.kyb_status,
    payoutHeld: query.payout_held,
    isActive: query.is_active,
    search: query.search,
    order: query.order,
    afterId: query.cursor === undefined ? undefined : keyOfCursor(query.cursor, isUuid),
    limit: query.limit + 1,
  })
  const { rows, nextCursor } = pageOf(found, query.limit, ({ id }) => id)
  return { merchants: rows, nextCursor }
}
