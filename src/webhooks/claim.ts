import type { App } from '../app.ts'
import { thisMoment } from './lanes.ts'
import type { Lanes, Moment } from './lanes.ts'
import type { ClaimedDelivery } from './record.ts'
import { claimDeliveries } from './sql.ts'

/** The lease of a lane. The lanes of a crashed worker become free when it ends. */
export const leaseMs = 30_000

/** The start of the round-robin over merchants. */
export const firstMerchant = '00000000-0000-0000-0000-000000000000'

/** Due deliveries for this worker, and where the next claim continues the round-robin over merchants. */
export type ClaimedBatch = {
  deliveries: readonly ClaimedDelivery[]
  after: string
  claimedAt: Moment
  skippedCount: number
}

/**
 * Reads up to `rowsMax` due deliveries in one round trip, takes their lanes, and releases lanes that have nothing left.
 * `claimedAt` is taken before the leases begin.
 */
export async function claim(
  app: Pick<App, 'pool'>,
  input: { worker: string; after: string; rowsMax: number; lanes: Lanes },
): Promise<ClaimedBatch> {
  const { lanes, after } = input
  const claimedAt = thisMoment()
  const held = lanes.held()
  const limits = { perMerchantMax: lanes.rowsMax, leaseMs }
  const skipped = lanes.skipped()
  const deliveries = await claimDeliveries(app.pool, { ...input, ...limits, held, skipped })
  const last = lastInRound(deliveries, after)
  const unread = new Set(skipped)
  const isWhole = deliveries.length < input.rowsMax
  lanes.claimed(deliveries, (id) => !unread.has(id) && (isWhole || isInRound(id, { after, last })))
  // Those that had nothing left are released, or are taken again by what was found.
  lanes.forget(held.merchants.filter((_, at) => held.counts[at] === 0))
  return { deliveries, after: last, claimedAt, skippedCount: skipped.length }
}

/** The last merchant in round-robin order: ascending from `after`, then from the first one up to `after`. */
function lastInRound(deliveries: readonly ClaimedDelivery[], after: string): string {
  const merchants = deliveries.map((delivery) => delivery.merchant_id).toSorted()
  return merchants.findLast((id) => id <= after) ?? merchants.at(-1) ?? after
}

/** Whether a round from behind `after` to `last` visits this merchant. */
function isInRound(id: string, { after, last }: { after: string; last: string }): boolean {
  return after < last ? after < id && id <= last : after < id || id <= last
}
