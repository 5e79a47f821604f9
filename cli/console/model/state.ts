import type { ScreenName } from '../screen-names.ts'
import { editOf, NO_TEXT } from './edit.ts'
import type { Edit } from './edit.ts'
import type { Modal } from './modal.ts'
import { NEW_VIEW, allToggled, arrived, filtered, moved, placeAfter, toggled, unmarked } from './view.ts'
import type { Arrival, Move, View } from './view.ts'

/** How the stream of events is: it brings changes, it is being opened, or it is gone since a moment. */
export type Link = { state: 'live' | 'connecting' | 'lost'; since: number }

/** One line of news: what was done, or what went wrong. */
export type Toast = { text: string; tone: 'good' | 'bad' | 'info' }

/** The line that is being typed at the bottom, and what for. `tabs` are the lines that Tab leads to, one after the other. */
export type Bar = {
  kind: 'filter' | 'command'
  edit: Edit
  problem: string | undefined
  tabs: { list: readonly string[]; at: number } | undefined
}

export type State = {
  size: { columns: number; rows: number }
  screen: ScreenName
  /** The screens before this one, for going back. */
  before: readonly ScreenName[]
  views: Readonly<Partial<Record<ScreenName, View>>>
  bar: Bar | undefined
  modal: Modal | undefined
  /** Since when what the form asked for is being done; undefined while nothing is. */
  workingSince: number | undefined
  paused: boolean
  link: Link
  /** When the service last answered, and how fast. */
  answered: { at: number; latencyMs: number } | undefined
  toast: Toast | undefined
  /** Whether the service has stopped taking who we are. */
  signedOut: boolean
  /** What time it is for ages, in milliseconds; it moves once a second at most. */
  now: number
}

export function firstState(screen: ScreenName, now: number): State {
  return {
    size: { columns: 80, rows: 24 },
    screen,
    before: [],
    views: {},
    bar: undefined,
    modal: undefined,
    workingSince: undefined,
    paused: false,
    link: { state: 'connecting', since: now },
    answered: undefined,
    toast: undefined,
    signedOut: false,
    now,
  }
}

export type Change =
  | { type: 'size'; columns: number; rows: number }
  | { type: 'tick'; now: number }
  | { type: 'go'; screen: ScreenName; filter?: string | undefined; open?: string | undefined; isStep?: true }
  | { type: 'move'; move: Move; ids: readonly string[]; height: number }
  | { type: 'scroll'; move: Move; count: number; height: number }
  | { type: 'sideways'; by: number; most: number }
  | ({ type: 'rows'; screen: ScreenName } & Arrival)
  | { type: 'faded' }
  | { type: 'mark'; id: string }
  | { type: 'markAll'; ids: readonly string[] }
  | { type: 'unmark'; screen: ScreenName; ids: readonly string[] }
  | { type: 'open'; id: string }
  | { type: 'back' }
  | { type: 'bar'; kind: 'filter' | 'command' }
  | { type: 'typed'; edit: Edit }
  | { type: 'tabs'; list: readonly string[]; at: number }
  | { type: 'problem'; problem: string }
  | { type: 'closeBar' }
  | { type: 'filter'; filter: string; isTaken: boolean }
  | { type: 'wide' }
  | { type: 'follow' }
  | { type: 'pause' }
  | { type: 'link'; link: Link }
  | { type: 'answered'; at: number; latencyMs: number }
  | { type: 'toast'; toast: Toast | undefined }
  | { type: 'modal'; modal: Modal | undefined }
  | { type: 'signedOut'; signedOut: boolean }

const BEFORE_MAX = 20

export function viewOf(state: State, screen: ScreenName = state.screen): View {
  return state.views[screen] ?? NEW_VIEW
}

function withView(state: State, view: View, screen: ScreenName = state.screen): State {
  return { ...state, views: { ...state.views, [screen]: view } }
}

/** The next state of the console. Nothing here reads, writes or waits. */
export function reduce(state: State, change: Change): State {
  const view = viewOf(state)
  switch (change.type) {
    case 'size':
      return { ...state, size: { columns: change.columns, rows: change.rows } }
    case 'tick':
      return { ...state, now: change.now }
    case 'go':
      return gone(state, change)
    case 'move':
      return withView(state, moved(view, change.move, change))
    case 'scroll':
      return scrolled(state, change)
    case 'sideways':
      return withView(state, { ...view, left: Math.max(0, Math.min(view.left + change.by, change.most)) })
    case 'rows':
      return withView(state, arrived(viewOf(state, change.screen), change), change.screen)
    case 'faded':
      return faded(state)
    case 'mark':
      return withView(state, toggled(view, change.id))
    case 'markAll':
      return withView(state, allToggled(view, change.ids))
    case 'unmark':
      return withView(state, unmarked(viewOf(state, change.screen), change.ids), change.screen)
    case 'open':
      return withView(state, { ...view, open: { id: change.id, top: 0 } })
    case 'back':
      return wentBack(state)
    case 'bar':
      return {
        ...state,
        bar: {
          kind: change.kind,
          edit: change.kind === 'filter' ? editOf(view.filter) : NO_TEXT,
          problem: undefined,
          tabs: undefined,
        },
      }
    case 'typed':
      return state.bar === undefined
        ? state
        : { ...state, bar: { ...state.bar, edit: change.edit, problem: undefined, tabs: undefined } }
    case 'tabs':
      return tabbed(state, change)
    case 'problem':
      return state.bar === undefined ? state : { ...state, bar: { ...state.bar, problem: change.problem } }
    case 'closeBar':
      return { ...state, bar: undefined }
    case 'filter':
      return change.filter === view.filter && (!change.isTaken || change.filter === view.asked)
        ? state
        : withView(state, filtered(view, change.filter, change))
    case 'wide':
      return withView(state, { ...view, wide: !view.wide, left: 0 })
    case 'follow':
      return withView(state, view.follows ? { ...view, follows: false } : { ...view, follows: true, index: 0, top: 0 })
    default:
      return ofFrame(state, change)
  }
}

