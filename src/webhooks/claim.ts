import type { App } from '../app.ts'
import type { ClaimedDelivery } from './record.ts'
import { claimDeliveries } from './sql.ts'

/** The lease of a claimed row. Rows of a crashed worker become available when it expires. */
export const leaseMs = 30_000

/** The start of the round-robin over merchants. */
export const firstMerchant = '00000000-0000-0000-0000-000000000000'

/** Due deliveries leased by this worker, and where the next claim continues the round-robin over merchants. */
export type ClaimedBatch = { deliveries: readonly ClaimedDelivery[]; after: string; claimedAt: number }

/**
 * Claims up to `rowsMax` due deliveries in one round trip, and for each merchant no more than its concurrency limit
 * allows. `claimedAt` is monotonic time, taken before the lease begins.
 */
export async function claim(
  app: Pick<App, 'config' | 'pool'>,
  input: { worker: string; after: string; rowsMax: number },
): Promise<ClaimedBatch> {
  const claimedAt = performance.now()
  const perMerchantMax = app.config.webhookConcurrencyPerMerchant
  const deliveries = await claimDeliveries(app.pool, { ...input, perMerchantMax, leaseMs })
  return { deliveries, after: lastInRound(deliveries, input.after), claimedAt }
}

/** The last merchant in round-robin order: ascending from `after`, then from the first one up to `after`. */
function lastInRound(deliveries: readonly ClaimedDelivery[], after: string): string {
  const merchants = deliveries.map((delivery) => delivery.merchant_id).toSorted()
  return merchants.findLast((id) => id <= after) ?? merchants.at(-1) ?? after
}
