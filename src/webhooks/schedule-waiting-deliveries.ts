import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { lockForQueueing } from './endpoint-sql.ts'
import { WAITING_BATCH_ROWS, findSchedulable, scheduleWaiting } from './waiting-sql.ts'

/**
 * Merchants per run, and batches per merchant: finding the merchants costs more than a batch when many have waiting
 * deliveries.
 */
const MERCHANTS_MAX = 20
const BATCHES_MAX = 20

type ScheduleApp = Pick<App, 'pool' | 'wake' | 'log'>

/**
 * Schedules deliveries that wait for an endpoint although their merchant has one: the remainder of a long pause, after
 * the request that ended it scheduled the first batch, or all of them if that request was lost. Only deliveries younger
 * than seven days (decision 38). A job.
 */
export async function scheduleWaitingDeliveries(app: ScheduleApp, signal: AbortSignal): Promise<{ more: boolean }> {
  const merchants = await findSchedulable(app.pool, MERCHANTS_MAX)
  let scheduled = 0
  for (const { merchant_id: merchantId } of merchants) scheduled += await scheduleOrLog(app, merchantId, signal)
  return { more: scheduled > 0 }
}

/** A failure for one merchant is retried in the next run, and does not delay the others. */
async function scheduleOrLog(app: ScheduleApp, merchantId: string, signal: AbortSignal): Promise<number> {
  let scheduled = 0
  try {
    for (let batch = 0; batch < BATCHES_MAX && !signal.aborted; batch += 1) {
      const count = await app.pool.transaction((tx) => scheduleBatch(tx, merchantId))
      scheduled += count
      if (count > 0) app.wake.notify('deliver-webhooks')
      if (count < WAITING_BATCH_ROWS) break
    }
  } catch (error) {
    app.log.error(
      { err: error, merchant_id: merchantId },
      'webhooks that waited for an endpoint could not be scheduled',
    )
  }
  return scheduled
}

async function scheduleBatch(tx: DatabaseTransactionConnection, merchantId: string): Promise<number> {
  const endpoint = await lockForQueueing(tx, merchantId)
  return endpoint?.webhook_url == null ? 0 : (await scheduleWaiting(tx, merchantId, WAITING_BATCH_ROWS)).count
}
