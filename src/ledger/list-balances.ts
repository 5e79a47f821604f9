import type { App } from '../app.ts'
import { keyOfCursor, pageOf } from '../lib/cursor.ts'
import { isUuid } from '../lib/ids.ts'
import type { CurrencySums, MerchantBalances } from './record.ts'
import { listMerchantBalances, sumBalances } from './sql.ts'

export type ListBalancesInput = { merchant_id?: string | undefined; limit: number; cursor?: string | undefined }

type Balances = {
  rows: readonly MerchantBalances[]
  nextCursor: string | null
  /** By currency, over all pages. */
  totals: readonly CurrencySums[]
}

/**
 * A page of the balances of merchants, and their sums, which for bank, fees and rounding are what the platform has.
 * @throws {DomainError} VALIDATION_FAILED at `cursor`
 */
export async function listBalances(
  { pool }: Pick<App, 'pool'>,
  { merchant_id: merchantId, limit, cursor }: ListBalancesInput,
): Promise<Balances> {
  const after = cursor === undefined ? undefined : positionOf(keyOfCursor(cursor, isPosition))
  if (merchantId !== undefined && !isUuid(merchantId)) return { rows: [], nextCursor: null, totals: [] }
  const found = await listMerchantBalances(pool, { merchantId, after, limit })
  const page = pageOf(found, limit, ({ merchant_id, currency }) => `${merchant_id}.${currency}`)
  return { ...page, totals: await sumBalances(pool, merchantId) }
}

function isPosition(text: string): boolean {
  const { merchantId, currency } = positionOf(text)
  return isUuid(merchantId) && /^[A-Z]{3}$/.test(currency)
}

function positionOf(text: string): { merchantId: string; currency: string } {
  const [merchantId = '', currency = ''] = text.split('.')
  return { merchantId, currency }
}
