import { printable } from '../base/text.ts'
import type { Data } from './resource-cache.ts'
import { ROWS_MAX } from './page-list.ts'
import type { Feed } from './page-list.ts'
import type { Line } from './lines.ts'
import { cutTo, line, paragraph } from './lines.ts'
import { usableKeys } from './model/allowed.ts'
import type { Rights } from './model/allowed.ts'
import { viewOf } from './model/state.ts'
import type { State } from './model/state.ts'
import type { View } from './model/view.ts'
import { shownOf } from './shown.ts'
import { baseKey, detailKey, listKey, serviceFilter } from './queries.ts'
import { newsLines } from './notices.ts'
import type { Layout, Screen, ScreenKey } from './screen.ts'

/** What is looked at in detail. */
export type Opened = { id: string; row: unknown; feed: Feed<unknown>; title: string; lines: readonly Line[] }

/** Everything that is to be seen, made of the state and of what has been read. */
export type Seen = {
  screen: Screen
  view: View
  layout: Layout
  feed: Feed<unknown>
  /** When what is shown was read, and since when it waits to be read anew; both may be unknown. */
  age: { readAt: number | undefined; dueSince: number | undefined }
  /** Whether the service may have rows for the filter that were not asked for, and would be with Enter. */
  canAsk: boolean
  /** Whether there are more rows than are kept: nothing loads them. */
  isFull: boolean
  /** How many rows the list has without a filter; undefined where nobody has counted them all. */
  whole: number | undefined
  /** The rows that the filter leaves, and their ids. */
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
}

/** Header, tabs, the screen's own line, and a line of news; the footer has one line, or two where there is room. */
const FRAME_LINES = 4
/** From so many lines on the footer has two. */
const ROOMY_ROWS = 20

export function footerHeight(rows: number): 1 | 2 {
  return rows < ROOMY_ROWS ? 1 : 2
}
const TABLE_HEADER = 1

export function makeSeer(data: Data, rights: () => Rights): (state: State, screen: Screen) => Seen {
  let last: { rows: readonly unknown[]; filter: string; found: readonly unknown[] } | undefined

  /** The rows that hold all words of the filter in what is shown of them. */
  function left(
    screen: Screen,
    rows: readonly unknown[],
    { filter, layout }: { filter: string; layout: Layout },
  ): readonly unknown[] {
    const words = filter
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '')
    if (words.length === 0) return rows
    if (last?.rows === rows && last.filter === filter) return last.found
    const columns = screen.columns({ ...layout, wide: true })
    const found = rows.filter((row) => {
      const text = `${columns.map((column) => column.value(row)).join('\n')}\n${screen.id(row)}`.toLowerCase()
      return words.every((word) => text.includes(word))
    })
    last = { rows, filter, found }
    return found
  }

  let joined: { asked: Feed<unknown>; base: Feed<unknown>; feed: Feed<unknown> } | undefined

  /** What has been read of a list: where the service was asked for a part of it, what was here before as well. */
  function listed(
    screen: Screen,
    view: View,
  ): { feed: Feed<unknown>; all: readonly unknown[] } & Pick<Seen, 'whole' | 'isFull'> {
    const asked = data.feed(listKey(screen, view))
    const isFull = asked.next !== null && asked.rows.length >= ROWS_MAX
    if (serviceFilter(screen, view) === '') return { feed: asked, all: asked.rows, whole: wholeOf(asked), isFull }
    const base = data.feed(baseKey(screen))
    if (joined?.asked !== asked || joined.base !== base) joined = { asked, base, feed: joinedFeed(screen, asked, base) }
    return { feed: joined.feed, all: joined.feed.rows, whole: wholeOf(base), isFull }
  }

  /** The row that is open, as it was seen last: it may leave the list before the service has told more of it. */
  let stood: { key: string; row: unknown } | undefined

  function standIn(screen: Screen, view: View, rows: readonly unknown[]): unknown {
    if (view.open === undefined) return (stood = undefined)
    const { id } = view.open
    const key = detailKey(screen, id)
    const row = rows.find((each) => screen.id(each) === id)
    if (row !== undefined) stood = { key, row }
    return stood?.key === key ? stood.row : undefined
  }

  return (state, screen) => {
    const view = viewOf(state, screen.name)
    const { columns, rows: height } = state.size
    const layout: Layout = { width: columns, who: rights().who, now: state.now, wide: view.wide }
    const { feed, all, whole, isFull } = listed(screen, view)
    const rows = left(screen, all, { filter: view.filter, layout })
    const opened = openedOf({ screen, view, layout, row: standIn(screen, view, feed.rows), data, rights: rights() })
    const news = newsLines({ state, feed, opened }, columns)
    const bodyHeight = Math.max(1, height - FRAME_LINES - (news.length - 1) - footerHeight(height))
    const head = (screen.head?.(feed.rows, layout) ?? []).slice(0, Math.floor(bodyHeight / 2))
    const row = opened === undefined ? rows[view.index] : opened.row
    const marked =
      opened !== undefined || view.marks.size === 0 ? [] : rows.filter((each) => view.marks.has(screen.id(each)))
    return {
      screen,
      view,
      layout,
      feed,
      age: ageOf({ screen, view, feed, opened, data }),
      canAsk:
        (feed.next !== null || feed.isNewestOnly) &&
        (screen.serviceFilter?.(view.filter) ?? '') !== serviceFilter(screen, view),
      isFull,
      whole,
      rows,
      ids: rows.map((each) => screen.id(each)),
      allIds: all.map((each) => screen.id(each)),
      row,
      head,
      listHeight: Math.max(1, bodyHeight - head.length - TABLE_HEADER),
      bodyHeight,
      opened,
      news,
      marked,
      keys: usableKeys(screen, rights(), {
        on: opened === undefined ? 'list' : 'detail',
        row,
        marked,
        shown: shownOf({ view, rows, feed }),
      }),
    }
  }
}

