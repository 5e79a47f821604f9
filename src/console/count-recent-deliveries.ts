import type { App } from '../app.ts'
import { RECENT_DELIVERIES } from '../wire/admin.ts'
import type { ListedMerchant } from '../wire/admin.ts'
import { countRecentDeliveryRows } from './recent-deliveries-sql.ts'

type RecentDeliveries = NonNullable<ListedMerchant['recent_deliveries']>

/** How the newest deliveries of the merchants of a page have ended, by merchant id: one statement for all of them. */
export async function countRecentDeliveries(
  { pool }: Pick<App, 'pool'>,
  merchantIds: readonly string[],
): Promise<ReadonlyMap<string, RecentDeliveries>> {
  if (merchantIds.length === 0) return new Map()
  const rows = await countRecentDeliveryRows(pool, { merchantIds, limit: RECENT_DELIVERIES })
  return new Map(rows.map(({ merchant_id: id, delivered, dead }) => [id, { delivered, dead }]))
}
