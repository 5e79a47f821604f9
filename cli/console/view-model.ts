import { printable } from '../base/text.ts'
import { ROWS_MAX, baseKey, detailKey, feedOf, listKey, rowOf, serviceFilter } from './model/cache.ts'
import type { Cache, Feed } from './model/cache.ts'
import type { Line, Tone } from './lines.ts'
import { cutTo, line, paragraph, EMPTY_LINE, paragraphOf } from './lines.ts'
import { usableKeys } from './model/allowed.ts'
import type { Rights } from './model/allowed.ts'
import { screenOf, screensOf, viewOf } from './model/state.ts'
import type { State } from './model/state.ts'
import type { View } from './model/view.ts'
import { detailLines } from './record-lines.ts'
import type { Layout, Screen, ScreenKey, ListView } from './screen.ts'
import { SIGNS, laidTable } from './table-lines.ts'
import type { Laid } from './table-lines.ts'
import { spanText } from '../base/ages.ts'

export type Opened = { id: string; row: unknown; feed: Feed; title: string; lines: readonly Line[] }

/** Everything that is to be seen, made of the state and of what has been read. */
export type ConsoleView = {
  screen: Screen
  /** The screens that share its key, itself among them. */
  siblings: readonly Screen[]
  view: View
  layout: Layout
  feed: Feed
  /** When what is shown was read, and since when it waits to be read again; both may be unknown. */
  age: { readAt: number | undefined; dueSince: number | undefined }
  /** Whether the service may have rows for the filter that were not asked for, and would be with Enter. */
  canAsk: boolean
  /** Whether there are more rows than are kept: nothing loads them. */
  isFull: boolean
  /** How many rows the list has without a filter; undefined where they have not all been counted. */
  whole: number | undefined
  rows: readonly unknown[]
  ids: readonly string[]
  allIds: readonly string[]
  /** The row that keys are about: what is open, or what is selected. */
  row: unknown
  /** Of the rows, those that are marked; none where one is open. */
  marked: readonly unknown[]
  head: readonly Line[]
  /** How many rows of the list, and how many lines of a detail, there is room for. */
  listHeight: number
  bodyHeight: number
  opened: Opened | undefined
  /** What has happened or what is wrong, in one line or more; the body has the fewer. */
  news: readonly Line[]
  keys: readonly ScreenKey<unknown>[]
  laid(): Laid
}

/** Header, tabs, the screen's own line, a line of news, and two of the footer. */
const FRAME_LINES = 6
const TABLE_HEADER = 1

type Memo = { of: readonly unknown[]; value: unknown }