function wholeOf({ rows, next, readAt, isNewestOnly }: Feed<unknown>): number | undefined {
  return readAt === undefined || next !== null || isNewestOnly ? undefined : rows.length
}

function joinedFeed(screen: Screen, asked: Feed<unknown>, base: Feed<unknown>): Feed<unknown> {
  const here = new Set(base.rows.map((each) => screen.id(each)))
  const found = new Map(asked.rows.map((each) => [screen.id(each), each]))
  const rows = [
    ...base.rows.map((each) => found.get(screen.id(each)) ?? each),
    ...asked.rows.filter((each) => !here.has(screen.id(each))),
  ]
  return { ...asked, rows, readAt: asked.readAt ?? base.readAt }
}

type Shown = { screen: Screen; view: View; feed: Feed<unknown>; opened: Opened | undefined; data: Data }

/** How old what is shown is. Rows that were left behind say so themselves. */
function ageOf({ screen, view, feed, opened, data }: Shown): Seen['age'] {
  if (opened?.feed.readAt !== undefined)
    return { readAt: opened.feed.readAt, dueSince: data.dueSince(detailKey(screen, opened.id)) }
  return { readAt: feed.readAt, dueSince: feed.isBehind ? undefined : data.dueSince(listKey(screen, view)) }
}

/** `row` is that of the list, which stands in until the service has told of the whole. */
type Where = { screen: Screen; view: View; layout: Layout; row: unknown; data: Data; rights: Rights }

function openedOf({ screen, view, layout, row: listed, data, rights }: Where): Opened | undefined {
  const { detail } = screen
  if (detail === undefined || view.open === undefined) return undefined
  const { id } = view.open
  const ofOne = data.feed(detailKey(screen, id))
  const whole = ofOne.rows[0]
  const row = whole === undefined ? listed : detail.row(whole)
  const width = layout.width - 1
  const keys = new Set(usableKeys(screen, rights, { on: 'detail', row }).map(({ key }) => key))
  const lines = row === undefined ? waiting(ofOne, width) : detail.lines({ row, whole }, { ...layout, width, keys })
  const cut = lines.map((each) => cutTo(each, width))
  return { id, row, feed: ofOne, title: row === undefined ? id : printable(detail.title(row)), lines: cut }
}

function waiting({ failure }: Feed<unknown>, width: number): Line[] {
  if (failure === undefined) return [line('Loading ...', 'dim')]
  return [...paragraph(failure.text, width, 'bad'), ...paragraph(failure.hint ?? '', width, 'dim')]
}
