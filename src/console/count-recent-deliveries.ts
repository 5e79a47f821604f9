import type { App } from '../app.ts'
import { RECENT_DELIVERIES } from '../wire/admin.ts'
import type { ListedMerchant } from '../wire/admin.ts'
import { countRecentDeliveries } from './recent-deliveries-sql.ts'

type Recent = NonNullable<ListedMerchant['recent_deliveries']>

/** How the newest deliveries of the merchants of a page have ended, by their ids: one statement for all of them. */
export async function readRecentDeliveries(
  { pool }: Pick<App, 'pool'>,
  merchantIds: readonly string[],
): Promise<ReadonlyMap<string, Recent>> {
  if (merchantIds.length === 0) return new Map()
  const rows = await pool.any(countRecentDeliveries(merchantIds, RECENT_DELIVERIES))
  return new Map(rows.map(({ merchant_id: id, delivered, dead }) => [id, { delivered, dead }]))
}
