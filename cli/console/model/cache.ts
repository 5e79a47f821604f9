import type { Hint, Page, Reading, Screen } from '../screen.ts'
import { NO_FEED, ROWS_MAX, withFirstPage, withNextPage } from './page-list.ts'
import type { Failure, Feed } from './page-list.ts'
import type { View } from './view.ts'

/** A list, the part of a list that the service was asked for, or one row in detail. */
export type Need = {
  /** The same key is the same rows. */
  key: string
  screen: Screen
  /** The id of what is open; empty for lists. */
  arg: string
  filter: string
}

type Request = {
  /** Only the answer to this very request counts: one that was given up may still come. */
  token: symbol
  at: number
  /** Whether the user asked for it: then rows move even while they are held. */
  isUrgent: boolean
  /** Whether the rows have been changed here since: the answer still has them as they were. */
  isLate: boolean
}

/** Something that was read, with what is known about how old it is. */
export type Entry = Need & {
  feed: Feed<unknown>
  /** Whether it has to be read again. */
  isDirty: boolean
  /** Since when the service may have something else; undefined where nothing says so. */
  dueSince: number | undefined
  /** Whether it is read at once, even where it is held. */
  isUrgent: boolean
  request: Request | undefined
  /** When the last request began. */
  askedAt: number
  /** The request for the page behind the last row. */
  further: { token: symbol; cursor: string } | undefined
  /** When the next page may be asked for, after one that failed. */
  furtherAfter: number
}

/** All that was read, what was shown last at the end; and the keys of what is shown now. */
export type Cache = { entries: ReadonlyMap<string, Entry>; shown: readonly string[] }

export const NO_CACHE: Cache = { entries: new Map(), shown: [] }

/** Nothing is read more often than this. */
export const EVERY_MS = 1_000
const PARTS_MAX = 16

export type CacheChange =
  /** A frame of the stream: what it concerns is read again. */
  | { type: 'hint'; hint: Hint; at: number }
  /** Everything may have changed. */
  | { type: 'poll'; at: number }
  /** What is shown is read at once. */
  | { type: 'refresh'; at: number }
  | { type: 'asked'; key: string; token: symbol; cursor?: string; at: number }
  | { type: 'read'; key: string; token: symbol; page: Page<unknown>; at: number; latencyMs: number }
  | { type: 'failed'; key: string; token: symbol; failure: Omit<Failure, 'at'>; isSignedOut: boolean; at: number }
  /** One row as it will be, before the service has said so. */
  | { type: 'patch'; key: string; id: string; row: unknown; at: number }

/** How the rows of a screen are looked at, as far as reading them is concerned. */
export type Looking = { isPaused: boolean; view(screen: Screen): View }

export function feedOf({ entries }: Cache, key: string): Feed<unknown> {
  return entries.get(key)?.feed ?? NO_FEED
}

/** All rows of the whole list of a screen and of its parts. */
export function knownRows({ entries }: Cache, { name }: Screen): unknown[] {
  return [...entries].flatMap(([key, { feed }]) => (key.startsWith(`${name}?`) ? feed.rows : []))
}

/** The id of a row, or of what is open. */
export function idOf({ screen, arg }: Need, row: unknown): string {
  return screen.id(arg === '' || screen.detail === undefined ? row : screen.detail.row(row))
}

function resourceOf({ screen, arg }: Need): { isDirty: Screen['list']['isDirty']; isOld?: Screen['list']['isOld'] } {
  return arg === '' || screen.detail === undefined ? screen.list : screen.detail.resource
}

/** Asks the service for it. */
export async function readNeed(
  { screen, arg, filter }: Need,
  by: Pick<Reading, 'client' | 'who' | 'kept' | 'cursor'>,
): Promise<Page<unknown>> {
  const reading: Reading = { ...by, arg, filter, limit: arg === '' ? (screen.limit ?? 100) : 1 }
  if (arg === '' || screen.detail === undefined) return screen.list.read(reading)
  return { rows: [await screen.detail.resource.read(reading)], next: null }
}

