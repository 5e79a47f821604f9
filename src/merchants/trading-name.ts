import type { App } from '../app.ts'
import { findMerchant } from './sql.ts'

/**
 * What payers know a merchant as.
 * @param id of a merchant that is there
 */
export async function tradingNameOf(app: Pick<App, 'pool'>, id: string): Promise<string> {
  const merchant = await findMerchant(app.pool, id)
  if (merchant === null) throw new Error('a payment has no merchant')
  return merchant.trading_name
}
