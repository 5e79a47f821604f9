import type { ClaimedDelivery } from './record.ts'

/** A claimed delivery that waits for its turn: when it was read, by both clocks, and the end of its lease in monotonic time. */
export type Ready = { delivery: ClaimedDelivery; read: Moment; leaseEndsAt: number }

/** Monotonic time stands still while a machine is suspended, and the time of day may be set: what differs by one is late. */
export type Moment = { monotonic: number; ofDay: number }

export const thisMoment = (): Moment => ({ monotonic: performance.now(), ofDay: Date.now() })

type Lane = {
  merchantId: string
  waiting: Ready[]
  /** When those in progress were started, by their ids. */
  inProgress: Map<string, number>
  /** The ids of all that are claimed and not yet recorded. */
  rows: Set<string>
  isInTurn: boolean
}

/**
 * The lanes that a worker holds, with the deliveries that it has claimed of each. They start in turn, lane by lane, and
 * of each lane only a limited number is in progress, so that a slow endpoint uses only its own slots. All slow ones
 * together have no more than their share: many of them would hold every slot for the whole time-out (decision 392).
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
  /** Its attempt has begun: a slow lane has had its turn, which one that is dropped has not. */
  begun(delivery: ClaimedDelivery): void
  /** Its attempt has ended, and is still to be recorded: the next one of its lane may start. */
  answered(delivery: ClaimedDelivery): void
  /** It is recorded, or dropped. */
  done(delivery: ClaimedDelivery): void
  /** The ids of a merchant's deliveries that were started and are not yet recorded. */
  startedOf(merchantId: string): string[]
  /** What a claim has to know of the lanes. */
  held(): { merchants: string[]; counts: number[]; rows: string[] }
  /** The slow merchants of which a claim reads nothing, because others of them have their turn before. */
  skipped(): string[]
  /** What a claim has found: slow merchants that it has read, and of whom nothing is due, have had their turn. */
  claimed(deliveries: readonly ClaimedDelivery[], wasRead: (merchantId: string) => boolean): void
  /** Forgets lanes that a claim has released. */
  forget(merchants: readonly string[]): void
}

/** An attempt that took longer makes its lane a slow one, until one takes less while none in progress has taken longer. */
const SLOW_MS = 1_000

/** Merchants that are known to be slow, also while nothing of theirs is due: those whose last attempts began last. */
const SLOW_MERCHANTS_MAX = 1_000

/** Of so many slow lanes rows are claimed at once: of those whose last attempt began first, so that each has its turn. */
export const SLOW_LANES_MAX = 16

export type LanesOptions = {
  /** How many deliveries of a merchant are in progress at once. */
  perMerchantMax: number
  /** How many of all slow lanes are. */
  slowMax: number
  /** Monotonic time in milliseconds. */
  now?: () => number
}

