import { isSignedOut } from './error-text.ts'
import { CliError } from '../base/errors.ts'
import type { Host } from './host.ts'
import { pasteText, pressKey } from './press.ts'
import { leftText } from './model/action.ts'
import { nextCursor, readNeed, readTimes, withShown } from './model/cache.ts'
import type { Entry } from './model/cache.ts'
import type { Modal } from './model/modal.ts'
import { reduce } from './model/reduce.ts'
import { FLASH_MS, fadeTimes, firstState, lookingAt, screensOf } from './model/state.ts'
import type { Change, Session, State, Toast } from './model/state.ts'
import { listKey, needsOf } from './queries.ts'
import type { ScreenName } from './screen-names.ts'
import type { Screen } from './screen.ts'
import { hiddenText } from './tools.ts'
import { makeSee } from './view-model.ts'
import type { Seen } from './view-model.ts'

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
  /** What is to be seen, made of the state. */
  seen(): Seen
  dispatch(change: Change): void
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

/** The console without its looks. */
export function makeConsole({ screens, first, session, host, typed = (text) => text, now }: ConsoleOptions): Console {
  const listeners = new Set<() => void>()
  const see = makeSee()
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const all = screensOf({ screens, session })
  const start = all.find(({ name }) => name === first) ?? all[0]
  if (start === undefined) throw new Error('there is no screen for this role')
  let state = firstState({ screens, session, screen: start.name, now: now() })

  function dispatch(change: Change): void {
    if (isStopped) return
    const before = state
    state = settled(before, reduce(before, change), { see, at: now() })
    if (state === before) return
    stopClosed(before.modal, state.modal)
    readWhatIsDue()
    for (const listener of listeners) listener()
  }

  /** Begins every request that the state calls for, and wakes again for the next one. */
  function readWhatIsDue(): void {
    const at = now()
    for (const due of readTimes(state.cache, lookingAt(state))) if (due.at <= at) void ask(due.entry)
    const { screen, view, ids, feed, listHeight } = see(state)
    const isNearEnd = view.top + listHeight >= ids.length - ROWS_AHEAD
    if (feed.readAt !== undefined && !view.follows && isNearEnd) {
      const entry = state.cache.entries.get(listKey(screen, view))
      const cursor = entry === undefined ? undefined : nextCursor(entry, at)
      if (entry !== undefined && cursor !== undefined) void ask(entry, cursor)
    }
    const times = [...readTimes(state.cache, lookingAt(state)).map((due) => due.at), ...fadeTimes(state)]
    clearTimeout(timer)
    timer = times.length === 0 ? undefined : setTimeout(wake, Math.max(0, Math.min(...times) - at))
  }

  function wake(): void {
    dispatch({ type: 'faded', at: now() })
    if (!isStopped) readWhatIsDue()
  }

  async function ask(entry: Entry, cursor?: string): Promise<void> {
    const { key } = entry
    const token = Symbol(key)
    const { client, rights } = state.session
    state = reduce(state, { type: 'asked', key, token, at: now(), ...(cursor === undefined ? {} : { cursor }) })
    const begun = performance.now()
    try {
      const page = await readNeed(entry, { client, who: rights.who, kept: state.kept, cursor })
      dispatch({ type: 'read', key, token, page, at: now(), latencyMs: Math.round(performance.now() - begun) })
    } catch (error) {
      const hint = error instanceof CliError ? error.options.hint : undefined
      const text = error instanceof Error ? error.message : String(error)
      const failure = { text, hint: hint === undefined ? undefined : typed(hint) }
      dispatch({ type: 'failed', key, token, failure, isSignedOut: isSignedOut(error), at: now() })
    }
  }

  const console: Console = {
    state: () => state,
    seen: () => see(state),
    dispatch,
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    // A hint is a command, too.
    toast: (toast) =>
      dispatch({ type: 'toast', toast: toast.tone === 'bad' ? { ...toast, text: typed(toast.text) } : toast }),
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

/** What wrote a text that nobody sees any more has nothing to go on for. */
function stopClosed(before: Modal | undefined, after: Modal | undefined): void {
  if (before?.kind !== 'text' || before.isGoing !== true) return
  if (after?.kind !== 'text' || after.by !== before.by) before.by?.abort()
}

/** Parts of the state on which it depends what is shown and read. */
const PLACES = ['screen', 'views', 'size', 'cache', 'session', 'toast', 'signedOut'] as const

type Settling = { see(state: State): Seen; at: number }

/** The state after a change, with what follows from it: what has to be read, and a selection that stands on a row. */
export function settled(before: State | undefined, changed: State, { see, at }: Settling): State {
  if (before !== undefined && PLACES.every((part) => before[part] === changed[part])) return changed
  const toastUntil = changed.toast === undefined || changed.toast.tone === 'bad' ? undefined : at + TOAST_MS
  const cache = withShown(changed.cache, needsOf(changed), at)
  const state = { ...changed, cache, ...(before?.toast === changed.toast ? {} : { toastUntil }) }
  const { screen, ids, allIds, listHeight, feed } = see(state)
  if (feed.readAt === undefined) return state
  const came = feed.came !== undefined && at - feed.came.at < FLASH_MS ? feed.came : undefined
  const rows = { ids, all: allIds, height: listHeight, follow: screen.follow === true, came }
  return reduce(state, { type: 'rows', screen: screen.name, ...rows })
}
