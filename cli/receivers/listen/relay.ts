import { z } from 'zod'
import { listEvents } from '../../../src/wire/feed.ts'
import type { FeedEvent } from '../../../src/wire/feed.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { isSigned } from '../../webhooks/listen-secret.ts'
import type { KnownSecret } from '../../webhooks/listen-secret.ts'
import type { Sender } from '../send.ts'
import type { EventFilter } from '../target.ts'
import type { Report } from './report.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { isPassing } from '../../base/errors.ts'
import type { CliError } from '../../base/errors.ts'
import { parsedJson } from '../../base/json.ts'

/** Payments that are sent on side by side, and events that may wait behind them. */
const WIDTH = 8
const PENDING_MAX = 100

export type Tally = {
  events: number
  answered: number
  /** Forwards without a 2xx, and signatures that are wrong. */
  failed: number
  /** All before this place is done; null is the beginning of the feed. */
  cursor: string | null
}

export type RelayOptions = {
  since: string
  wants: EventFilter
  /** Whether this is the event after which there is nothing more to do. */
  isLast: EventFilter
  secret: KnownSecret | undefined
  sender: Sender | undefined
  report: Report
  signal: AbortSignal
  onReady(cursor: string | null): void
  printData(event: FeedEvent): void
}

/**
 * Sends the feed's events on until the last one that is wanted, or until the signal aborts. The events of one payment
 * follow each other, each after the answer to the one before; an event that was not answered well is not sent again.
 * Resolves with whether the last one came.
 */
export async function relay(client: Client, tally: Tally, options: RelayOptions): Promise<boolean> {
  const { report, signal, wants, isLast } = options
  const lanes = makeLanes()
  const follow = {
    since: options.since,
    signal,
    onReady(cursor: string | null) {
      tally.cursor = cursor
      options.onReady(cursor)
    },
    onLost: (error: Error) => report.note(`${error.message}. Trying again until it answers; no event is lost.`),
    onBack: () => report.note('The service is back.'),
  }
  const begin = makeProgress(tally)
  let isFound = false
  for await (const event of followFeed(client, follow)) {
    const done = begin(event.cursor)
    if (!wants(event.event_type)) {
      done()
      continue
    }
    options.printData(event)
    await lanes.add(laneOf(event), () => handle(event, tally, { ...options, done }))
    isFound = isLast(event.event_type)
    if (isFound) break
  }
  await lanes.idle()
  return isFound && !signal.aborted
}

async function handle(event: FeedEvent, tally: Tally, options: RelayOptions & { done(): void }): Promise<void> {
  const { report, secret, sender, signal, done } = options
  if (signal.aborted) return
  tally.events += 1
  report.arrived(event)
  const isGood = secret === undefined || isSigned(event, secret.read())
  if (!isGood) {
    report.alarm(
      `WRONG SIGNATURE: [${event.event_id}] is not signed with the secret of ${secret.source}. Was the secret rotated, or is it another merchant's?`,
    )
  }
  const result = await sender?.send({
    headers: { 'user-agent': 'svc-webhooks/1', 'content-type': 'application/json', ...event.signatures },
    body: Buffer.from(event.payload, 'utf8'),
    label: event.event_type,
  })
  // It was cut off in the middle: it counts as not done.
  if (result?.status === null && signal.aborted) return
  if (result !== undefined) report.answered(event, result)
  const isAnswered = result !== undefined && result.reason === undefined
  if (isAnswered) tally.answered += 1
  if (!isGood || (result !== undefined && !isAnswered)) tally.failed += 1
  done()
}

const OfPayment = z.object({ data: z.object({ object: z.literal('transaction'), id: z.string() }) })

/** Events of one payment keep their order; those about nothing else wait for none. */
function laneOf(event: FeedEvent): string {
  return OfPayment.safeParse(parsedJson(event.payload)).data?.data.id ?? event.event_id
}