export function makeLanes({ perMerchantMax, slowMax, now = () => performance.now() }: LanesOptions): Lanes {
  const lanes = new Map<string, Lane>()
  /** The lanes that can start a delivery. */
  const turns: { fast: Lane[]; slow: Lane[] } = { fast: [], slow: [] }
  /** The merchants of slow lanes, in the order of their last attempts, and when each had its last turn. */
  const slow = new Map<string, number>()
  let count = 0
  let inProgress = 0
  let slowInProgress = 0
  let lastTurn: 'fast' | 'slow' = 'fast'

  const speedOf = ({ merchantId }: Lane): 'fast' | 'slow' => (slow.has(merchantId) ? 'slow' : 'fast')
  const waitingIn = (queued: readonly Lane[]): number => queued.reduce((sum, { waiting }) => sum + waiting.length, 0)

  function queue(lane: Lane): void {
    if (lane.isInTurn || lane.waiting.length === 0 || lane.inProgress.size >= perMerchantMax) return
    lane.isInTurn = true
    turns[speedOf(lane)].push(lane)
  }

  /** Both kinds take turns, as long as the slow ones may start at all. */
  function takeTurn(): Lane | undefined {
    const maySlow = turns.slow.length > 0 && slowInProgress < slowMax
    lastTurn = maySlow && (turns.fast.length === 0 || lastTurn === 'fast') ? 'slow' : 'fast'
    const lane = lastTurn === 'fast' ? turns.fast.shift() : takeLongestWaiting()
    if (lane !== undefined) lane.isInTurn = false
    return lane
  }

  const begunAt = ({ merchantId }: Lane): number => slow.get(merchantId) ?? 0

  function takeLongestWaiting(): Lane | undefined {
    const [first, ...others] = turns.slow
    if (first === undefined) return undefined
    const lane = others.reduce((longest, each) => (begunAt(each) < begunAt(longest) ? each : longest), first)
    turns.slow.splice(turns.slow.indexOf(lane), 1)
    return lane
  }

  function setSpeed(lane: Lane, speed: 'fast' | 'slow'): void {
    const before = speedOf(lane)
    if (before === speed || (speed === 'slow' && !makeRoom())) return
    slowInProgress += speed === 'slow' ? lane.inProgress.size : -lane.inProgress.size
    if (speed === 'slow') slow.set(lane.merchantId, now())
    else slow.delete(lane.merchantId)
    if (!lane.isInTurn) return
    turns[before].splice(turns[before].indexOf(lane), 1)
    turns[speed].push(lane)
  }

  const hasRows = (merchantId: string): boolean => (lanes.get(merchantId)?.rows.size ?? 0) > 0

  /** Room for one more slow merchant, in place of one that has sent nothing for longest: it may never send again. */
  function makeRoom(): boolean {
    if (slow.size < SLOW_MERCHANTS_MAX) return true
    const idle = [...slow.keys()].find((merchantId) => !hasRows(merchantId))
    return idle !== undefined && slow.delete(idle)
  }

  /** Those who have waited longest come first. */
  const slowByTurn = (): string[] => [...slow].toSorted(([, a], [, b]) => a - b).map(([merchantId]) => merchantId)

  function isSlow(lane: Lane, startedAt: number): boolean {
    // The first one in progress is the oldest.
    const [oldest = Infinity] = lane.inProgress.values()
    return now() - Math.min(startedAt, oldest) > SLOW_MS
  }

  /** @returns when it was started; undefined if it is not in progress */
  function leave(lane: Lane, id: string): number | undefined {
    const startedAt = lane.inProgress.get(id)
    if (startedAt === undefined) return undefined
    lane.inProgress.delete(id)
    inProgress -= 1
    if (speedOf(lane) === 'slow') slowInProgress -= 1
    return startedAt
  }

  return {
    rowsMax: 3 * perMerchantMax,
    count: () => count,
    load: () =>
      inProgress + waitingIn(turns.fast) + Math.min(waitingIn(turns.slow), Math.max(slowMax - slowInProgress, 0)),
    add: (ready) => {
      const { merchant_id: merchantId, delivery_id: id } = ready.delivery
      const lane: Lane = lanes.get(merchantId) ?? {
        merchantId,
        waiting: [],
        inProgress: new Map(),
        rows: new Set(),
        isInTurn: false,
      }
      lanes.set(merchantId, lane)
      lane.waiting.push(ready)
      lane.rows.add(id)
      count += 1
      queue(lane)
    },
    next: () => {
      const lane = takeTurn()
      const ready = lane?.waiting.shift()
      if (lane === undefined || ready === undefined) return undefined
      lane.inProgress.set(ready.delivery.delivery_id, now())
      inProgress += 1
      if (speedOf(lane) === 'slow') slowInProgress += 1
      queue(lane)
      return ready
    },
    begun: ({ merchant_id: merchantId }) => {
      // Deleted first, so that it is the last in order.
      if (slow.delete(merchantId)) slow.set(merchantId, now())
    },
    answered: ({ merchant_id: merchantId, delivery_id: id }) => {
      const lane = lanes.get(merchantId)
      const startedAt = lane && leave(lane, id)
      if (lane === undefined || startedAt === undefined) return
      setSpeed(lane, isSlow(lane, startedAt) ? 'slow' : 'fast')
      queue(lane)
    },
    done: ({ merchant_id: merchantId, delivery_id: id }) => {
      const lane = lanes.get(merchantId)
      if (lane === undefined) return
      if (leave(lane, id) !== undefined) queue(lane)
      if (lane.rows.delete(id)) count -= 1
    },
    startedOf: (merchantId) => {
      const { rows = [], waiting = [] } = lanes.get(merchantId) ?? {}
      const waitingIds = new Set(waiting.map(({ delivery }) => delivery.delivery_id))
      return [...rows].filter((id) => !waitingIds.has(id))
    },
    held: () => {
      const entries = [...lanes]
      return {
        merchants: entries.map(([merchantId]) => merchantId),
        counts: entries.map(([, { rows }]) => rows.size),
        rows: entries.flatMap(([, { rows }]) => [...rows]),
      }
    },
    skipped: () => (slow.size > SLOW_LANES_MAX ? slowByTurn().slice(SLOW_LANES_MAX) : []),
    claimed: (deliveries, wasRead) => {
      const found = new Set(deliveries.map(({ merchant_id: merchantId }) => merchantId))
      for (const merchantId of slow.keys())
        if (wasRead(merchantId) && !found.has(merchantId) && !hasRows(merchantId)) slow.set(merchantId, now())
    },
    forget: (merchants) => {
      for (const merchantId of merchants) lanes.delete(merchantId)
    },
  }
}
