import type { App } from '../app.ts'
import { changeMerchant } from '../merchants/change-merchant.ts'
import type { MerchantAction, MerchantChange } from '../merchants/change-merchant.ts'
import type { MerchantRecord } from '../merchants/record.ts'
import { cancelUnsentPayouts } from '../payouts/cancel-unsent-payouts.ts'
import { announcePayout } from '../payouts/move.ts'
import type { PayoutRecord } from '../payouts/record.ts'

export type StatusApp = Pick<App, 'pool' | 'ids' | 'config' | 'log' | 'wake'>

/**
 * `changeMerchant` of what decides whether the merchant is paid. With `stopsPayouts` it is paid nothing from then on, and its
 * payouts that are not sent yet are cancelled (decision 431).
 */
export async function changeStatus(
  app: StatusApp,
  asked: MerchantAction,
  { stopsPayouts, plan, ...change }: MerchantChange & { stopsPayouts: boolean },
): Promise<MerchantRecord> {
  let cancelled: readonly PayoutRecord[] = []
  const changed = await changeMerchant(app, asked, {
    ...change,
    plan: (merchant) => {
      const write = plan(merchant)
      if (write === undefined || !stopsPayouts) return write
      return async (tx) => {
        cancelled = await cancelUnsentPayouts(tx, app, merchant.id)
        await write(tx)
      }
    },
  })
  for (const payout of cancelled) announcePayout(app, payout)
  return changed
}
