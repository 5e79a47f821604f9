import { setTimeout as delay } from 'node:timers/promises'
import { encodeCursor } from '../webhooks/feed-cursor.ts'
import type { FeedPosition } from '../webhooks/feed-sql.ts'
import type { AutoResetEvent } from '../lib/auto-reset-event.ts'
import type { StreamedChange, StreamedEvent } from '../wire/console.ts'
import type { StreamedEventRecord } from './stream-sql.ts'

/** One frame of a stream; the frame of an event carries the cursor that continues after it. */
export type Frame = { event: 'event'; id: string; data: StreamedEvent } | { event: 'changed'; data: StreamedChange }

export type Changed = StreamedChange['of'][number]

export type FollowFeedInput = {
  start: FeedPosition
  /** Opened by anything that may have written an event, and at the end. */
  gate: AutoResetEvent
  signal: AbortSignal
  /** The rows after a position, at most `pageMax`. */
  read(after: FeedPosition): Promise<readonly StreamedEventRecord[]>
  /** The changes since the last call. */
  takeChanges(): Changed[]
  /** Resolves when the reader has room for more. */
  write(frames: readonly Frame[]): Promise<void>
  /** Called for a read that failed; the next turn reads again. */
  onFailure(error: unknown): void
  pageMax: number
  /** Milliseconds between two reads, and until a read without a wake-up. */
  gapMs: number
  fallbackMs: number
}

/**
 * Writes the events after a position of the feed until the signal aborts. Wake-ups in quick succession cause one read; a
 * lost one costs `fallbackMs`. Nothing is read before the reader has room for it.
 */
export async function followFeed(input: FollowFeedInput): Promise<void> {
  const { gate, signal, gapMs, fallbackMs, pageMax } = input
  let position = input.start
  while (!signal.aborted) {
    const readAt = performance.now()
    const changes = input.takeChanges()
    const rows = await readOrReport(input, position)
    const settled = rows.slice(0, countSettled(rows))
    const frames = [...changesOf(changes), ...settled.map(frameOf)]
    if (frames.length > 0) await input.write(frames)
    position = settled.at(-1) ?? position
    const hasMore = rows.length === pageMax || settled.length < rows.length
    if (!hasMore) await gate.wait(fallbackMs)
    await delay(Math.max(0, readAt + gapMs - performance.now()), undefined, { signal }).catch(() => undefined)
  }
}

async function readOrReport({ read, onFailure, signal }: FollowFeedInput, after: FeedPosition) {
  if (signal.aborted) return []
  try {
    return await read(after)
  } catch (error) {
    onFailure(error)
    return []
  }
}

/** How many rows are final: no transaction can still write an event before them. */
function countSettled(rows: readonly StreamedEventRecord[]): number {
  const first = rows.findIndex((row) => !row.is_settled)
  return first === -1 ? rows.length : first
}

function frameOf({ xid, ordinal, ...row }: StreamedEventRecord): Frame {
  const { event_id, event_type, payment_id, merchant_id, realm_slug, created_at } = row
  const data = { event_id, event_type, payment_id, merchant_id, realm_slug, created_at }
  return { event: 'event', id: encodeCursor({ xid, ordinal }), data }
}

function changesOf(of: Changed[]): Frame[] {
  return of.length === 0 ? [] : [{ event: 'changed', data: { of } }]
}
