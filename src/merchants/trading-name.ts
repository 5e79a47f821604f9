import type { App } from '../app.ts'
import { findMerchant } from './sql.ts'

/**
 * The merchant's name as payers know it.
 * @param id of an existing merchant
 */
export async function tradingNameOf(app: Pick<App, 'pool'>, id: string): Promise<string> {
  const merchant = await findMerchant(app.pool, id)
  if (merchant === null) throw new Error('a payment has no merchant')
  return merchant.trading_name
}
