import type { App } from '../app.ts'
import { keepBalancesOf } from '../ledger/keep-balances.ts'
import { closePeriod, listDuePeriods } from './sql.ts'
import type { OpenPeriod } from './sql.ts'

/** Periods of one run; the next run follows at once while there are more. */
const PERIODS_MAX = 100

/**
 * Closes the periods that have ended, each in a transaction of its own. A merchant without payments for days has only
 * the days that have some. A job.
 */
export async function closeSettlements(app: App): Promise<{ more: boolean }> {
  const due = await listDuePeriods(app.pool, PERIODS_MAX)
  let count = 0
  for (const period of due) if (await closeOne(app, period)) count += 1
  if (count > 0) app.log.info({ count }, 'settlements are closed')
  return { more: count > 0 }
}

/** False where another process has closed it, or closing it failed. */
async function closeOne(app: App, period: OpenPeriod): Promise<boolean> {
  try {
    // What was posted in the last seconds before the period's end belongs to it.
    await keepBalancesOf(app, period.merchant_id)
    return await closePeriod(app.pool, { id: app.ids.uuid(), period, byHand: false })
  } catch (error) {
    app.log.error({ err: error, ...period }, 'a settlement stays open after its end; it is tried again')
    return false
  }
}
