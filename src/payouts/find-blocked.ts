import type { App } from '../app.ts'
import type { PayoutBlock } from '../wire/ledger.ts'
import { listBlocked } from './sql.ts'

/** Why a merchant is not paid out what it is owed in a currency; null where nothing is in the way, or nothing is payable. */
export type BlockOf = (merchantId: string, currency: string) => PayoutBlock | null

/** What stands in the way of the payouts of some merchants. */
export async function findBlocked({ pool }: Pick<App, 'pool'>, merchantIds: readonly string[]): Promise<BlockOf> {
  const rows = await listBlocked(pool, merchantIds)
  const blocks = new Map(rows.map((row) => [`${row.merchant_id} ${row.currency}`, row.blocked_by]))
  return (merchantId, currency) => blocks.get(`${merchantId} ${currency}`) ?? null
}
