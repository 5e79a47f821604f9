import type { PlatformPermission, MerchantPermission } from '../../src/lib/permissions.ts'
import type { StreamedEvent } from '../../src/wire/console.ts'
import type { Who } from '../client/auth/acting-side.ts'
import type { Client } from '../client/call.ts'
import type { Context } from '../kit/context.ts'
import type { ScreenName } from './screen-names.ts'
import type { Column } from '../output/table.ts'
import type { Line } from './lines.ts'
import type { Field, FormValues } from './model/modal.ts'

/*
 * A screen is data: what it reads (`list`, `detail`), how that looks (`columns`, `lines`) and its keys. It holds no
 * state: what it has to remember it gives to `Tools.keep`, and finds in `kept`.
 *
 * A key (`ScreenKey`) applies to the selected row, or to every marked row it fits. With `ask` it opens a form of
 * `fields`; the answers reach `command` (shown in the form), `last` (the last look) and `run` by the names of the
 * fields. `run` throws what the service answers; where that names a field, by its name or by `sent`, the form goes back
 * to it. Most keys are made from actions by action-key.ts.
 */

/** What a frame of the stream means for what is on the screen. */
export type Hint = { event: StreamedEvent } | { of: readonly string[] }

export type Verified = {
  at: number
  /** The hashes of the actions, by their ordinals, as they were computed. */
  hashes: ReadonlyMap<string, string>
  broken: string | undefined
}

export type Kept = {
  verified?: Verified
  /** The merchant whose clock was advanced last. */
  advanced?: { id: string; name: string }
}

export type Reading = {
  client: Client
  who: Who
  /** The id of what is looked at in detail; empty for lists. */
  arg: string
  /** What `serviceFilter` of the screen made of the filter. */
  filter: string
  kept: Kept
  cursor: string | undefined
  /** How many rows from where on, as lists of the service are asked for them. */
  page: { limit: number; cursor?: string }
}

export type Page<Row, Extra = unknown> = {
  rows: readonly Row[]
  next: string | null
  /** What was read beside a first page, for the lines above the list. */
  extra?: Extra
  /** Set where the service gives no more than the newest, and has no next page: there may be others. */
  isNewestOnly?: true
}

/** A page as the service answers with it. */
export function pageOf<Row>(body: { data: readonly Row[]; next_cursor: string | null }): Page<Row, never> {
  return { rows: body.data, next: body.next_cursor }
}

/** Something that the service is asked for, and asked for again when a frame says that it may have changed. */
export type Resource<Row, Extra = unknown> = {
  read(reading: Reading): Promise<Page<Row, Extra>>
  isDirty(hint: Hint, arg: string): boolean
  /** Whether the rows may be others by now although no frame says so: asked once a second, as long as they are shown. */
  isOld?: ((rows: readonly Row[], at: { readAt: number; now: number }) => boolean) | undefined
}

/** A column of a screen. `onlyWide` ones are shown after `w`; those with `dropped` go first where there is no room. */
export type ScreenColumn<Row> = Column<Row> & { onlyWide?: true }

/** Columns that only operators have: a merchant's own rows are all of one. */
export function forOperators<Row>({ kind }: Who, columns: readonly ScreenColumn<Row>[]): readonly ScreenColumn<Row>[] {
  return kind === 'platform' ? columns : []
}

export type Layout = {
  width: number
  who: Who
  kept: Kept
  now: number
  wide: boolean
  /** The screen's own keys that do something here, for a detail that names one; absent where keys can't be pressed. */
  keys?: ReadonlySet<string> | undefined
}

type Opened<Row, Whole> = { row: Row; whole: Whole | undefined }

/** How a row is looked at in detail. `Whole` is what the service returns for one; the list's row stands in until it is here. */
export type Detail<Row, Whole> = {
  title(row: Row): string
  read(reading: Reading): Promise<Whole>
  /** As of the list, where it is left out. */
  isDirty?(hint: Hint, arg: string): boolean
  isOld?: Resource<Whole>['isOld']
  /** The row of the list that a whole one would be; itself where it is left out. */
  row?(whole: Whole): Row
  /** The view of the command that shows one; lines before it, and behind it what only the whole one has. */
  print?(context: Pick<Context, 'print'>, seen: Opened<Row, Whole>): void
  above?(seen: Opened<Row, Whole>, layout: Layout): readonly Line[]
  below?(whole: Whole, layout: Layout): readonly Line[]
  /**
   * The id of what a person names, for `:payment <id>`; undefined takes the text as the id. The credentials may be a
   * merchant's and an operator's: `half` is as whom the console acts.
   * @throws {CliError} where there is no such thing
   */
  find?(client: Client, text: string, half: Who['kind']): Promise<string>
}

export type Permission = MerchantPermission | PlatformPermission

