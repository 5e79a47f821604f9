import { CliError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { NO_FEED } from './page-list.ts'
import type { Feed } from './page-list.ts'
import type { Page, Reading, Resource } from './screen.ts'

/** Something that is on the screen, and so has to be read and kept fresh. */
export type Need = {
  /** Names what has been read: the same key is the same rows. */
  key: string
  // Feeds of all kinds of rows stand beside each other; whoever made the need knows which.
  // oxlint-disable-next-line typescript/no-explicit-any
  resource: Resource<any>
  // oxlint-disable-next-line typescript/no-explicit-any
  id(row: any): string
  arg: string
  filter: string
  limit: number
  /** Whether somebody reads the rows, who would lose their place where quite others took theirs. */
  holds: boolean
}

/** One thing that is read, with what was read of it last. */
export type Entry = {
  need: Need
  feed: Feed<unknown>
  isDirty: boolean
  /** Since when the service may tell something else than what is here; undefined where it was not told of. */
  dueSince: number | undefined
  isReading: boolean
  isReadingOn: boolean
  /** Grows with each reading whose answer may still be written; an older answer is not. */
  turn: number
  /** How many readings have begun: only the last of them says how it went. */
  begun: number
  lastAt: number
  timer: ReturnType<typeof setTimeout> | undefined
}

/** Who asks, and who is told how it went. */
export type Asker = {
  /** Who reads, as it is at the moment of reading. */
  reader(): Pick<Reading, 'client' | 'who'>
  now(): number
  onAnswer(latencyMs: number): void
  onSignedOut(): void
  /** A text with its commands as they have to be typed here. */
  typed(text: string): string
  isStopped(): boolean
}

export function newEntry(need: Need, now: number): Entry {
  return {
    need,
    feed: NO_FEED,
    isDirty: true,
    dueSince: now,
    isReading: false,
    isReadingOn: false,
    turn: 0,
    begun: 0,
    lastAt: -Infinity,
    timer: undefined,
  }
}

/** Of what is a part of a list, or one thing, all but the newest so many. */
export function partsBeyond(most: number, entries: ReadonlyMap<string, Entry>): readonly Entry[] {
  const parts = [...entries.values()].filter(({ need }) => need.arg !== '' || need.filter !== '')
  return parts.slice(0, Math.max(0, parts.length - most))
}

/** Asks the service for a page of it. A failure stands in its feed then, beside the rows of before. */
export async function askFor(
  entry: Entry,
  cursor: string | undefined,
  asker: Asker,
): Promise<Page<unknown> | undefined> {
  const { need } = entry
  const begun = performance.now()
  try {
    const { resource, arg, filter, limit } = need
    const page = await resource.read({ ...asker.reader(), arg, filter, cursor, limit })
    asker.onAnswer(Math.round(performance.now() - begun))
    return page
  } catch (error) {
    if (asker.isStopped()) return undefined
    if (error instanceof CliError && error.options.exit === EXIT.signedOut) asker.onSignedOut()
    const text = error instanceof Error ? error.message : String(error)
    const way = error instanceof CliError ? error.options.hint : undefined
    const hint = way === undefined ? undefined : asker.typed(way)
    // One that goes on began when it began.
    const at = entry.feed.failure?.at ?? asker.now()
    entry.feed = { ...entry.feed, failure: { text, hint, at } }
    return undefined
  }
}
