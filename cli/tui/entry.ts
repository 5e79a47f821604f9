import { CliError } from '../errors.ts'
import { EXIT } from '../exit-codes.ts'
import { NO_FEED } from './feed.ts'
import type { Feed } from './feed.ts'
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
  isReading: boolean
  isReadingOn: boolean
  /** Grows with each reading whose answer may still be written; an older answer is not. */
  turn: number
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
  isStopped(): boolean
}

export function newEntry(need: Need): Entry {
  return {
    need,
    feed: NO_FEED,
    isDirty: true,
    isReading: false,
    isReadingOn: false,
    turn: 0,
    lastAt: -Infinity,
    timer: undefined,
  }
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
    const hint = error instanceof CliError ? error.options.hint : undefined
    // One that goes on began when it began.
    const at = entry.feed.failure?.at ?? asker.now()
    entry.feed = { ...entry.feed, failure: { text, hint, at } }
    return undefined
  }
}
