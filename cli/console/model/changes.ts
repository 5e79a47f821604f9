import type { ScreenName } from '../screen-names.ts'
import { refused } from './modal.ts'
import type { Modal } from './modal.ts'
import { NO_CACHE } from './cache.ts'
import { FLASH_MS, firstState, screenOf, viewOf } from './state.ts'
import type { Change, Finished, Session, State, UnderWay } from './state.ts'
import { filtered, placeAfter, unmarked } from './view.ts'
import type { Move, View } from './view.ts'

const BEFORE_MAX = 20

export function inView(change: (view: View) => View, screen?: ScreenName): Change {
  return (state) => {
    const name = screen ?? state.screen
    const view = viewOf(state, name)
    const next = change(view)
    return next === view ? state : { ...state, views: { ...state.views, [name]: next } }
  }
}

/** Another identity starts from the beginning; after a new sign-in of the same one everything stays. */
export function signedInAs(session: Session, { isOther }: { isOther: boolean }): Change {
  return (state) => {
    const by = { client: session.client, who: session.rights.who }
    const pending = state.pending === undefined ? undefined : { ...state.pending, by }
    const next = { ...state, session, pending, cache: NO_CACHE, signedOut: false, wantsFactor: false }
    if (!isOther) return next
    const { screens, size, link, paused, now, underWay } = state
    const { name: screen } = screenOf(next)
    return { ...firstState({ screens, session, screen, now }), size, link, paused, underWay }
  }
}

export function begun(underWay: UnderWay): Change {
  return (state) => {
    const { modal } = state
    const waiting = modal?.kind === 'form' ? { ...modal, isWorking: true, problem: undefined } : modal
    return { ...state, modal: waiting, underWay: { ...underWay, since: state.underWay?.since ?? state.now } }
  }
}

export function ended(outcome: Finished): Change {
  const { screen, doneIds, isSignedOut, wantsFactor } = outcome
  const unmark = inView((view) => unmarked(view, doneIds), screen)
  return (state) => ({
    ...unmark(state),
    underWay: undefined,
    signedOut: state.signedOut || isSignedOut,
    wantsFactor: state.wantsFactor || wantsFactor,
    ...finished(state.modal, outcome),
  })
}

type Going = { filter?: string | undefined; open?: string | undefined; isStep?: true }

/** Another screen. One that was linked to leads back; one that was chosen starts from the beginning. */
export function gone(screen: ScreenName, { filter, open, isStep }: Going = {}): Change {
  return (state) => {
    const further = screen === state.screen ? state.before : [...state.before, state.screen].slice(-BEFORE_MAX)
    const before = isStep === true ? further : []
    // Back leads to where the link was, not to a list that was not asked for.
    const led = isStep === true && screen !== state.screen ? { isStep } : {}
    const isLed = isStep === true && filter !== undefined && filter !== ''
    const show = inView((view) => {
      // The filter of a link is dropped; a screen that is chosen shows everything.
      const wanted = filter ?? (isStep === true || view.isLed !== true ? view.filter : '')
      return {
        ...(wanted === view.filter ? view : filtered(view, wanted, { isTaken: true })),
        ...(isLed ? { isLed } : wanted === '' ? { isLed: false } : {}),
        open: open === undefined ? undefined : { id: open, top: 0, ...led },
      }
    })
    return show({ ...state, screen, before, modal: undefined, bar: undefined, toast: undefined })
  }
}

export function wentBack(state: State): State {
  const { open, filter, marks } = viewOf(state)
  const closed = open === undefined ? state : inView((view) => ({ ...view, open: undefined }))(state)
  if (open !== undefined && (open.isStep !== true || state.before.length === 0)) return closed
  if (open === undefined && filter !== '') return inView((view) => filtered(view, '', { isTaken: true }))(state)
  if (open === undefined && marks.size > 0) return inView((view) => ({ ...view, marks: new Set() }))(state)
  const screen = state.before.at(-1)
  return screen === undefined ? closed : { ...closed, screen, before: state.before.slice(0, -1), toast: undefined }
}

export function canGoBack(state: State): boolean {
  return wentBack(state) !== state
}

export function scrolled(move: Move, { count, height }: { count: number; height: number }): Change {
  const to = (top: number): number => {
    const most = Math.max(0, count - height)
    if (move === 'last') return most
    return Math.min(most, placeAfter(move, top, { count: Math.max(1, count), height }))
  }
  return (state) => {
    const { modal } = state
    if (modal !== undefined && modal.kind !== 'form') return { ...state, modal: { ...modal, top: to(modal.top) } }
    return inView((view) =>
      view.open === undefined ? view : { ...view, open: { ...view.open, top: to(view.open.top) } },
    )(state)
  }
}

/** What flashed or was said long enough by now goes. */
export function faded(at: number): Change {
  return (before) => {
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
}

const SHOWN_MAX = 3

/** What is shown of it. What was typed into a form is still there where it failed, for another try. */
function finished(
  modal: Modal | undefined,
  { total, done, failed }: Finished,
): Pick<State, 'modal'> & Partial<Pick<State, 'toast'>> {
  const [first] = failed
  if (first !== undefined && total === 1) {
    if (modal?.kind === 'form') return { modal: refused(modal, first.text, first.fields) }
    return { modal, toast: { text: first.text, tone: 'bad' } }
  }
  const left = modal?.kind === 'form' ? undefined : modal
  if (first !== undefined) {
    const title = `${done.length} done, ${failed.length} failed`
    return { modal: { kind: 'text', title, lines: failed.map(({ id, text }) => `${id}: ${text}`), top: 0 } }
  }
  if (done.length === 0) return { modal: left }
  const more = done.length > SHOWN_MAX ? ` and ${done.length - SHOWN_MAX} more` : ''
  return { modal: left, toast: { text: `${done.slice(0, SHOWN_MAX).join(', ')}${more}`, tone: 'good' } }
}
