import { NO_FEED, ROWS_MAX, withFirstPage, withNextPage } from './page-list.ts'
import type { Feed } from './page-list.ts'
import { askFor, newEntry, partsBeyond } from './cache-entry.ts'
import type { Asker, Entry, Need } from './cache-entry.ts'
import type { Hint } from './screen.ts'

export type DataOptions = Omit<Asker, 'isStopped'> & {
  /** Something has been read, or could not be. */
  onChange(): void
}

/** What is read for the screens: each thing at most once a second and never twice at the same time. */
export type Data = {
  /** Says what is on the screen now; what was not read yet, or has changed since, is read. */
  show(needs: readonly Need[]): void
  feed(key: string): Feed<unknown>
  /** Since when it waits to be read, in milliseconds; undefined where nothing says that it is another by now. */
  dueSince(key: string): number | undefined
  /** All rows that have been read of lists whose keys begin so. */
  known(beginning: string): unknown[]
  /** A frame of the stream: what it concerns is read soon. */
  hint(hint: Hint): void
  /** Reads everything that is on the screen, at once. */
  refresh(): void
  /** Reads everything that is on the screen, in its turn. */
  poll(): void
  /** Reads what says of itself that it is old. */
  age(): void
  /** Reads on at the end of a list. */
  more(key: string): void
  /** Changes one row as if the service had said so; returns what takes it back. */
  patch(key: string, id: string, change: (row: unknown) => unknown): () => void
  pause(isPaused: boolean): void
  /** Forgets everything, as when another profile is used. */
  clear(): void
  stop(): void
}

const EVERY_MS = 1_000
/** So many are kept, beside the whole lists: of those there are as many as screens. */
const ENTRIES_MAX = 16

