import { isSignedOut, hiddenText } from './tools.ts'
import { CliError, messageOf } from '../base/errors.ts'
import type { Host } from './host.ts'
import { pasteText, pressKey } from './press.ts'
import { leftText } from './actions.ts'
import { FLASH_MS, fadeTimes, firstState, screenOf, screensOf, viewOf } from './model/state.ts'
import { answered, asked, failed, listKey, needsOf, nextCursor, readNeed, readTimes, withShown } from './model/cache.ts'
import type { Entry } from './model/cache.ts'
import { faded, inView } from './model/changes.ts'
import type { Modal } from './model/modal.ts'
import type { Change, Session, State, Toast } from './model/state.ts'
import type { ScreenName } from './screen-names.ts'
import type { Screen } from './screen.ts'
import { arrived } from './model/view.ts'
import { makeSee } from './view-model.ts'
import type { ConsoleView } from './view-model.ts'

export type ConsoleOptions = {
  screens: readonly Screen[]
  first: ScreenName | undefined
  session: Session
  host: Host
  /** A text with its commands as they have to be typed to do the same from a shell; as it is, where nothing says it. */
  typed?(text: string): string
  now(): number
}

/** The store of the console: one state, what changes it, and what follows from a change. */
export type Console = {
  state(): State
  seen(): ConsoleView
  /** Makes the next state: with these parts replaced, or by a change of model/. */
  update(change: Partial<State> | Change): void
  subscribe(listener: () => void): () => void
  toast(toast: Toast): void
  press(names: readonly string[]): void
  paste(text: string): void
  readonly host: Host
  typed(text: string): string
  now(): number
  isStopped(): boolean
  /** Ends it. What was being done then is reported, as its answer is not known; undefined where nothing was. */
  stop(): string | undefined
}

const TOAST_MS = 8_000
const ROWS_AHEAD = 5

export function makeConsole({ screens, first, session, host, typed = (text) => text, now }: ConsoleOptions): Console {
  const listeners = new Set<() => void>()
  const see = makeSee()
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const all = screensOf({ screens, session })
  const start = all.find(({ name }) => name === first) ?? all[0]
  if (start === undefined) throw new Error('there is no screen for this role')
  let state = firstState({ screens, session, screen: start.name, now: now() })

  function update(change: Partial<State> | Change): void {
    if (isStopped) return
    const before = state
    const changed = typeof change === 'function' ? change(state) : { ...state, ...change }
    state = settled(before, changed, { see, at: now() })
    if (state === before) return
    stopClosed(before.modal, state.modal)
    readWhatIsDue()
    for (const listener of listeners) listener()
  }

  function readWhatIsDue(): void {
    const at = now()
    for (const due of readTimes(state)) if (due.at <= at) void ask(due.entry)
    const { screen, view, ids, feed, listHeight } = see(state)
    const entry = state.cache.entries.get(listKey(screen, view))
    const isNearEnd = !view.follows && view.top + listHeight >= ids.length - ROWS_AHEAD
    const cursor = feed.readAt === undefined || entry === undefined ? undefined : nextCursor(entry, at)
    if (entry !== undefined && cursor !== undefined && isNearEnd) void ask(entry, cursor)
    const times = [...readTimes(state).map((due) => due.at), ...fadeTimes(state)]
    clearTimeout(timer)
    timer = times.length === 0 ? undefined : setTimeout(wake, Math.max(0, Math.min(...times) - at))
  }

  function wake(): void {
    update(faded(now()))
    if (!isStopped) readWhatIsDue()
  }

  async function ask(entry: Entry, cursor?: string): Promise<void> {
    const { key } = entry
    const token = Symbol(key)
    const { client, rights } = state.session
    state = asked(key, { token, cursor, at: now() })(state)
    const begun = performance.now()
    try {
      const page = await readNeed(entry, { client, who: rights.who, kept: state.kept, cursor })
      const latencyMs = Math.round(performance.now() - begun)
      const take = answered(key, token, { page, at: now() })
      update((before) => ({ ...take(before), answered: { at: now(), latencyMs }, signedOut: false }))
    } catch (error) {
      const hint = error instanceof CliError ? error.options.hint : undefined
      const text = messageOf(error)
      const take = failed(key, token, { text, hint: hint === undefined ? undefined : typed(hint), at: now() })
      update((before) => {
        const after = take(before)
        return isSignedOut(error) && after !== before ? { ...after, signedOut: true } : after
      })
    }
  }

  const console: Console = {
    state: () => state,
    seen: () => see(state),
    update,
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    // A hint is a command, too.
    toast: (toast) => update({ toast: toast.tone === 'bad' ? { ...toast, text: typed(toast.text) } : toast }),
    press: (names) => names.forEach((name) => pressKey(console, name)),
    paste: (text) => pasteText(console, text),
    host,
    typed,
    now,
    isStopped: () => isStopped,
    stop() {
      isStopped = true
      clearTimeout(timer)
      stopClosed(state.modal, undefined)
      const { underWay } = state
      return underWay?.isWrite === true ? typed(leftText(underWay, state.session.rights.who.kind)) : undefined
    },
  }
  state = settled(undefined, state, { see, at: now() })
  readWhatIsDue()
  if (first !== undefined && start.name !== first) console.toast({ text: hiddenText(console, first), tone: 'bad' })
  return console
}

/** What writes into a text that was closed is stopped. */
function stopClosed(before: Modal | undefined, after: Modal | undefined): void {
  if (before?.kind !== 'text' || before.isGoing !== true) return
  if (after?.kind !== 'text' || after.by !== before.by) before.by?.abort()
}

const PLACES = ['screen', 'views', 'size', 'cache', 'session', 'toast', 'signedOut', 'wantsFactor'] as const

type Settling = { see(state: State): ConsoleView; at: number }

/** The state after a change, with what follows from it: what has to be read, and a selection that stands on a row. */
function settled(before: State | undefined, changed: State, { see, at }: Settling): State {
  if (before !== undefined && PLACES.every((part) => before[part] === changed[part])) return changed
  const toastUntil = changed.toast === undefined || changed.toast.tone === 'bad' ? undefined : at + TOAST_MS
  const shown = screenOf(changed)
  const cache = withShown(changed.cache, needsOf(shown, viewOf(changed, shown.name)), at)
  const state = { ...changed, cache, ...(before?.toast === changed.toast ? {} : { toastUntil }) }
  const { screen, ids, allIds, listHeight, feed } = see(state)
  if (feed.readAt === undefined) return state
  const came = feed.came !== undefined && at - feed.came.at < FLASH_MS ? feed.came : undefined
  const rows = { ids, all: allIds, height: listHeight, follow: screen.follow === true, came }
  return inView((view) => arrived(view, rows), screen.name)(state)
}
