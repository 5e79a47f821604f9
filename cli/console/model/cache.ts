import type { Hint, Page, Reading, Screen } from '../screen.ts'
import type { Change, State } from './state.ts'
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

/** Why the last reading failed, and since when readings have. */
type Failure = { text: string; hint: string | undefined; at: number }

/** What has been read of one need. After a failure the rows of before stay. */
export type Feed = Page<unknown> & {
  /** When rows last came; undefined before the first ones. */
  readAt: number | undefined
  failure: Failure | undefined
  /** Whether so much has come that the rows were left as they were, so that their reader keeps the place. */
  isBehind: boolean
  /** Whether the last page had no row although more follow: a filter may leave nothing of one. */
  isPageEmpty: boolean
  /** What came with the last reading that was not there before, and when; undefined until there was one before. */
  came: { ids: readonly string[]; at: number } | undefined
}

/** Something that was read, with what is known about how old it is. */
export type Entry = Need & {
  feed: Feed
  isDirty: boolean
  /** Since when the service may have something else; undefined where nothing says so. */
  dueSince: number | undefined
  /** Whether the user asked for it: then it is read at once, and its rows move even while they are held. */
  isUrgent: boolean
  /** The page that is being read, the first one without a cursor. Only the answer to this very request counts. */
  request: { token: symbol; cursor: string | undefined } | undefined
  askedAt: number
}

/** All that was read, what was shown last at the end; and the keys of what is shown now. */
export type Cache = { entries: ReadonlyMap<string, Entry>; shown: readonly string[] }

export const NO_CACHE: Cache = { entries: new Map(), shown: [] }
export const NO_FEED: Feed = {
  rows: [],
  next: null,
  readAt: undefined,
  failure: undefined,
  isBehind: false,
  isPageEmpty: false,
  came: undefined,
}

/** Nothing is read more often than this. */
const EVERY_MS = 1_000
const PARTS_MAX = 16
/** More than this is not kept: what the service looks for itself finds the rest. */
export const ROWS_MAX = 500

function needOf(screen: Screen, { arg = '', filter = '' }: Partial<Need> = {}): Need {
  return { key: `${screen.name}/${arg}?${filter}`, screen, arg, filter }
}

/** The part of the filter that the service is asked for. */
export function serviceFilter(screen: Screen, { asked }: View): string {
  return screen.serviceFilter?.(asked) ?? ''
}

/** The keys of the list with its filter, of the list without one, and of one row in detail. */
export const listKey = (screen: Screen, view: View): string =>
  needOf(screen, { filter: serviceFilter(screen, view) }).key
export const baseKey = (screen: Screen): string => needOf(screen).key
export const detailKey = (screen: Screen, id: string): string => needOf(screen, { arg: id }).key

export function needsOf(screen: Screen, view: View): Need[] {
  const filter = serviceFilter(screen, view)
  return [
    needOf(screen, { filter }),
    // What was found before the service was asked stays, and fresh: what it finds comes to that.
    ...(filter === '' ? [] : [needOf(screen)]),
    ...(screen.detail === undefined || view.open === undefined ? [] : [needOf(screen, { arg: view.open.id })]),
  ]
}

export function feedOf({ entries }: Cache, key: string): Feed {
  return entries.get(key)?.feed ?? NO_FEED
}

export function knownRows({ entries }: Cache, { name }: Screen): unknown[] {
  return [...entries.values()].flatMap(({ screen, arg, feed }) => (screen.name === name && arg === '' ? feed.rows : []))
}

export function rowOf({ detail }: Screen, whole: unknown): unknown {
  return detail?.row === undefined ? whole : detail.row(whole)
}

function idOf({ screen, arg }: Need, row: unknown): string {
  return screen.id(arg === '' ? row : rowOf(screen, row))
}

function resourceOf({ screen, arg }: Need): Pick<Screen['list'], 'isDirty' | 'isOld'> {
  return arg === '' ? screen.list : { isDirty: screen.list.isDirty, ...screen.detail }
}