/** What is to be seen of a state. What took long to find out is kept until something that it is made of changes. */
export function makeSee(): (state: State) => ConsoleView {
  const memos = new Map<string, Memo>()
  const filled = new Map<string, { of: string; titles: Set<string> }>()

  function once<T>(name: string, of: readonly unknown[], make: () => T): T {
    const known = memos.get(name)
    // Each name stands for values of one type.
    const isSame = known?.of.length === of.length && known.of.every((part, index) => part === of[index])
    if (isSame) return known.value as T
    const value = make()
    memos.set(name, { of, value })
    return value
  }

  /** The columns of a list that have had a value since its width and filter are what they are. */
  function filledOf({ name }: Screen, of: string): Set<string> {
    const known = filled.get(name)
    if (known?.of === of) return known.titles
    const titles = new Set<string>()
    filled.set(name, { of, titles })
    return titles
  }

  /** The list laid out: once for all who ask, for there may be hundreds of rows. */
  function laid({ screen, rows, view, layout }: Pick<ConsoleView, 'screen' | 'rows' | 'view' | 'layout'>): Laid {
    const { width, wide, now, kept } = layout
    // Ages move with the clock; the layout need not follow more often than that.
    return once('laid', [screen, rows, width, wide, view.left, kept, Math.floor(now / 1_000)], () => {
      const columns = filledOf(screen, `${width} ${view.filter}`)
      return laidTable(rows, screen.columns(layout), { width: width - SIGNS, wide, left: view.left, filled: columns })
    })
  }

  function see(state: State): ConsoleView {
    const screen = screenOf(state)
    const view = viewOf(state, screen.name)
    const { rights } = state.session
    const { columns, rows: height } = state.size
    const layout: Layout = { width: columns, who: rights.who, kept: state.kept, now: state.now, wide: view.wide }
    const parts = [listKey(screen, view), baseKey(screen)].map((key) => feedOf(state.cache, key))
    const feed = once('list', [screen, ...parts], () => listOf(state.cache, { screen, view }))
    const rows = once('found', [feed.rows, view.filter, screen], () => found(screen, feed.rows, { view, layout }))
    const place = { screen, view, layout, rights, cache: state.cache }
    const opened = openedOf({ ...place, row: feed.rows.find((each) => screen.id(each) === view.open?.id) })
    const news = newsLines({ state, feed, opened }, columns)
    const bodyHeight = Math.max(1, height - FRAME_LINES - (news.length - 1))
    const head = (screen.head?.(feed.rows, layout, feed.extra) ?? []).slice(0, Math.floor(bodyHeight / 2))
    const row = opened === undefined ? rows[view.index] : opened.row
    const marked =
      opened !== undefined || view.marks.size === 0 ? [] : rows.filter((each) => view.marks.has(screen.id(each)))
    const on = opened === undefined ? 'list' : 'detail'
    return {
      feed,
      whole: wholeOf(feedOf(state.cache, baseKey(screen))),
      isFull: feed.next !== null && feed.rows.length >= ROWS_MAX,
      screen,
      siblings: screensOf(state).filter(({ key }) => key === screen.key),
      view,
      layout,
      age: ageOf({ screen, view, feed, opened, cache: state.cache }),
      canAsk:
        (feed.next !== null || feed.isNewestOnly === true) &&
        (screen.serviceFilter?.(view.filter) ?? '') !== serviceFilter(screen, view),
      rows,
      ids: rows.map((each) => screen.id(each)),
      allIds: feed.rows.map((each) => screen.id(each)),
      row,
      head,
      listHeight: Math.max(1, bodyHeight - head.length - TABLE_HEADER),
      bodyHeight,
      opened,
      news,
      marked,
      keys: usableKeys(screen, rights, { on, row, marked, shown: shownOf({ view, rows, feed }) }),
      laid: () => laid({ screen, rows, view, layout }),
    }
  }

  return (state) => once('seen', partsOf(state), () => see(state))
}

/** All that a picture is made of; requests that begin and end change nothing of it. */
function partsOf(state: State): unknown[] {
  const { cache, views, screen, session, size, now, toast, signedOut, wantsFactor, bar, kept } = state
  const shown = cache.shown.flatMap((key) => [feedOf(cache, key), cache.entries.get(key)?.dueSince])
  return [views, screen, session, size, now, toast, signedOut, wantsFactor, bar, kept, ...cache.shown, ...shown]
}