/** The cache with these needs as what is shown. Of what is not shown only so much is kept. */
export function withShown(cache: Cache, needs: readonly Need[], at: number): Cache {
  const shown = needs.map(({ key }) => key)
  const isSame = shown.length === cache.shown.length && shown.every((key, index) => key === cache.shown[index])
  if (isSame && shown.every((key) => cache.entries.has(key))) return cache
  const entries = new Map(cache.entries)
  for (const need of needs) {
    const entry = entries.get(need.key) ?? newEntry(need, at)
    entries.delete(need.key)
    entries.set(need.key, entry)
  }
  const parts = [...entries.values()].filter(({ arg, filter }) => arg !== '' || filter !== '')
  for (const { key } of parts.slice(0, Math.max(0, parts.length - PARTS_MAX)))
    if (!shown.includes(key)) entries.delete(key)
  return { entries, shown }
}

function newEntry(need: Need, at: number): Entry {
  return {
    ...need,
    feed: NO_FEED,
    isDirty: true,
    dueSince: at,
    isUrgent: false,
    request: undefined,
    askedAt: -Infinity,
    further: undefined,
    furtherAfter: -Infinity,
  }
}

function dirtied(entry: Entry, at: number): Entry {
  return { ...entry, isDirty: true, dueSince: entry.dueSince ?? at }
}

/** Whether its rows must not be exchanged for quite other ones, in which the reader would lose the place. */
function holdsRows({ screen, arg }: Need, { view }: Looking): boolean {
  return arg === '' && screen.follow === true && !view(screen).follows
}

/** Whether its rows stay as they are, whatever comes. What was never read is read. */
function isHeld(entry: Entry, looking: Looking): boolean {
  const { feed } = entry
  return feed.readAt !== undefined && (looking.isPaused || (feed.isBehind && holdsRows(entry, looking)))
}

/** When each of what is shown has to be read, in milliseconds; what need not be is left out. */
export function readTimes({ entries, shown }: Cache, looking: Looking): { entry: Entry; at: number }[] {
  return shown.flatMap((key) => {
    const entry = entries.get(key)
    if (entry === undefined || !entry.isDirty || entry.request !== undefined) return []
    if (entry.isUrgent) return [{ entry, at: -Infinity }]
    return isHeld(entry, looking) ? [] : [{ entry, at: entry.askedAt + EVERY_MS }]
  })
}

/** Where the next page of a list begins, if it may be asked for now. */
export function nextCursor({ feed, further, furtherAfter }: Entry, at: number): string | undefined {
  if (further !== undefined || at < furtherAfter || feed.rows.length >= ROWS_MAX) return undefined
  return feed.next ?? undefined
}

/** The cache after something has come or happened. */
export function cacheAfter(cache: Cache, change: CacheChange | { type: 'tick'; now: number }, looking: Looking): Cache {
  switch (change.type) {
    case 'hint':
      return withEach(cache, (entry) =>
        resourceOf(entry).isDirty(change.hint, entry.arg) ? dirtied(entry, change.at) : entry,
      )
    case 'poll':
      return withEach(cache, (entry) => dirtied(entry, change.at))
    case 'tick':
      return looking.isPaused ? cache : withEach(cache, (entry) => aged(entry, cache, change.now))
    case 'refresh':
      return withEach(cache, (entry) => (cache.shown.includes(entry.key) ? refreshed(entry, change.at) : entry))
    default: {
      const entry = cache.entries.get(change.key)
      return entry === undefined ? cache : withEntry(cache, entryAfter(entry, change, looking))
    }
  }
}

function withEach(cache: Cache, change: (entry: Entry) => Entry): Cache {
  const entries = new Map([...cache.entries].map(([key, entry]) => [key, change(entry)]))
  return [...entries].some(([key, entry]) => entry !== cache.entries.get(key)) ? { ...cache, entries } : cache
}