export async function readNeed(
  { screen, arg, filter }: Need,
  by: Pick<Reading, 'client' | 'who' | 'kept' | 'cursor'>,
): Promise<Page<unknown>> {
  const page = { limit: screen.limit ?? 100, ...(by.cursor === undefined ? {} : { cursor: by.cursor }) }
  const reading: Reading = { ...by, arg, filter, page }
  if (arg === '' || screen.detail === undefined) return screen.list.read(reading)
  return { rows: [await screen.detail.read(reading)], next: null }
}

/** The cache with these needs as what is shown. Of what is not shown only so much is kept. */
export function withShown(cache: Cache, needs: readonly Need[], at: number): Cache {
  const shown = needs.map(({ key }) => key)
  if (shown.join('\n') === cache.shown.join('\n') && shown.every((key) => cache.entries.has(key))) return cache
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
  const never = { feed: NO_FEED, request: undefined, askedAt: -Infinity }
  return { ...need, ...never, isDirty: true, dueSince: at, isUrgent: false }
}

/** Whether its rows must not be exchanged for quite other ones, in which the reader would lose the place. */
function holdsRows({ screen, arg }: Need, state: State): boolean {
  return arg === '' && screen.follow === true && state.views[screen.name]?.follows === false
}

/** When each of what is shown has to be read, in milliseconds; what need not be, or is held as it is, is left out. */
export function readTimes(state: State): { entry: Entry; at: number }[] {
  return state.cache.shown.flatMap((key) => {
    const entry = state.cache.entries.get(key)
    if (entry === undefined || !entry.isDirty || entry.request !== undefined) return []
    if (entry.isUrgent) return [{ entry, at: -Infinity }]
    const { readAt, isBehind } = entry.feed
    const isHeld = readAt !== undefined && (state.paused || (isBehind && holdsRows(entry, state)))
    return isHeld ? [] : [{ entry, at: entry.askedAt + EVERY_MS }]
  })
}

export function nextCursor({ feed, request, askedAt }: Entry, at: number): string | undefined {
  // Not at once again after an error, or after a page of which the filter has left nothing.
  const isTooEarly = (feed.failure !== undefined || feed.isPageEmpty) && at < askedAt + EVERY_MS
  return request !== undefined || isTooEarly || feed.rows.length >= ROWS_MAX ? undefined : (feed.next ?? undefined)
}

function dirtied(entry: Entry, at: number): Entry {
  return entry.isDirty ? entry : { ...entry, isDirty: true, dueSince: entry.dueSince ?? at }
}

/** A change of entries: of all, or of the one with this key. */
function ofEntries(change: (entry: Entry, state: State) => Entry, only?: string): Change {
  return (state) => {
    const before = state.cache.entries
    const entries = new Map(
      [...before].map(([key, entry]) => [key, only === undefined || only === key ? change(entry, state) : entry]),
    )
    const isSame = [...entries].every(([key, entry]) => entry === before.get(key))
    return isSame ? state : { ...state, cache: { ...state.cache, entries } }
  }
}

export function hinted(hint: Hint, at: number): Change {
  return ofEntries((entry) => (resourceOf(entry).isDirty(hint, entry.arg) ? dirtied(entry, at) : entry))
}

export function polled(at: number): Change {
  return ofEntries((entry) => dirtied(entry, at))
}

/** A second has gone: what says of itself that it is old by now is read again. */
export function ticked(now: number): Change {
  const age = ofEntries((entry, { cache, paused }) => {
    const { readAt, rows } = entry.feed
    if (paused || readAt === undefined || !cache.shown.includes(entry.key)) return entry
    return resourceOf(entry).isOld?.(rows, { readAt, now }) === true ? dirtied(entry, now) : entry
  })
  return (state) => ({ ...age(state), now })
}

/** What is shown is read at once; a request that hangs is given up. */
export function refreshed(at: number): Change {
  return ofEntries((entry, { cache }) => {
    if (!cache.shown.includes(entry.key)) return entry
    const isFree = entry.request === undefined || at - entry.askedAt >= EVERY_MS
    return { ...dirtied(entry, at), ...(isFree ? { isUrgent: true, request: undefined } : {}) }
  })
}

/** One row as it will be, before the service has said so: an answer on its way still has it as it was. */
export function patched(key: string, { id, row, at }: { id: string; row: unknown; at: number }): Change {
  return ofEntries((entry) => {
    const rows = entry.feed.rows.map((each) => (idOf(entry, each) === id ? row : each))
    return { ...dirtied(entry, at), request: undefined, feed: { ...entry.feed, rows } }
  }, key)
}

