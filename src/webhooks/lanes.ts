import type { ClaimedDelivery } from './record.ts'

/** A claimed delivery that waits for its turn; the moments are monotonic time. */
export type Ready = { delivery: ClaimedDelivery; claimedAt: number; leaseEndsAt: number }

type Lane = {
  waiting: Ready[]
  /** The ids of those in progress. */
  inProgress: Set<string>
  /** The ids of all that are claimed and not yet recorded. */
  rows: Set<string>
  isInTurn: boolean
}

/**
 * The lanes that a worker holds, with the deliveries that it has claimed of each. They start in turn, lane by lane, and
 * of each lane only a limited number is in progress, so that a slow endpoint uses only its own slots.
 */
export type Lanes = {
  /**
   * The most deliveries that are claimed of a lane at once: those in progress, as many that follow, and as many that
   * are recorded.
   */
  rowsMax: number
  /** The number of deliveries that are claimed and neither recorded nor dropped. */
  count(): number
  /** Those of them that are in progress or may start. Those that wait behind slow ones of their own lane are left out. */
  load(): number
  add(ready: Ready): void
  /** The next delivery that may start, which is then in progress until it is answered. */
  next(): Ready | undefined
  /** Its attempt has ended, and is still to be recorded: the next one of its lane may start. */
  answered(delivery: ClaimedDelivery): void
  /** It is recorded, or dropped. */
  done(delivery: ClaimedDelivery): void
  /** What a claim has to know of the lanes. */
  held(): { merchants: string[]; counts: number[]; rows: string[] }
  /** Forgets lanes that a claim has released. */
  forget(merchants: readonly string[]): void
}

/** @param perMerchantMax how many deliveries of a merchant are in progress at once */
export function makeLanes(perMerchantMax: number): Lanes {
  const lanes = new Map<string, Lane>()
  /** The lanes that can start a delivery. */
  const turns: Lane[] = []
  let count = 0
  let inProgress = 0

  function queue(lane: Lane): void {
    if (lane.isInTurn || lane.waiting.length === 0 || lane.inProgress.size >= perMerchantMax) return
    lane.isInTurn = true
    turns.push(lane)
  }

  function answered({ merchant_id: merchantId, delivery_id: id }: ClaimedDelivery): void {
    const lane = lanes.get(merchantId)
    if (lane === undefined || !lane.inProgress.delete(id)) return
    inProgress -= 1
    queue(lane)
  }

  return {
    rowsMax: 3 * perMerchantMax,
    count: () => count,
    load: () => turns.reduce((sum, lane) => sum + lane.waiting.length, inProgress),
    add: (ready) => {
      const { merchant_id: merchantId, delivery_id: id } = ready.delivery
      const lane = lanes.get(merchantId) ?? { waiting: [], inProgress: new Set(), rows: new Set(), isInTurn: false }
      lanes.set(merchantId, lane)
      lane.waiting.push(ready)
      lane.rows.add(id)
      count += 1
      queue(lane)
    },
    next: () => {
      const lane = turns.shift()
      const ready = lane?.waiting.shift()
      if (lane === undefined || ready === undefined) return undefined
      lane.isInTurn = false
      lane.inProgress.add(ready.delivery.delivery_id)
      inProgress += 1
      queue(lane)
      return ready
    },
    answered,
    done: (delivery) => {
      answered(delivery)
      if (lanes.get(delivery.merchant_id)?.rows.delete(delivery.delivery_id) === true) count -= 1
    },
    held: () => {
      const entries = [...lanes]
      return {
        merchants: entries.map(([merchantId]) => merchantId),
        counts: entries.map(([, { rows }]) => rows.size),
        rows: entries.flatMap(([, { rows }]) => [...rows]),
      }
    },
    forget: (merchants) => {
      for (const merchantId of merchants) lanes.delete(merchantId)
    },
  }
}