function withEntry(cache: Cache, entry: Entry): Cache {
  if (cache.entries.get(entry.key) === entry) return cache
  return { ...cache, entries: new Map(cache.entries).set(entry.key, entry) }
}

/** What says of itself that it is old by now. */
function aged(entry: Entry, { shown }: Cache, now: number): Entry {
  const { readAt, rows } = entry.feed
  if (entry.isDirty || readAt === undefined || !shown.includes(entry.key)) return entry
  return resourceOf(entry).isOld?.(rows, { readAt, now }) === true ? dirtied(entry, now) : entry
}

/** A request that hangs is given up. */
function refreshed(entry: Entry, at: number): Entry {
  const isFree = entry.request === undefined || at - entry.askedAt >= EVERY_MS
  return { ...dirtied(entry, at), ...(isFree ? { isUrgent: true, request: undefined } : {}) }
}

type EntryChange = Exclude<CacheChange, { type: 'hint' | 'poll' | 'refresh' }>

function entryAfter(entry: Entry, change: EntryChange, looking: Looking): Entry {
  if (change.type === 'asked') return asked(entry, change)
  if (change.type === 'patch') return patched(entry, change)
  const isFurther = change.token === entry.further?.token
  if (!isFurther && change.token !== entry.request?.token) return entry
  if (change.type === 'failed') return failed(entry, change, isFurther)
  return isFurther ? withFurther(entry, change) : withRead(entry, change, looking)
}

function asked(entry: Entry, { token, cursor, at }: Extract<CacheChange, { type: 'asked' }>): Entry {
  if (cursor !== undefined) return { ...entry, further: { token, cursor } }
  const request = { token, at, isUrgent: entry.isUrgent, isLate: false }
  return { ...entry, request, isDirty: false, isUrgent: false, askedAt: at }
}

type Answer = Extract<CacheChange, { type: 'read' }>

function withRead(entry: Entry, { page, at }: Answer, looking: Looking): Entry {
  const { request, ...rest } = entry
  const read = { ...rest, request: undefined }
  const isUrgent = request?.isUrgent === true
  // Who has stopped the picture since does not see it move.
  const isStopped = looking.isPaused && !isUrgent && entry.feed.readAt !== undefined
  if (request === undefined || request.isLate || isStopped) return dirtied(read, at)
  const holds = !isUrgent && holdsRows(entry, looking)
  const feed = withFirstPage(entry.feed, page, { id: (row) => idOf(entry, row), at, holds })
  const next = { ...read, feed, dueSince: entry.isDirty ? request.at : undefined }
  // What is left behind is read when nobody holds it any more.
  return feed.isBehind ? dirtied(next, at) : next
}

function withFurther(entry: Entry, { page, at }: Answer): Entry {
  const next = { ...entry, further: undefined, furtherAfter: -Infinity }
  // Rows that came in the meantime may have replaced the page that this one goes on from.
  if (entry.feed.next !== entry.further?.cursor) return next
  return { ...next, feed: withNextPage(entry.feed, page, { id: (row) => idOf(entry, row), at }) }
}

/** The rows of before stay. A failure that goes on began when it began. */
function failed(entry: Entry, change: Extract<CacheChange, { type: 'failed' }>, isFurther: boolean): Entry {
  const failure = { ...change.failure, at: entry.feed.failure?.at ?? change.at }
  const next = { ...entry, feed: { ...entry.feed, failure } }
  if (isFurther) return { ...next, further: undefined, furtherAfter: change.at + EVERY_MS }
  const read = { ...next, request: undefined }
  return entry.feed.isBehind ? dirtied(read, change.at) : read
}

function patched(entry: Entry, { id, row, at }: Extract<CacheChange, { type: 'patch' }>): Entry {
  const rows = entry.feed.rows.map((each) => (idOf(entry, each) === id ? row : each))
  const request = entry.request === undefined ? undefined : { ...entry.request, isLate: true }
  return { ...dirtied(entry, at), request, feed: { ...entry.feed, rows } }
}
