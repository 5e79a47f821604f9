import type { App } from '../app.ts'
import type { ClaimedDelivery } from './record.ts'
import { lockEndpointShared } from './endpoint-sql.ts'
import { moveLeasesToWaiting } from './waiting-sql.ts'

/**
 * Moves claimed rows of one merchant from the queue to webhook_waiting, where they wait for an endpoint without using an
 * attempt (decision 38); their next retry is 'infinity'. If an endpoint was set in the meantime, the rows stay due.
 */
export async function moveToWaiting(
  app: Pick<App, 'pool'>,
  worker: string,
  deliveries: readonly ClaimedDelivery[],
): Promise<void> {
  const merchantId = deliveries[0]?.merchant_id
  if (merchantId === undefined) return
  await app.pool.transaction(async (tx) => {
    const endpoint = await lockEndpointShared(tx, merchantId)
    if (endpoint?.webhook_url == null) await moveLeasesToWaiting(tx, worker, deliveries)
  })
}
