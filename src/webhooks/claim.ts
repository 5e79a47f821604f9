import type { App } from '../app.ts'
import type { ClaimedDelivery } from './record.ts'
import { claimDeliveries } from './sql.ts'

/** How long a claimed row stays with its worker. One that died gives its rows back when it ends. */
export const leaseMs = 30_000

/** Where the round of the merchants begins. */
export const firstMerchant = '00000000-0000-0000-0000-000000000000'

/** Due deliveries that this worker now holds, and where the next claim goes on in the round of the merchants. */
export type ClaimedBatch = { deliveries: ClaimedDelivery[]; after: string; claimedAt: number }

/**
 * Claims up to `rowsMax` due deliveries in one round trip, no more for a merchant than its cap leaves room for.
 * `claimedAt` is of the monotonic clock, from before the lease began.
 */
export async function claim(
  app: Pick<App, 'config' | 'pool'>,
  input: { worker: string; after: string; rowsMax: number },
): Promise<ClaimedBatch> {
  const claimedAt = performance.now()
  const query = claimDeliveries({ ...input, perMerchantMax: app.config.webhookConcurrencyPerMerchant, leaseMs })
  const deliveries = [...(await app.pool.any(query))]
  return { deliveries, after: lastInRound(deliveries, input.after), claimedAt }
}

/** The merchant that the round has come to: it goes up from `after`, and then from the first one up to `after`. */
function lastInRound(deliveries: readonly ClaimedDelivery[], after: string): string {
  const merchants = deliveries.map((delivery) => delivery.merchant_id).toSorted()
  return merchants.findLast((id) => id <= after) ?? merchants.at(-1) ?? after
}