export function asked(key: string, { token, cursor, at }: NonNullable<Entry['request']> & { at: number }): Change {
  return ofEntries(
    (entry) => ({ ...entry, request: { token, cursor }, askedAt: at, isDirty: cursor !== undefined && entry.isDirty }),
    key,
  )
}

/** The answer to a request, if it still counts. */
export function answered(key: string, token: symbol, { page, at }: { page: Page<unknown>; at: number }): Change {
  return ofEntries((entry, state) => {
    if (entry.request?.token !== token) return entry
    const { cursor } = entry.request
    const id = (row: unknown): string => idOf(entry, row)
    const free = { ...entry, request: undefined }
    if (cursor !== undefined) return { ...free, feed: withNextPage(entry.feed, page, { id, at }) }
    const read = { ...free, isUrgent: false }
    // Who has stopped the picture since does not see it move.
    if (state.paused && !entry.isUrgent && entry.feed.readAt !== undefined) return dirtied(read, at)
    const holds = !entry.isUrgent && holdsRows(entry, state)
    const feed = withFirstPage(entry.feed, page, { id, at, holds })
    const next = { ...read, feed, dueSince: entry.isDirty ? entry.askedAt : undefined }
    // Rows that were left behind are read again once they are no longer held.
    return feed.isBehind ? dirtied(next, at) : next
  }, key)
}

/** The rows of before stay. A failure that goes on began when it began. */
export function failed(key: string, token: symbol, { at, ...why }: Failure): Change {
  return ofEntries((entry) => {
    if (entry.request?.token !== token) return entry
    const feed = { ...entry.feed, failure: { ...why, at: entry.feed.failure?.at ?? at } }
    const next = { ...entry, feed, request: undefined, isUrgent: false }
    return feed.isBehind ? dirtied(next, at) : next
  }, key)
}

type Joining = { id(row: unknown): string; at: number }

/**
 * The rows with a new first page. Those of the pages after it stay, as long as the pages still join; where so much has
 * come that they don't, the new page stands alone and the rest is read again by scrolling. With `holds` it is the rows
 * of before that stay then.
 */
export function withFirstPage(
  feed: Feed,
  page: Page<unknown>,
  { id, at, holds = false }: Joining & { holds?: boolean },
): Feed {
  const came = cameWith(feed, page, { id, at })
  const whole = { ...page, readAt: at, failure: undefined, isBehind: false, isPageEmpty: isEmpty(page), came }
  const alone = holds && feed.rows.length > 0 ? { ...feed, failure: undefined, isBehind: true } : whole
  const last = page.rows.at(-1)
  if (page.next === null || last === undefined) return whole
  const joint = feed.rows.findIndex((row) => id(row) === id(last))
  if (joint === -1) return alone
  if (joint === feed.rows.length - 1) return whole
  const taken = new Set(page.rows.map(id))
  const rows = [...page.rows, ...feed.rows.slice(joint + 1).filter((row) => !taken.has(id(row)))]
  // What is cut off at the end could not be read on from there.
  return rows.length > ROWS_MAX + page.rows.length ? alone : { ...whole, rows, next: feed.next }
}

/** The rows of a first page that were not here; those at its end have only moved up where more pages follow. */
function cameWith({ rows, readAt }: Feed, page: Page<unknown>, { id, at }: Joining): Feed['came'] {
  if (readAt === undefined) return undefined
  const known = new Set(rows.map(id))
  const ids = page.rows.map(id)
  const last = ids.findLastIndex((each) => known.has(each))
  const shown = page.next === null || last === -1 ? ids : ids.slice(0, last)
  return { ids: shown.filter((each) => !known.has(each)), at }
}

export function withNextPage(feed: Feed, page: Page<unknown>, { id, at }: Joining): Feed {
  const known = new Set(feed.rows.map(id))
  const rows = [...feed.rows, ...page.rows.filter((row) => !known.has(id(row)))]
  return { ...feed, rows, next: page.next, readAt: at, failure: undefined, isPageEmpty: isEmpty(page) }
}

function isEmpty({ rows, next }: Page<unknown>): boolean {
  return rows.length === 0 && next !== null
}
