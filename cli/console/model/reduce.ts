import type { ScreenName } from '../screen-names.ts'
import { finished } from './action.ts'
import type { Finished, UnderWay } from './action.ts'
import { NO_CACHE, cacheAfter } from './cache.ts'
import type { CacheChange } from './cache.ts'
import { editOf, NO_TEXT } from './edit.ts'
import { FLASH_MS, firstState, lookingAt, screenOf, viewOf } from './state.ts'
import type { Change, State } from './state.ts'
import { allToggled, arrived, filtered, moved, placeAfter, toggled, unmarked } from './view.ts'
import type { View } from './view.ts'

const BEFORE_MAX = 20

function withView(state: State, view: View, screen: ScreenName = state.screen): State {
  return { ...state, views: { ...state.views, [screen]: view } }
}

/** The next state of the console. Nothing here reads, writes or waits. */
export function reduce(state: State, change: Change): State {
  const view = viewOf(state)
  switch (change.type) {
    case 'size':
      return { ...state, size: { columns: change.columns, rows: change.rows } }
    case 'hint':
    case 'poll':
    case 'refresh':
    case 'asked':
    case 'patch':
      return withCache(state, change)
    case 'tick':
      return { ...withCache(state, change), now: change.now }
    case 'read':
      return { ...withCache(state, change), answered: { at: change.at, latencyMs: change.latencyMs }, signedOut: false }
    case 'failed': {
      const next = withCache(state, change)
      return change.isSignedOut && next !== state ? { ...next, signedOut: true } : next
    }
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
      return faded(state, change.at)
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
        },
      }
    case 'typed':
      return state.bar === undefined
        ? state
        : { ...state, bar: { ...state.bar, edit: change.edit, problem: undefined } }
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

function withCache(state: State, change: CacheChange | { type: 'tick'; now: number }): State {
  const cache = cacheAfter(state.cache, change, lookingAt(state))
  return cache === state.cache ? state : { ...state, cache }
}

type OfFrame = Extract<
  Change,
  { type: 'pause' | 'link' | 'toast' | 'modal' | 'text' | 'keep' | 'session' | 'pending' | 'underWay' | 'finished' }
>

function ofFrame(state: State, change: OfFrame): State {
  switch (change.type) {
    case 'pause':
      return { ...state, paused: !state.paused }
    case 'link':
      return { ...state, link: change.link }
    case 'toast':
      return { ...state, toast: change.toast }
    case 'modal':
      return { ...state, modal: change.modal }
    case 'text': {
      const { modal } = state
      if (modal?.kind !== 'text' || modal.by !== change.by) return state
      return { ...state, modal: { ...modal, lines: change.lines, isGoing: change.isGoing } }
    }
    case 'keep':
      return { ...state, kept: { ...state.kept, ...change.kept } }
    case 'session':
      return withSession(state, change)
    case 'pending':
      return { ...state, pending: change.pending }
    case 'underWay':
      return withUnderWay(state, change.underWay)
    case 'finished':
      return withFinished(state, change)
  }
}

/** As somebody else everything begins anew; whoever has signed in again goes on where they were. */
function withSession(state: State, { session, isOther }: Extract<Change, { type: 'session' }>): State {
  const by = { client: session.client, who: session.rights.who }
  const pending = state.pending === undefined ? undefined : { ...state.pending, by }
  const next = { ...state, session, pending, cache: NO_CACHE, signedOut: false }
  if (!isOther) return next
  const { screens, size, link, paused, now, underWay } = state
  const { name: screen } = screenOf(next)
  return { ...firstState({ screens, session, screen, now }), size, link, paused, underWay }
}

function withUnderWay(state: State, underWay: UnderWay): State {
  const { modal } = state
  const waiting = modal?.kind === 'form' ? { ...modal, isWorking: true, problem: undefined } : modal
  return { ...state, modal: waiting, underWay: { ...underWay, since: state.underWay?.since ?? state.now } }
}

function withFinished(state: State, change: Finished): State {
  const { screen, doneIds, isSignedOut } = change
  const view = unmarked(viewOf(state, screen), doneIds)
  const next = { ...withView(state, view, screen), underWay: undefined, signedOut: state.signedOut || isSignedOut }
  return { ...next, ...finished(next.modal, change) }
}

/** Another screen. One that was led to is left for where it was come from; one that was chosen begins anew. */
function gone(state: State, { screen, filter, open, isStep }: Extract<Change, { type: 'go' }>): State {
  const further = screen === state.screen ? state.before : [...state.before, state.screen].slice(-BEFORE_MAX)
  const before = isStep === true ? further : []
  const next: State = { ...state, screen, before, modal: undefined, bar: undefined, toast: undefined }
  const view = viewOf(next)
  // What somebody was led to by a filter is left behind; a screen that is chosen is whole.
  const wanted = filter ?? (isStep === true || view.isLed !== true ? view.filter : '')
  const seen = wanted === view.filter ? view : filtered(view, wanted, { isTaken: true })
  // Who was led to one thing comes back from it to where it was led from, not to a list that nobody asked for.
  const led = isStep === true && screen !== state.screen ? { isStep } : {}
  const isLed = isStep === true && filter !== undefined && filter !== ''
  return withView(next, {
    ...seen,
    ...(isLed ? { isLed } : wanted === '' ? { isLed: false } : {}),
    open: open === undefined ? undefined : { id: open, top: 0, ...led },
  })
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

function faded(before: State, at: number): State {
  const isRead = before.toastUntil !== undefined && at >= before.toastUntil
  const state = isRead ? { ...before, toast: undefined, toastUntil: undefined } : before
  const isOver = ({ fresh, freshAt }: View): boolean => fresh.size > 0 && at >= freshAt + FLASH_MS
  if (!Object.values(state.views).some(isOver)) return state
  const views = Object.entries(state.views).map(([name, view]) => [
    name,
    isOver(view) ? { ...view, fresh: new Set() } : view,
  ])
  return { ...state, views: Object.fromEntries(views) }
}
