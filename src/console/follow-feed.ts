import { setTimeout as delay } from 'node:timers/promises'
import { encodeCursor } from '../webhooks/feed-cursor.ts'
import type { FeedPosition } from '../webhooks/feed-sql.ts'
import type { AutoResetEvent } from '../lib/auto-reset-event.ts'
import type { StreamedChange, StreamedEvent } from '../wire/console.ts'
import type { StreamedRecord } from './stream-sql.ts'

/** One frame of a stream; those of events carry the cursor behind them. */
export type Frame = { event: 'event'; id: string; data: StreamedEvent } | { event: 'changed'; data: StreamedChange }

export type Changed = StreamedChange['of'][number]

export type Following = {
  start: FeedPosition
  /** Opened by whatever may have written an event, and at the end. */
  gate: AutoResetEvent
  signal: AbortSignal
  /** Rows behind a place, at most `pageMax`. */
  read(after: FeedPosition): Promise<readonly StreamedRecord[]>
  /** What has changed since it was last asked. */
  takeChanges(): Changed[]
  /** Resolves when the reader has room for more. */
  write(frames: readonly Frame[]): Promise<void>
  /** Told of a read that failed; the next one is at the next turn. */
  onFailure(error: unknown): void
  pageMax: number
  /** Milliseconds between two reads, and until one that nothing asked for. */
  gapMs: number
  fallbackMs: number
}

/**
 * Writes what comes behind a place of the feed until the signal aborts. Wake-ups that come close together are one read;
 * one that is lost costs `fallbackMs`. Nothing is read ahead of what the reader has room for.
 */
export async function followFeed(following: Following): Promise<void> {
  const { gate, signal, gapMs, fallbackMs, pageMax } = following
  let position = following.start
  while (!signal.aborted) {
    const readAt = performance.now()
    const changes = following.takeChanges()
    const rows = await readOrTell(following, position)
    const settled = rows.slice(0, settledOf(rows))
    const frames = [...changesOf(changes), ...settled.map(frameOf)]
    if (frames.length > 0) await following.write(frames)
    position = settled.at(-1) ?? position
    const hasMore = rows.length === pageMax || settled.length < rows.length
    if (!hasMore) await gate.wait(fallbackMs)
    await delay(Math.max(0, readAt + gapMs - performance.now()), undefined, { signal }).catch(() => undefined)
  }
}

async function readOrTell({ read, onFailure, signal }: Following, after: FeedPosition) {
  if (signal.aborted) return []
  try {
    return await read(after)
  } catch (error) {
    onFailure(error)
    return []
  }
}

/** How many of the rows nothing can come before any more. */
function settledOf(rows: readonly StreamedRecord[]): number {
  const first = rows.findIndex((row) => !row.is_settled)
  return first === -1 ? rows.length : first
}

function frameOf({ xid, ordinal, ...row }: StreamedRecord): Frame {
  const { event_id, event_type, payment_id, merchant_id, realm_slug, created_at } = row
  const data = { event_id, event_type, payment_id, merchant_id, realm_slug, created_at }
  return { event: 'event', id: encodeCursor({ xid, ordinal }), data }
}

function changesOf(of: Changed[]): Frame[] {
  return of.length === 0 ? [] : [{ event: 'changed', data: { of } }]
}
