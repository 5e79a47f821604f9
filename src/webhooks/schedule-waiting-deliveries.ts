import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { holdForQueueing } from './endpoint-sql.ts'
import { scheduleWaiting, findSchedulable } from './waiting-sql.ts'

/** Rows of one transaction: a merchant may have a week of deliveries parked, and locks are not to be held for long. */
export const SCHEDULE_BATCH_ROWS = 1_000

/** Merchants of one run, and batches of each: finding the merchants costs more than a batch where many have something. */
const MERCHANTS_MAX = 20
const BATCHES_MAX = 20

type ScheduleApp = Pick<App, 'pool' | 'wake' | 'log'>

/**
 * Queues what is parked although its merchant has an endpoint: the rest of a long pause, which the request that ended it
 * began to arm, or all of it where that one was lost before. Only what is younger than seven days (decision 38).
 */
export async function scheduleWaitingDeliveries(app: ScheduleApp, signal: AbortSignal): Promise<{ more: boolean }> {
  const merchants = await app.pool.any(findSchedulable(MERCHANTS_MAX))
  let scheduled = 0
  for (const { merchant_id: merchantId } of merchants) scheduled += await scheduleOrLog(app, merchantId, signal)
  return { more: scheduled > 0 }
}

/** What fails for one merchant is tried again at the next turn, and holds up no other. */
async function scheduleOrLog(app: ScheduleApp, merchantId: string, signal: AbortSignal): Promise<number> {
  let scheduled = 0
  try {
    for (let batch = 0; batch < BATCHES_MAX && !signal.aborted; batch += 1) {
      const count = await app.pool.transaction((tx) => scheduleBatch(tx, merchantId))
      scheduled += count
      if (count > 0) app.wake.notify('deliver-webhooks')
      if (count < SCHEDULE_BATCH_ROWS) break
    }
  } catch (error) {
    app.log.error({ err: error, merchant_id: merchantId }, 'parked webhooks could not be queued')
  }
  return scheduled
}

async function scheduleBatch(tx: DatabaseTransactionConnection, merchantId: string): Promise<number> {
  const { webhook_url } = await tx.one(holdForQueueing(merchantId))
  return webhook_url === null ? 0 : (await tx.one(scheduleWaiting(merchantId, SCHEDULE_BATCH_ROWS))).count
}
