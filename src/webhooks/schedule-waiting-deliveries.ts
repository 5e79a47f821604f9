import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { firstMerchant } from './claim.ts'
import { lockForQueueing } from './endpoint-sql.ts'
import { WAITING_BATCH_ROWS, findSchedulable, scheduleWaiting } from './waiting-sql.ts'

/** Merchants that are found at once, and batches of each: finding them costs more than a batch when many have waiting deliveries. */
const MERCHANTS_MAX = 20
const BATCHES_MAX = 20

type ScheduleApp = Pick<App, 'pool' | 'wake' | 'log'>

/**
 * Schedules deliveries that wait for an endpoint although their merchant has one: the remainder of a long pause, after
 * the request that ended it scheduled the first batch, or all of them if that request was lost. Only deliveries younger
 * than seven days (decision 38). A job.
 */
export async function scheduleWaitingDeliveries(app: ScheduleApp, signal: AbortSignal): Promise<{ more: boolean }> {
  let scheduled = 0
  let after: string | undefined = firstMerchant
  // Those that fail are found again by each run: behind as many as are found at once, others would never be.
  while (after !== undefined && scheduled === 0 && !signal.aborted) {
    const merchants = await findSchedulable(app.pool, { after, limit: MERCHANTS_MAX })
    for (const { merchant_id: merchantId } of merchants) scheduled += await scheduleOrLog(app, merchantId, signal)
    after = merchants.length < MERCHANTS_MAX ? undefined : merchants.at(-1)?.merchant_id
  }
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
