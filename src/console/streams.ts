import type { CommonQueryMethods } from 'slonik'
import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { makeAutoResetEvent } from '../lib/auto-reset-event.ts'
import { LATEST, decodeCursor, encodeCursor } from '../webhooks/feed-cursor.ts'
import { findFeedEnd } from '../webhooks/feed-sql.ts'
import type { FeedPosition } from '../webhooks/feed-sql.ts'
import { allChangesFor, changeOf, concerns } from './stream-changes.ts'
import type { Listener } from './stream-changes.ts'
import { followFeed } from './follow-feed.ts'
import type { Changed, Frame } from './follow-feed.ts'
import { makeSeats } from './connection-limits.ts'
import { listStreamed } from './stream-sql.ts'
import type { StreamedRecord } from './stream-sql.ts'

/** What streams may take, and how often they look. Milliseconds, events and streams. */
const STREAM_LIMITS = {
  pageMax: 500,
  gapMs: 200,
  fallbackMs: 5_000,
  /** Between two looks whether the caller may still read, and two signs of life. */
  askAgainMs: 10_000,
  pingMs: 15_000,
  /** How long a reader may take nothing at all. */
  stuckMs: 30_000,
  inProcess: 200,
  /** Of those of the process: merchants, however many, can't take them. */
  forOperators: 50,
  ofMerchant: 50,
  ofCaller: 10,
}
export type StreamLimits = typeof STREAM_LIMITS

/** Where a stream goes. */
export type Sink = {
  /** Aborts when the reader has gone, or was told of the end. */
  signal: AbortSignal
  begin(cursor: string): void
  write(frames: readonly Frame[]): Promise<void>
  end(why: DomainError): void
}

export type StreamInput = Listener & {
  /** Who asks: each may have so many. */
  caller: string
  /** A cursor, or `latest`. */
  after: string | undefined
  /** Whether the reader wants to know that the stream is there, and nothing of it. */
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
  /** Lets streams begin, after `end`. */
  open(): void
  /** Ends every stream at once, and lets none begin. */
  end(): void
}

type Parts = Pick<App, 'pool' | 'wake' | 'log' | 'metrics'>
type Running = { gate: ReturnType<typeof makeAutoResetEvent>; changed: Set<Changed>; listener: Listener; sink: Sink }

/** Jobs that are woken when events were written. */
const WRITERS: ReadonlySet<string> = new Set(['deliver-webhooks', 'pay-mandates'])

/** The streams of one process. They share one listening connection, which the first of them opens, and their reads. */
export function makeStreams(parts: Parts, given: Partial<StreamLimits> = {}): Streams {
  const limits = { ...STREAM_LIMITS, ...given }
  const running = new Set<Running>()
  const seats = makeSeats()
  const reads = makeSharedReads(parts.pool, limits.pageMax)
  let listening: Promise<unknown> | undefined
  let isOpen = true

  function heard(name: string): void {
    const change = changeOf(name)
    if (change === undefined && !WRITERS.has(name)) return
    reads.begin()
    for (const { gate, changed, listener } of running) {
      if (change !== undefined && !concerns(change, listener)) continue
      if (change !== undefined) changed.add(change.of)
      gate.open()
    }
  }

  /** Nobody knows what was told while nothing was heard: all of it may have changed. */
  function hearAgain(): void {
    reads.begin()
    for (const { gate, changed, listener } of running) {
      for (const of of allChangesFor(listener)) changed.add(of)
      gate.open()
    }
  }

  /** Without wake-ups streams look at their own cadence, and the next one tries again. */
  async function listen(): Promise<void> {
    // Who began before it is told that something may have been passed over.
    listening ??= parts.wake.listen(heard, hearAgain).then(hearAgain)
    await listening.catch((error: unknown) => {
      listening = undefined
      parts.log.warn({ err: error }, 'wake-ups are not heard; streams look every few seconds')
    })
  }

  async function run(input: StreamInput, start: FeedPosition): Promise<void> {
    const { merchantId, sink } = input
    const one: Running = { gate: makeAutoResetEvent(), changed: new Set(), listener: input, sink }
    running.add(one)
    parts.metrics.eventStreams.set(running.size)
    sink.signal.addEventListener('abort', one.gate.open, { once: true })
    try {
      sink.begin(encodeCursor(start))
      await followFeed({
        ...limits,
        start,
        gate: one.gate,
        signal: sink.signal,
        read: (after) => reads.read(merchantId, after),
        takeChanges: () => taken(one.changed),
        write: (frames) => sink.write(frames),
        onFailure: (error) => parts.log.warn({ err: error }, 'a stream could not read; it looks again'),
      })
    } finally {
      running.delete(one)
      parts.metrics.eventStreams.set(running.size)
    }
  }

  return {
    limits,
    follow: async (input) => {
      const given = input.after ?? LATEST
      const position = given === LATEST ? undefined : decodeCursor(given, 'after')
      if (!isOpen) throw stopping()
      const leave = seats.take([
        { key: 'all', max: limits.inProcess },
        ...(input.merchantId === undefined
          ? []
          : [
              { key: 'merchants', max: limits.inProcess - limits.forOperators },
              { key: `merchant ${input.merchantId}`, max: limits.ofMerchant },
            ]),
        { key: `caller ${input.caller}`, max: limits.ofCaller },
      ])
      try {
        if (!input.headOnly) await listen()
        // What comes while this is asked is behind it, and read at once.
        const start = position ?? (await findFeedEnd(parts.pool))
        if (!isOpen) throw stopping()
        if (input.headOnly) input.sink.begin(encodeCursor(start))
        else await run(input, start)
      } finally {
        leave()
      }
    },
    open: () => (isOpen = true),
    end: () => {
      isOpen = false
      for (const { sink } of running) sink.end(stopping())
    },
  }
}

function stopping(): DomainError {
  return new DomainError('SERVICE_UNAVAILABLE', 'the service stops', {
    next: 'connect again, with the last cursor',
    retryAfterSeconds: 1,
  })
}

function taken(changed: Set<Changed>): Changed[] {
  const of = [...changed]
  changed.clear()
  return of
}

/** Streams that stand at the same place share a read, as long as nothing was heard since it began. */
function makeSharedReads(pool: CommonQueryMethods, limit: number) {
  const underWay = new Map<string, Promise<readonly StreamedRecord[]>>()
  return {
    /** From here on, what is under way may lack something. */
    begin: () => underWay.clear(),
    read: (merchantId: string | undefined, after: FeedPosition): Promise<readonly StreamedRecord[]> => {
      const key = `${merchantId ?? ''} ${after.xid}.${after.ordinal}`
      const known = underWay.get(key)
      if (known !== undefined) return known
      const reading = listStreamed(pool, { merchantId, after, limit }).finally(() => {
        if (underWay.get(key) === reading) underWay.delete(key)
      })
      underWay.set(key, reading)
      return reading
    },
  }
}
