import type { CommonQueryMethods } from 'slonik'
import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { makeAutoResetEvent } from '../lib/auto-reset-event.ts'
import { LATEST, decodeCursor, encodeCursor, rejectAheadOfFeed } from '../webhooks/feed-cursor.ts'
import { findFeedEnd } from '../webhooks/feed-sql.ts'
import type { FeedPosition } from '../webhooks/feed-sql.ts'
import { allChangesFor, changeOf, isFor } from './stream-changes.ts'
import type { Subscriber } from './stream-changes.ts'
import { followFeed } from './follow-feed.ts'
import type { Changed, Frame } from './follow-feed.ts'
import { makeConcurrencyLimits } from '../lib/concurrency-limits.ts'
import type { ConcurrencyLimit } from '../lib/concurrency-limits.ts'
import { listStreamedEvents } from './stream-sql.ts'
import type { StreamedEventRecord } from './stream-sql.ts'

/** The limits of streams and how often they read: milliseconds, events and streams. */
const STREAM_LIMITS = {
  pageMax: 500,
  gapMs: 200,
  fallbackMs: 5_000,
  /** Between two checks whether the caller may still read, and between two pings. */
  askAgainMs: 10_000,
  pingMs: 15_000,
  /** How long a reader may accept nothing at all. */
  stuckMs: 30_000,
  perProcess: 200,
  /** Of those of the process: merchants can't use them, however many there are. */
  reservedForOperators: 50,
  perMerchant: 25,
  perCaller: 10,
  /** Of merchants that no operator has approved: anyone can register some. They have no payments to follow. */
  unapproved: 20,
  perUnapproved: 5,
}
export type StreamLimits = typeof STREAM_LIMITS

/** The receiving end of a stream. */
export type Sink = {
  /** Aborts when the reader has disconnected or has been sent the end. */
  signal: AbortSignal
  begin(cursor: string): void
  write(frames: readonly Frame[]): Promise<void>
  end(reason: DomainError): void
}

export type StreamInput = Subscriber & {
  /** The caller, whose streams are counted. */
  caller: string
  /** Whether operators have approved the merchant; true for operators. */
  isApproved: boolean
  /** A cursor, or `latest`. */
  after: string | undefined
  /** Whether the request is a HEAD: the stream begins and ends at once. */
  headOnly: boolean
  sink: Sink
}

export type Streams = {
  limits: StreamLimits
  /**
   * Follows the feed until the sink's signal aborts.
   * @throws {DomainError} VALIDATION_FAILED for a wrong cursor, RATE_LIMITED, SERVICE_UNAVAILABLE while the process stops
   */
  follow(input: StreamInput): Promise<void>
  /** Allows streams again, after `end`. */
  open(): void
  /** Ends every stream at once and refuses new ones. */
  end(): void
}

type Dependencies = Pick<App, 'pool' | 'wake' | 'log' | 'metrics'>
type Running = {
  gate: ReturnType<typeof makeAutoResetEvent>
  changed: Set<Changed>
  subscriber: Subscriber
  sink: Sink
}

/** Jobs that are woken when events have been written. */
const JOBS_OF_EVENTS: ReadonlySet<string> = new Set(['deliver-webhooks', 'pay-mandates'])