export function makeData(options: DataOptions): Data {
  const { now, onChange } = options
  const entries = new Map<string, Entry>()
  let shown = new Set<string>()
  let isPaused = false
  let isStopped = false
  const asker: Asker = { ...options, isStopped: () => isStopped }

  function entryOf(need: Need): Entry {
    const known = entries.get(need.key)
    if (known !== undefined) {
      known.need = need
      // The newest entries are those that were shown last.
      entries.delete(need.key)
      entries.set(need.key, known)
      return known
    }
    const entry = newEntry(need, now())
    entries.set(need.key, entry)
    return entry
  }

  function soil(entry: Entry): void {
    entry.isDirty = true
    entry.dueSince ??= now()
  }

  /** Whether its rows stay as they are, whatever has come. What was never read is. */
  function isHeld({ need, feed }: Entry): boolean {
    return feed.readAt !== undefined && (isPaused || (need.holds && feed.isBehind))
  }

  /** Reads it now, or when a second has passed since it was read. */
  function schedule(entry: Entry): void {
    if (isStopped || entry.isReading || entry.timer !== undefined || !shown.has(entry.need.key) || isHeld(entry)) return
    const wait = Math.max(0, entry.lastAt + EVERY_MS - now())
    if (wait === 0) return void read(entry)
    entry.timer = setTimeout(() => {
      entry.timer = undefined
      if (entry.isDirty && shown.has(entry.need.key) && !isHeld(entry)) void read(entry)
    }, wait)
  }

  async function read(entry: Entry, { isAsked = false } = {}): Promise<void> {
    entry.isReading = true
    entry.isDirty = false
    entry.lastAt = now()
    entry.turn += 1
    entry.begun += 1
    const { turn, begun, lastAt } = entry
    const page = await askFor(entry, undefined, { ...asker, isStopped: () => isStopped || entry.begun !== begun })
    // Whoever has asked anew does not wait for an answer that hangs, and it does not come in between any more.
    if (isStopped || entry.begun !== begun) return
    entry.isReading = false
    const holds = entry.need.holds && !isAsked
    // Who has stopped the picture since does not see it move.
    const isLate = entry.turn !== turn || (isPaused && !isAsked && entry.feed.readAt !== undefined)
    if (page !== undefined && isLate) soil(entry)
    if (page !== undefined && !isLate) {
      entry.feed = withFirstPage(entry.feed, page, { id: entry.need.id, at: now(), holds })
      entry.dueSince = entry.isDirty ? lastAt : undefined
    }
    // What is left behind is read when nobody holds it any more.
    if (entry.feed.isBehind) soil(entry)
    onChange()
    if (entry.isDirty) schedule(entry)
  }

  async function readOn(entry: Entry, cursor: string): Promise<void> {
    entry.isReadingOn = true
    const page = await askFor(entry, cursor, asker)
    entry.isReadingOn = false
    if (isStopped) return
    // Rows that came in the meantime may have replaced the page that this one goes on from.
    if (page !== undefined && entry.feed.next === cursor)
      entry.feed = withNextPage(entry.feed, page, { id: entry.need.id, at: now() })
    onChange()
  }

  function forShown(run: (entry: Entry) => void): void {
    for (const key of shown) {
      const entry = entries.get(key)
      if (entry !== undefined) run(entry)
    }
  }

  return {
    show(needs) {
      shown = new Set(needs.map(({ key }) => key))
      for (const need of needs) {
        const entry = entryOf(need)
        if (entry.isDirty) schedule(entry)
      }
      // Whoever comes back to a screen finds its rows, whatever was opened or looked for in the meantime.
      for (const { need, timer } of partsBeyond(ENTRIES_MAX, entries)) {
        if (shown.has(need.key)) continue
        clearTimeout(timer)
        entries.delete(need.key)
      }
    },
    feed: (key) => entries.get(key)?.feed ?? NO_FEED,
    dueSince: (key) => entries.get(key)?.dueSince,
    known: (beginning) => [...entries].flatMap(([key, { feed }]) => (key.startsWith(beginning) ? feed.rows : [])),
    hint(hint) {
      for (const entry of entries.values()) {
        if (!entry.need.resource.isDirty(hint, entry.need.arg)) continue
        soil(entry)
        schedule(entry)
      }
    },
    refresh: () =>
      forShown((entry) => {
        soil(entry)
        clearTimeout(entry.timer)
        entry.timer = undefined
        // One that hangs is left to itself.
        if (!entry.isReading || now() - entry.lastAt >= EVERY_MS) void read(entry, { isAsked: true })
      }),
    poll() {
      // What is not on the screen may have changed as well.
      for (const entry of entries.values()) soil(entry)
      forShown(schedule)
    },
    age: () =>
      forShown((entry) => {
        const { readAt, rows } = entry.feed
        if (isPaused || readAt === undefined) return
        if (entry.need.resource.isOld?.(rows, { readAt, now: now() }) !== true) return
        soil(entry)
        schedule(entry)
      }),
    more(key) {
      const entry = entries.get(key)
      if (entry === undefined || entry.isReadingOn || entry.feed.next === null) return
      if (entry.feed.rows.length < ROWS_MAX) void readOn(entry, entry.feed.next)
    },
    patch(key, id, change) {
      const entry = entries.get(key)
      const before = entry?.feed.rows.find((row) => entry.need.id(row) === id)
      if (entry === undefined || before === undefined) return () => undefined
      const put = (row: unknown): void => {
        const rows = entry.feed.rows.map((each) => (entry.need.id(each) === id ? row : each))
        entry.feed = { ...entry.feed, rows }
        onChange()
      }
      // An answer that is under way still tells how it was before.
      entry.turn += 1
      soil(entry)
      put(change(before))
      return () => put(before)
    },
    pause(value) {
      isPaused = value
      if (!value) forShown((entry) => entry.isDirty && schedule(entry))
    },
    clear() {
      for (const { timer } of entries.values()) clearTimeout(timer)
      entries.clear()
    },
    stop() {
      isStopped = true
      for (const { timer } of entries.values()) clearTimeout(timer)
    },
  }
}
