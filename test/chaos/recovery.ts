import type { Traffic } from './clients.ts'
import type { Fault, Repetition } from './judge.ts'
import type { Manner } from './shops.ts'

type Spread = { count: number; median: number; max: number }

/** A worker is killed while a webhook is sent, or shortly before its record. */
const BEFORE_MS = 100
const AFTER_MS = 3_500

/** How long it took until things went on again, and until a request was refused while the database was away. */
export function recovery(input: {
  traffic: Traffic
  /** When PostgreSQL answered again after each time that it was killed. */
  backAt: readonly number[]
  faults: readonly Fault[]
  repeated: readonly Repetition[]
  /** How each shop answers. */
  manners: readonly Manner[]
}): Record<string, Spread> {
  const { traffic, backAt, faults, repeated, manners } = input
  const firsts = backAt.flatMap((back) => {
    const created = traffic.createdAt.find((at) => at >= back)
    return created === undefined ? [] : [created - back]
  })
  const kills = faults.filter(({ kind }) => kind === 'kill worker')
  const again = repeated.flatMap(({ shop, first, second }) => {
    const kill = kills.find(({ at }) => at >= first - BEFORE_MS && at <= first + AFTER_MS)
    return kill === undefined ? [] : [{ isGood: manners[shop] === 'good', ms: second - kill.at }]
  })
  const msOf = (isGood: boolean): number[] => again.filter((each) => each.isGood === isGood).map(({ ms }) => ms)
  return {
    payment_after_database: spread(firsts),
    webhook_after_worker: spread(msOf(true)),
    // Half of the time these are no shops: their deliveries wait until an attempt after a longer while.
    webhook_after_worker_at_other_shops: spread(msOf(false)),
    refusal_without_database: spread(traffic.refusedMs),
  }
}

function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  return { count: sorted.length, median: sorted[Math.floor(sorted.length / 2)] ?? 0, max: sorted.at(-1) ?? 0 }
}