export type Tools = {
  client: Client
  who: Who
  stateDir: string
  /** Goes to another screen, perhaps with a filter, or with something opened. */
  go(screen: ScreenName, to?: { filter?: string; open?: string }): void
  screens(): readonly ScreenName[]
  /** Shows a text to read. What is shown only this once is closed by Esc alone. */
  show(title: string, lines: readonly string[], options?: { isOnce?: true }): void
  /**
   * Shows a text that grows while something goes on, until its last lines; closing it stops that.
   * @returns whether it came to its end
   */
  watch(title: string, work: (shown: Watching) => Promise<readonly string[]>): Promise<boolean>
  /** Keeps something for the lines and columns of a screen, until another identity is used. */
  keep(kept: Kept): void
  /** Follows the newest row of the list, or stays where it is; whether it follows now. */
  follow(): boolean
  say(text: string): void
}

export type Doing = Tools & {
  /** The same at every attempt of one form on one row: a try after a lost answer repeats, and does nothing twice. */
  idempotencyKey: string
}

/** A text that grows while something goes on. */
export type Watching = {
  signal: AbortSignal
  write(lines: readonly string[]): void
}

/** What stands in the form of an action. Fields none: it is only confirmed. */
export type Ask = {
  what: string
  about?: readonly string[]
  fields?: readonly Field[]
  /** In live mode any of these has to be typed. */
  danger?: readonly (string | null)[]
  /** What Enter does at the last look before it, where it moves money or can't be taken back: "refunds 5.00 GBP to Priya". */
  last?(given: FormValues): string
  /** The same in a word or two, for the key that does it; the key's label, where it says nothing. */
  act?(given: FormValues): string
}

/** All that a list shows, for a key that is about that rather than about a row. */
export type ListView<Row> = {
  filter: string
  rows: readonly Row[]
  hasMore: boolean
}

export type ScreenKey<Row> = {
  key: string
  label: string
  /** Whether it changes something: off with --readonly. */
  writes?: true
  permission?: Permission
  /** Only for callers without this permission, where the others have another key. */
  lacks?: Permission
  /** Only with a merchant's, or only with an operator's credentials. */
  for?: Who['kind']
  /** Where it works: on the list and in detail, unless one is named. */
  on?: 'list' | 'detail'
  /** Whether it needs no row, and is never done to marked ones. */
  needs?: 'nothing' | 'one'
  /** Where what it is about is asked for first: whether there is anything to do. */
  counted?: {
    offered(shown: ListView<Row>): boolean
    /** The key that does it, to these rows; or in a line why there is nothing to do. */
    make(
      shown: ListView<Row>,
      tools: Pick<Tools, 'client' | 'who'>,
    ): Promise<{ key: ScreenKey<Row>; rows?: readonly Row[] } | string>
  }
  fits?(row: Row): boolean
  command(row: Row, given: FormValues, who: Who): string
  ask?(rows: readonly Row[], who: Who): Ask
  /** Does it. What it returns is said: "approved Acme". The row is any of the list where the key needs nothing. */
  run(row: Row, given: FormValues, doing: Doing): Promise<string | undefined>
  /** The row as it will be: shown at once, and taken back when the service refuses. */
  optimistic?(row: Row, given: FormValues): Row
}

/** One screen of the console: what it reads, how it looks and what its keys do. */
// A registry holds screens of many kinds of rows; each of them is made by `screen`, which knows its own.
// oxlint-disable-next-line typescript/no-explicit-any
export type Screen<Row = any, Whole = any, Extra = any> = {
  name: ScreenName
  key: string
  /** Screens with one key are one tab of this name; the key goes from one to the next. */
  group?: string
  title: string
  short: string
  /** What one of them is called in the command bar: `:payment <id>`. */
  noun?: string
  /** Any of these lets it be seen. */
  reads: readonly Permission[]
  sandboxOnly?: true
  /** The number of rows of a page that is read; 100 at most. */
  limit?: number
  list: Resource<Row, Extra>
  id(row: Row): string
  /** What people call what a row is about, beside its id, by the nouns of the command bar: for completing it. */
  names?(row: Row): Readonly<Record<string, readonly string[]>>
  /** What `y` copies of a row, where it is not its id. */
  copies?(row: Row): string
  columns(layout: Layout): readonly ScreenColumn<Row>[]
  head?(rows: readonly Row[], layout: Layout, extra?: Extra): readonly Line[]
  empty: string
  /** Whether the newest rows come first and are followed until the selection moves. */
  follow?: true
  /**
   * The part of a filter that the service is asked for, in a form that does not change with what is not. The rest is
   * looked for here.
   */
  serviceFilter?(filter: string): string
  serviceLooksFor?: string
  detail?: Detail<Row, Whole>
  /** What Enter does instead of opening the detail. */
  open?(row: Row, tools: Tools): void
  keys: readonly ScreenKey<Row>[]
}

export function screen<Row, Whole = Row, Extra = unknown>(declaration: Screen<Row, Whole, Extra>): Screen {
  return declaration
}

type Leading<Row> = Omit<ScreenKey<Row>, 'run' | 'writes'> & { to(row: Row): Parameters<Tools['go']> }

export function leadingKey<Row>({ to, ...key }: Leading<Row>): ScreenKey<Row> {
  return {
    needs: 'one',
    ...key,
    async run(row, _given, { go }) {
      go(...to(row))
      return undefined
    },
  }
}