function found(
  screen: Screen,
  rows: readonly unknown[],
  { view, layout }: Pick<ConsoleView, 'view' | 'layout'>,
): readonly unknown[] {
  const words = view.filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  if (words.length === 0) return rows
  const columns = screen.columns({ ...layout, wide: true })
  return rows.filter((row) => {
    const text = `${columns.map((column) => column.value(row)).join('\n')}\n${screen.id(row)}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/**
 * What has been read of a list. What the service finds for a filter comes to what was here before, and never replaces it:
 * the service looks in fewer columns than the filter does.
 */
function listOf(cache: Cache, { screen, view }: { screen: Screen; view: View }): Feed {
  const asked = feedOf(cache, listKey(screen, view))
  const base = feedOf(cache, baseKey(screen))
  if (asked === base) return base
  if (asked.readAt === undefined && asked.failure === undefined) return base
  const known = new Set(base.rows.map((row) => screen.id(row)))
  return { ...asked, rows: [...base.rows, ...asked.rows.filter((row) => !known.has(screen.id(row)))] }
}

export function shownOf({ view, rows, feed }: Pick<ConsoleView, 'view' | 'rows' | 'feed'>): ListView<unknown> {
  return { filter: view.filter, rows, hasMore: feed.next !== null || feed.isNewestOnly === true }
}

type Place = { screen: Screen; view: View; layout: Layout; rights: Rights; cache: Cache }

function wholeOf({ rows, next, readAt, isNewestOnly }: Feed): number | undefined {
  return readAt === undefined || next !== null || isNewestOnly === true ? undefined : rows.length
}

type Aged = { screen: Screen; view: View; feed: Feed; opened: Opened | undefined; cache: Cache }

/** How old what is shown is. Rows that were left behind say so themselves. */
function ageOf({ screen, view, feed, opened, cache }: Aged): ConsoleView['age'] {
  const dueSince = (key: string): number | undefined => cache.entries.get(key)?.dueSince
  if (opened?.feed.readAt !== undefined)
    return { readAt: opened.feed.readAt, dueSince: dueSince(detailKey(screen, opened.id)) }
  return { readAt: feed.readAt, dueSince: feed.isBehind ? undefined : dueSince(listKey(screen, view)) }
}

/** @param row that of the list, which stands in until the service has answered with the whole */
function openedOf({ screen, view, layout, row: listed, cache, rights }: Place & { row: unknown }): Opened | undefined {
  const { detail } = screen
  if (detail === undefined || view.open === undefined) return undefined
  const { id } = view.open
  const ofOne = feedOf(cache, detailKey(screen, id))
  const whole = ofOne.rows[0]
  const row = whole === undefined ? listed : rowOf(screen, whole)
  const width = layout.width - 1
  const keys = new Set(usableKeys(screen, rights, { on: 'detail', row }).map(({ key }) => key))
  const lines =
    row === undefined ? waiting(ofOne, width) : detailLines(detail, { row, whole }, { ...layout, width, keys })
  const cut = lines.map((each) => cutTo(each, width))
  return { id, row, feed: ofOne, title: row === undefined ? id : printable(detail.title(row)), lines: cut }
}

function waiting({ failure }: Feed, width: number): Line[] {
  if (failure === undefined) return [line('Loading ...', 'dim')]
  return [...paragraph(failure.text, width, 'bad'), ...paragraph(failure.hint ?? '', width, 'dim')]
}

const LINES_MAX = 3

type NewsSources = { state: State; feed: Feed; opened: { row: unknown; feed: Feed } | undefined }

/** What has happened or what is wrong, and what to try: the text above the footer. */
function newsOf({ state, feed, opened }: NewsSources): { text: string; tone: Tone } | undefined {
  const { toast, signedOut, wantsFactor, now, bar } = state
  if (bar !== undefined) return undefined
  if (toast !== undefined)
    return { text: `${{ good: 'Done: ', bad: 'Error: ', info: '' }[toast.tone]}${toast.text}`, tone: toast.tone }
  if (signedOut) return { text: 'Signed out: svc login. L signs in from here.', tone: 'bad' }
  if (wantsFactor)
    return { text: 'That needs a new sign-in with a second factor: L, then the same again.', tone: 'warn' }
  const { failure } = opened?.feed.failure === undefined ? feed : opened.feed
  // A thing that could not be opened says so in its place.
  if (failure === undefined || (opened !== undefined && opened.row === undefined)) return undefined
  const hint = failure.hint === undefined ? '' : `\nTry: ${failure.hint.split('\n', 1).join()}`
  return { text: `Error since ${spanText(now - failure.at)}: ${failure.text}${hint}`, tone: 'bad' }
}

/** The lines of news, as many as they need and at most three. What to try has lines of its own where one is too little. */
function newsLines(sources: NewsSources, width: number): readonly Line[] {
  const news = newsOf(sources)
  if (news === undefined) return [EMPTY_LINE]
  const [text = '', tries = ''] = news.text.split(/\n(?=Try: )/).map((part) => part.replaceAll('\n', '  '))
  const fit = (part: string, most: number): string[] => paragraphOf(part, { width: width - 1, most })
  const inOne = fit(`${text}  ${tries}`.trim(), LINES_MAX)
  const below = tries === '' || inOne.length === 1 ? [] : fit(tries, LINES_MAX - 1)
  const lines = below.length === 0 ? inOne : [...fit(text, LINES_MAX - below.length), ...below]
  return lines.map((each) => line(` ${each}`, news.tone))
}