/** Runs tasks of one key one after the other, in the order in which they came, and those of different keys side by side. */
function makeLanes() {
  const tails = new Map<string, Promise<void>>()
  // A task that failed stays, for the next one that waits.
  const pending = new Set<Promise<void>>()
  const running = new Set<Promise<void>>()
  const run = async (task: () => Promise<void>): Promise<void> => {
    while (running.size >= WIDTH) await Promise.race(running)
    const work = task()
    running.add(work)
    await work.finally(() => running.delete(work))
  }
  return {
    async add(key: string, task: () => Promise<void>): Promise<void> {
      while (pending.size >= PENDING_MAX) await Promise.race(pending)
      const tail = (tails.get(key) ?? Promise.resolve())
        .then(() => run(task))
        .then(() => {
          pending.delete(tail)
          if (tails.get(key) === tail) tails.delete(key)
        })
      tail.catch(() => undefined)
      pending.add(tail)
      tails.set(key, tail)
    },
    idle: async (): Promise<void> => void (await Promise.all(pending)),
  }
}

/** Moves the tally's cursor over what is done, but never over something before it that is not. */
function makeProgress(tally: Tally): (cursor: string) => () => void {
  const open: { cursor: string; isDone: boolean }[] = []
  return (cursor) => {
    const entry = { cursor, isDone: false }
    open.push(entry)
    return () => {
      entry.isDone = true
      while (open[0]?.isDone === true) tally.cursor = open.shift()?.cursor ?? null
    }
  }
}

const PAGE = 100
const IDLE_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 2_000

type FollowOptions = {
  /** `latest`, `beginning`, or a cursor of the feed. */
  since: string
  signal: AbortSignal
  /** Called once, when the reader stands at its starting place; null is the beginning of an empty feed. */
  onReady(cursor: string | null): void
  /** Called when the service is lost, once until it is back. */
  onLost(error: CliError): void
  onBack(): void
}

/**
 * Gives a merchant's events in the order of the feed, for ever, until `signal` aborts. Nothing is read ahead of who takes
 * them but one page. A service that goes away is waited for, and reading goes on from where it was; one that can't be
 * reached at the start, or that refuses, is a failure.
 * @throws {CliError} from the service
 */
export async function* followFeed(client: Client, options: FollowOptions): AsyncGenerator<FeedEvent, void> {
  const { since, signal } = options
  const read = makeReader(client, options)
  let after = since === 'beginning' ? undefined : since
  let isReady = false
  while (!signal.aborted) {
    const page = await read(after, { isFirst: !isReady })
    if (page === undefined) return
    if (!isReady) options.onReady(since === 'latest' ? page.next_cursor : (after ?? null))
    isReady = true
    for (const event of page.data) {
      if (signal.aborted) return
      yield event
    }
    after = page.next_cursor ?? after
    if (page.data.length < PAGE) await pause(IDLE_PAUSE_MS, signal)
  }
}

type Page = { data: FeedEvent[]; next_cursor: string | null }

/** Reads one page, as often as it takes; undefined when the signal ended it. */
function makeReader(client: Client, { signal, onLost, onBack }: FollowOptions) {
  return async (after: string | undefined, { isFirst }: { isFirst: boolean }): Promise<Page | undefined> => {
    let pauseMs = IDLE_PAUSE_MS
    let isLost = false
    while (!signal.aborted) {
      try {
        const query = { limit: PAGE, ...(after === undefined ? {} : { after }) }
        const reply = await unlessAborted(call(client, listEvents, { query }), signal)
        if (reply !== undefined && isLost) onBack()
        return reply?.body
      } catch (error) {
        if (isFirst || !isPassing(error)) throw error
        if (!isLost) onLost(error)
        isLost = true
      }
      await pause(pauseMs, signal)
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)
    }
    return undefined
  }
}

/** The promise's value, or undefined as soon as the signal aborts; the request is ended with its client. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const aborted = Promise.withResolvers<undefined>()
  const onAbort = (): void => aborted.resolve(undefined)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([promise, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined)
}
