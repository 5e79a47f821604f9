import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { WIDE_FACTOR } from '../lib/network-hash.ts'
import type { NetworkHashes } from '../lib/network-hash.ts'
import { SECONDS_PER_HOUR, makeTokenBuckets } from '../lib/token-buckets.ts'
import type { RateLimit, TokenBuckets } from '../lib/token-buckets.ts'
import type { Wake } from './wake.ts'

/**
 * Rate limits of a whole installation (decision 297). A request takes a token of its own process, without asking anything;
 * each second a process reports to the others what its busy keys took, and they count it. So several processes allow what one
 * does, after at most a second.
 */
export type SharedRates = {
  /** The buckets of one kind of request. The name is the same in every process. */
  buckets(name: string, limit: RateLimit): TokenBuckets['take']
  /** The same for networks: a wide one has several times the rate, so that its holder can't use one after the other. */
  networkBuckets(name: string, limit: RateLimit): (network: NetworkHashes) => number
  /** The seconds that a network has to wait for this kind of request; takes nothing. */
  networkWait(name: string, network: NetworkHashes): number
  /** Reports and listens until the returned function is called. */
  share(): Promise<() => Promise<void>>
}

const REPORT_EVERY_MS = 1_000

/** The share of a burst that is reported: what several processes let pass without a report is less than a burst. */
const LEAST_SHARE = 1 / 20

/** A client that takes a slow refill as it comes never has that share, so what a second adds is reported as well. */
const leastCount = ({ burst, perHour }: RateLimit): number =>
  Math.max(1, Math.min(burst * LEAST_SHARE, perHour / SECONDS_PER_HOUR))

/** NOTIFY takes at most 8,000 bytes. */
const TAKEN_PER_MESSAGE = 50

const PREFIX = 'rates '
const Taken = z.object({ by: z.string(), taken: z.array(z.tuple([z.string(), z.string(), z.number()])) })

export function makeSharedRates({ wake, now }: { wake: Wake; now?: (() => number) | undefined }): SharedRates {
  const own = randomUUID()
  const all = new Map<string, TokenBuckets>()

  function buckets(name: string, limit: RateLimit): TokenBuckets['take'] {
    const made = all.get(name) ?? makeTokenBuckets(limit, now)
    all.set(name, made)
    return made.take
  }

  function report(): void {
    const taken = [...all].flatMap(([name, each]) =>
      each.collect(leastCount(each.limit)).map(([key, count]) => [name, key, count] as const),
    )
    for (let at = 0; at < taken.length; at += TAKEN_PER_MESSAGE)
      wake.notify(PREFIX + JSON.stringify({ by: own, taken: taken.slice(at, at + TAKEN_PER_MESSAGE) }))
  }

  function hear(message: string): void {
    if (!message.startsWith(PREFIX)) return
    const heard = Taken.safeParse(JSON.parse(message.slice(PREFIX.length)))
    if (!heard.success || heard.data.by === own) return
    for (const [name, key, count] of heard.data.taken) all.get(name)?.drain(key, count)
  }

  return {
    buckets,
    networkBuckets: (name, limit) => {
      const takeOwn = buckets(name, limit)
      const takeWide = buckets(`${name} wide`, {
        burst: limit.burst * WIDE_FACTOR,
        perHour: limit.perHour * WIDE_FACTOR,
      })
      return (network) => {
        const seconds = takeOwn(network.own)
        return seconds > 0 || network.wide === network.own ? seconds : takeWide(network.wide)
      }
    },
    networkWait: (name, network) =>
      Math.max(all.get(name)?.wait(network.own) ?? 0, all.get(`${name} wide`)?.wait(network.wide) ?? 0),
    share: async () => {
      const stopListening = await wake.listen(hear)
      const timer = setInterval(report, REPORT_EVERY_MS)
      return async () => {
        clearInterval(timer)
        await stopListening()
      }
    },
  }
}
