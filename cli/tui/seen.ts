import { printable } from '../text.ts'
import type { Data } from './data.ts'
import type { Need } from './entry.ts'
import type { Feed } from './feed.ts'
import type { Line } from './lines.ts'
import { cropped, line } from './lines.ts'
import { usableKeys } from './model/allowed.ts'
import type { Rights } from './model/allowed.ts'
import { viewOf } from './model/state.ts'
import type { State } from './model/state.ts'
import type { View } from './model/view.ts'
import type { Layout, Resource, Screen, ScreenKey } from './screen.ts'

/** What is looked at in detail. */
export type Opened = { id: string; row: unknown; feed: Feed<unknown>; title: string; lines: readonly Line[] }

/** Everything that is to be seen, made of the state and of what has been read. */
export type Seen = {
  screen: Screen
  view: View
  layout: Layout
  feed: Feed<unknown>
  /** Whether the service may have rows for the filter that were not asked for, and would be with Enter. */
  canAsk: boolean
  /** The rows that the filter leaves, and their ids. */
  rows: readonly unknown[]
  ids: readonly string[]
  allIds: readonly string[]
  /** The row that keys are about: what is open, or what is selected. */
  row: unknown
  head: readonly Line[]
  /** How many rows of the list, and how many lines of a detail, there is room for. */
  listHeight: number
  bodyHeight: number
  opened: Opened | undefined
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

/** What a screen needs to be read: its list, and what is open in it. */
export function needsOf(screen: Screen, view: View): Need[] {
  const list: Need = {
    key: listKey(screen, view),
    resource: screen.list,
    id: screen.id,
    arg: '',
    filter: serviceFilter(screen, view),
    limit: screen.limit ?? 100,
    // Whoever has moved reads: the newest row is not followed then, and the rows stay where they are.
    holds: screen.follow === true && !view.follows,
  }
  // What was found before the service was asked stays, and fresh: what it finds comes to that.
  const lists = list.filter === '' ? [list] : [list, { ...list, key: baseKey(screen), filter: '' }]
  const { detail } = screen
  if (detail === undefined || view.open === undefined) return lists
  const one: Resource<unknown> = {
    isDirty: (hint, arg) => detail.resource.isDirty(hint, arg),
    ...(detail.resource.isOld === undefined ? {} : { isOld: detail.resource.isOld }),
    async read(reading) {
      return { rows: [await detail.resource.read(reading)], next: null }
    },
  }
  const whole: Need = {
    key: detailKey(screen, view.open.id),
    resource: one,
    id: (each) => screen.id(detail.row(each)),
    arg: view.open.id,
    filter: '',
    limit: 1,
    holds: false,
  }
  return [...lists, whole]
}

/** The part of the filter that the service is asked for. */
function serviceFilter(screen: Screen, { asked }: View): string {
  return screen.serviceFilter?.(asked) ?? ''
}

export function listKey(screen: Screen, view: View): string {
  return `${screen.name}?${serviceFilter(screen, view)}`
}

/** The list as nobody has filtered it. */
function baseKey({ name }: Screen): string {
  return `${name}?`
}

function detailKey({ name }: Screen, id: string): string {
  return `${name}/${id}`
}

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
  function listed(screen: Screen, view: View): { feed: Feed<unknown>; all: readonly unknown[] } {
    const asked = data.feed(listKey(screen, view))
    if (serviceFilter(screen, view) === '') return { feed: asked, all: asked.rows }
    const base = data.feed(baseKey(screen))
    if (joined?.asked !== asked || joined.base !== base) joined = { asked, base, feed: joinedFeed(screen, asked, base) }
    return { feed: joined.feed, all: joined.feed.rows }
  }

  return (state, screen) => {
    const view = viewOf(state, screen.name)
    const { columns, rows: height } = state.size
    const layout: Layout = { width: columns, who: rights().who, now: state.now, wide: view.wide }
    const { feed, all } = listed(screen, view)
    const rows = left(screen, all, { filter: view.filter, layout })
    const bodyHeight = Math.max(1, height - FRAME_LINES - footerHeight(height))
    const head = (screen.head?.(feed.rows, layout) ?? []).slice(0, Math.floor(bodyHeight / 2))
    const opened = openedOf({ screen, view, layout, feed, data })
    const row = opened === undefined ? rows[view.index] : opened.row
    return {
      screen,
      view,
      layout,
      feed,
      canAsk: feed.next !== null && (screen.serviceFilter?.(view.filter) ?? '') !== serviceFilter(screen, view),
      rows,
      ids: rows.map((each) => screen.id(each)),
      allIds: all.map((each) => screen.id(each)),
      row,
      head,
      listHeight: Math.max(1, bodyHeight - head.length - TABLE_HEADER),
      bodyHeight,
      opened,
      keys: usableKeys(screen, rights(), { on: opened === undefined ? 'list' : 'detail', row }),
    }
  }
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

type Where = { screen: Screen; view: View; layout: Layout; feed: Feed<unknown>; data: Data }

function openedOf({ screen, view, layout, feed, data }: Where): Opened | undefined {
  const { detail } = screen
  if (detail === undefined || view.open === undefined) return undefined
  const { id } = view.open
  const ofOne = data.feed(detailKey(screen, id))
  const whole = ofOne.rows[0]
  const row = whole === undefined ? feed.rows.find((each) => screen.id(each) === id) : detail.row(whole)
  const width = layout.width - 1
  const lines = row === undefined ? waiting(ofOne) : detail.lines({ row, whole }, { ...layout, width })
  const cut = lines.map((each) => cropped(each, width))
  return { id, row, feed: ofOne, title: row === undefined ? id : printable(detail.title(row)), lines: cut }
}

function waiting({ failure }: Feed<unknown>): Line[] {
  if (failure === undefined) return [line('Loading ...', 'dim')]
  return [line(failure.text, 'bad'), ...(failure.hint ?? '').split('\n').map((each) => line(each, 'dim'))]
}