type OfFrame = Extract<Change, { type: 'pause' | 'link' | 'answered' | 'toast' | 'modal' | 'signedOut' }>

function ofFrame(state: State, change: OfFrame): State {
  switch (change.type) {
    case 'pause':
      return { ...state, paused: !state.paused }
    case 'link':
      return { ...state, link: change.link }
    case 'answered':
      return { ...state, answered: { at: change.at, latencyMs: change.latencyMs } }
    case 'toast':
      return { ...state, toast: change.toast }
    case 'modal':
      return {
        ...state,
        modal: change.modal,
        workingSince: isWorking(change.modal) ? (state.workingSince ?? state.now) : undefined,
      }
    case 'signedOut':
      return state.signedOut === change.signedOut ? state : { ...state, signedOut: change.signedOut }
  }
}

function isWorking(modal: Modal | undefined): boolean {
  return modal?.kind === 'form' && modal.progress !== undefined
}

/** Another screen. One that was led to is left for where it was come from; one that was chosen begins anew. */
function gone(state: State, { screen, filter, open, isStep }: Extract<Change, { type: 'go' }>): State {
  const further = screen === state.screen ? state.before : [...state.before, state.screen].slice(-BEFORE_MAX)
  const before = isStep === true ? further : []
  const next: State = { ...state, screen, before, modal: undefined, bar: undefined, toast: undefined }
  const view = viewOf(next)
  const seen = filter === undefined || filter === view.filter ? view : filtered(view, filter, { isTaken: true })
  // Who was led to one thing comes back from it to where it was led from, not to a list that nobody asked for.
  const led = isStep === true && screen !== state.screen ? { isStep } : {}
  return withView(next, { ...seen, open: open === undefined ? undefined : { id: open, top: 0, ...led } })
}

/** The next of the lines that Tab leads to. */
function tabbed(state: State, { list, at }: { list: readonly string[]; at: number }): State {
  const text = list[at]
  if (state.bar === undefined || text === undefined) return state
  return { ...state, bar: { ...state.bar, edit: editOf(text), problem: undefined, tabs: { list, at } } }
}

/** One step back: out of the detail, then the filter, then the marks, then to the screen before. */
function wentBack(state: State): State {
  const view = viewOf(state)
  const closed = view.open === undefined ? state : withView(state, { ...view, open: undefined })
  if (view.open !== undefined && (view.open.isStep !== true || state.before.length === 0)) return closed
  if (view.open !== undefined) return stepBack(closed)
  if (view.filter !== '') return withView(state, filtered(view, '', { isTaken: true }))
  if (view.marks.size > 0) return withView(state, { ...view, marks: new Set() })
  return stepBack(state)
}

function stepBack(state: State): State {
  const screen = state.before.at(-1)
  return screen === undefined ? state : { ...state, screen, before: state.before.slice(0, -1), toast: undefined }
}

/** Whether a step back changes anything; where nothing does, `q` quits. */
export function canGoBack(state: State): boolean {
  return wentBack(state) !== state
}

/** The detail, or the text of a modal, moved: `count` lines of which `height` are shown. */
function scrolled(state: State, { move, count, height }: Extract<Change, { type: 'scroll' }>): State {
  const to = (top: number): number => {
    const most = Math.max(0, count - height)
    if (move === 'last') return most
    return Math.min(most, placeAfter(move, top, { count: Math.max(1, count), height }))
  }
  const { modal } = state
  if (modal !== undefined && modal.kind !== 'form') return { ...state, modal: { ...modal, top: to(modal.top) } }
  const view = viewOf(state)
  return view.open === undefined ? state : withView(state, { ...view, open: { ...view.open, top: to(view.open.top) } })
}

/** What flashed is like the rest again. */
function faded(state: State): State {
  const views = Object.entries(state.views).map(([name, view]) => [name, { ...view, fresh: new Set() }])
  return { ...state, views: Object.fromEntries(views) }
}