/** The streams of one process. They share one listening connection, which the first of them opens, and their reads. */
export function makeStreams(app: Dependencies, overrides: Partial<StreamLimits> = {}): Streams {
  const limits = { ...STREAM_LIMITS, ...overrides }
  const running = new Set<Running>()
  const connections = makeConcurrencyLimits('open streams')
  const reads = makeSharedReads(app.pool, limits.pageMax)
  let listening: Promise<unknown> | undefined
  let isOpen = true

  function onWakeUp(name: string): void {
    const change = changeOf(name)
    if (change === undefined && !JOBS_OF_EVENTS.has(name)) return
    reads.invalidate()
    for (const { gate, changed, subscriber } of running) {
      if (change !== undefined && !isFor(change, subscriber)) continue
      if (change !== undefined) changed.add(change.of)
      gate.open()
    }
  }

  /** After a gap in listening anything may have changed: wake-ups are not kept for a listener that is away. */
  function onReconnect(): void {
    reads.invalidate()
    for (const { gate, changed, subscriber } of running) {
      for (const of of allChangesFor(subscriber)) changed.add(of)
      gate.open()
    }
  }

  /** Until it listens, streams read every few seconds. */
  async function listen(): Promise<void> {
    listening ??= app.wake.listen(onWakeUp, onReconnect)
    await listening
  }

  async function run(input: StreamInput, start: FeedPosition): Promise<void> {
    const { merchantId, sink } = input
    const one: Running = { gate: makeAutoResetEvent(), changed: new Set(), subscriber: input, sink }
    running.add(one)
    app.metrics.eventStreams.set(running.size)
    sink.signal.addEventListener('abort', one.gate.open, { once: true })
    try {
      sink.begin(encodeCursor(start))
      await followFeed({
        ...limits,
        start,
        gate: one.gate,
        signal: sink.signal,
        read: (after) => reads.read(merchantId, after),
        takeChanges: () => takeAll(one.changed),
        write: (frames) => sink.write(frames),
        onFailure: (error) => app.log.warn({ err: error }, 'a stream could not read; it tries again'),
      })
    } finally {
      running.delete(one)
      app.metrics.eventStreams.set(running.size)
    }
  }

  return {
    limits,
    follow: async (input) => {
      const after = input.after ?? LATEST
      const position = after === LATEST ? undefined : decodeCursor(after, 'after')
      if (!isOpen) throw stopping()
      const release = connections.acquire(limitsOf(input, limits))
      try {
        if (position !== undefined) await rejectAheadOfFeed(app.pool, position, 'after')
        if (!input.headOnly) await listen()
        // An event that is written during this statement comes after the position, and is read at once.
        const start = position ?? (await findFeedEnd(app.pool))
        if (!isOpen) throw stopping()
        if (input.headOnly) input.sink.begin(encodeCursor(start))
        else await run(input, start)
      } finally {
        release()
      }
    },
    open: () => (isOpen = true),
    end: () => {
      isOpen = false
      for (const { sink } of running) sink.end(stopping())
    },
  }
}

/** What a stream counts towards, each with its maximum. */
function limitsOf({ merchantId, isApproved, caller }: StreamInput, limits: StreamLimits): ConcurrencyLimit[] {
  const all = { key: 'all', max: limits.perProcess }
  const ofCaller = { key: `caller ${caller}`, max: limits.perCaller }
  if (merchantId === undefined) return [all, ofCaller]
  return [
    all,
    { key: 'merchants', max: limits.perProcess - limits.reservedForOperators },
    { key: `merchant ${merchantId}`, max: isApproved ? limits.perMerchant : limits.perUnapproved },
    ...(isApproved ? [] : [{ key: 'unapproved', max: limits.unapproved }]),
    ofCaller,
  ]
}

function stopping(): DomainError {
  return new DomainError('SERVICE_UNAVAILABLE', 'the service is stopping', {
    next: 'connect again with the last cursor',
    retryAfterSeconds: 1,
  })
}

function takeAll(changed: Set<Changed>): Changed[] {
  const of = [...changed]
  changed.clear()
  return of
}

/** Streams at the same position share a read, unless a wake-up has come since it began. */
function makeSharedReads(pool: CommonQueryMethods, limit: number) {
  const inProgress = new Map<string, Promise<readonly StreamedEventRecord[]>>()
  return {
    /** Reads in progress may miss an event from here on: no other stream shares them. */
    invalidate: () => inProgress.clear(),
    read: (merchantId: string | undefined, after: FeedPosition): Promise<readonly StreamedEventRecord[]> => {
      const key = `${merchantId ?? ''} ${after.xid}.${after.ordinal}`
      const known = inProgress.get(key)
      if (known !== undefined) return known
      const reading = listStreamedEvents(pool, { merchantId, after, limit }).finally(() => {
        if (inProgress.get(key) === reading) inProgress.delete(key)
      })
      inProgress.set(key, reading)
      return reading
    },
  }
}
