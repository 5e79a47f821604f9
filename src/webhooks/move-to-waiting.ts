import type { App } from '../app.ts'
import type { ClaimedDelivery } from './record.ts'
import { holdEndpoint } from './endpoint-sql.ts'
import { moveLeasesToWaiting } from './waiting-sql.ts'
import { releaseLeases } from './sql.ts'

/**
 * Takes claimed rows of one merchant out of the queue, to wait at 'infinity' for an endpoint, without using an attempt
 * (decision 38). When an endpoint was set meanwhile, the rows are given back instead, and are due at once.
 */
export async function moveToWaiting(
  app: Pick<App, 'pool'>,
  worker: string,
  deliveries: readonly ClaimedDelivery[],
): Promise<void> {
  const merchantId = deliveries[0]?.merchant_id
  if (merchantId === undefined) return
  await app.pool.transaction(async (tx) => {
    const { webhook_url } = await tx.one(holdEndpoint(merchantId))
    if (webhook_url === null) await tx.one(moveLeasesToWaiting(worker, deliveries))
    else await tx.query(releaseLeases(worker, deliveries))
  })
}
