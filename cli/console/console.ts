import type { Client } from '../client/call.ts'
import { makeActing } from './action-runner.ts'
import type { Acting } from './action-runner.ts'
import { rowsNow } from './stale-rows.ts'
import { makeData } from './resource-cache.ts'
import type { Data } from './resource-cache.ts'
import type { Host } from './host.ts'
import { shownScreens, whyHidden } from './model/allowed.ts'
import type { Rights } from './model/allowed.ts'
import { firstState, reduce, viewOf } from './model/state.ts'
import type { Change, State, Toast } from './model/state.ts'
import { makePress } from './key-dispatch.ts'
import { takesRoom } from './notices.ts'
import { readingLines } from './reading.ts'
import { listKey, needsOf } from './queries.ts'
import { makeSeer } from './view-model.ts'
import type { Seen } from './view-model.ts'
import type { ScreenName } from './screen-names.ts'
import type { Hint, Screen, Tools } from './screen.ts'
import { makeWatch } from './watching.ts'

export type ConsoleOptions = {
  screens: readonly Screen[]
  first: ScreenName | undefined
  /** Who it acts as, now. */
  session(): { client: Client; rights: Rights; profile: string; isBoth?: boolean }
  host: Host
  /** A text with its commands as they have to be typed to do the same from a shell; as it is, where nothing says it. */
  typed?(text: string): string
  now(): number
}

export type Console = {
  state(): State
  change(change: Change): void
  subscribe(listener: () => void): () => void
  /** Grows with each change: what React compares. */
  version(): number
  press(names: readonly string[]): void
  paste(text: string): void
  screens(): readonly Screen[]
  /** Those that this role has not, too. */
  allScreens(): readonly Screen[]
  rights(): Rights
  profile(): string
  /** Whether the merchant and the operator are each other's other half here. */
  isBoth(): boolean
  seen(): Seen
  command(given: Readonly<Record<string, string>>): string
  /** The whole of it, one line for each row. */
  script(given: Readonly<Record<string, string>>): string
  hint(hint: Hint): void
  poll(): void
  /** A second has passed. */
  tick(): void
  /** Everything anew, as somebody else or as who signed in again. */
  restart(isOther: boolean): void
  /** Ends it. What was being done then is told, for nobody has heard what came of it; undefined where nothing was. */
  stop(): string | undefined
}

const FLASH_MS = 1_500
const TOAST_MS = 8_000

/** The console without its looks: what is known, what keys do, and what has to be read. */
export function makeConsole({ screens, first, session, host, typed = (text) => text, now }: ConsoleOptions): Console {
  const listeners = new Set<() => void>()
  let version = 0
  let timers: ReturnType<typeof setTimeout>[] = []
  let isStopped = false

  const shown = (): Screen[] => shownScreens(screens, session().rights)
  const start = shown().find(({ name }) => name === first) ?? shown()[0]
  if (start === undefined) throw new Error('there is no screen for this role')
  let state = firstState(start.name, now())

  const data: Data = makeData({
    reader: () => ({ client: session().client, who: session().rights.who }),
    typed,
    now,
    onChange: () => arrive(),
    onAnswer(latencyMs) {
      change({ type: 'answered', at: now(), latencyMs })
      change({ type: 'signedOut', signedOut: false })
    },
    onSignedOut: () => change({ type: 'signedOut', signedOut: true }),
  })
  const see = makeSeer(data, () => session().rights)

  function current(): Screen {
    const all = shown()
    return all.find(({ name }) => name === state.screen) ?? all[0] ?? start ?? screens[0]!
  }

  let seenAt = -1
  let lastSeen: Seen | undefined
  function seen(): Seen {
    if (lastSeen === undefined || seenAt !== version) {
      lastSeen = see(state, current())
      seenAt = version
    }
    return lastSeen
  }

  function notify(): void {
    version += 1
    for (const listener of listeners) listener()
  }

  function change(next: Change): void {
    if (isStopped) return
    const before = state
    state = reduce(state, next)
    if (state === before) return
    version += 1
    // Another list, or a part of it, is on the screen: its selection has to fit, and it has to be read.
    if (state.screen !== before.screen || state.views !== before.views || state.size !== before.size) settle()
    else if (takesRoom(state) || takesRoom(before)) settle()
    notify()
    watch.look()
  }

  /** After anything that changes which rows are seen: what is needed is read, and the selection stands on a row. */
  function settle(): void {
    const screen = current()
    data.show(needsOf(screen, viewOf(state, screen.name)))
    version += 1
    const { ids, allIds, listHeight, feed } = seen()
    if (feed.readAt === undefined) return
    const before = viewOf(state, screen.name)
    state = reduce(state, {
      type: 'rows',
      screen: screen.name,
      ids,
      all: allIds,
      height: listHeight,
      follow: screen.follow === true,
      came: feed.came !== undefined && now() - feed.came.at < FLASH_MS ? feed.came : undefined,
    })
    const after = viewOf(state, screen.name)
    if (after.fresh !== before.fresh && after.fresh.size > 0) later(FLASH_MS, () => change({ type: 'faded' }))
    if (after.top + listHeight >= ids.length - 5 && !after.follows) data.more(listKey(screen, after))
    version += 1
  }

  /** Rows have come. */
  function arrive(): void {
    if (isStopped) return
    settle()
    acting.look(rowsNow(seen()))
    notify()
  }

  function later(ms: number, run: () => void): void {
    const timer = setTimeout(() => {
      timers = timers.filter((each) => each !== timer)
      run()
    }, ms)
    timers.push(timer)
  }

  function toast(next: Toast): void {
    // A hint is a command, too.
    const told = next.tone === 'bad' ? { ...next, text: typed(next.text) } : next
    change({ type: 'toast', toast: told })
    if (next.tone !== 'bad') later(TOAST_MS, () => state.toast === next && change({ type: 'toast', toast: undefined }))
  }

  /** Why there is no such screen for this role. */
  function hiddenText(name: ScreenName): string {
    const hidden = screens.find((each) => each.name === name)
    return hidden === undefined ? `there is no screen ${name}` : whyHidden(hidden, session().rights)
  }

  const watch = makeWatch({
    state: () => state,
    change,
    room() {
      const { lines, height } = readingLines(it)
      return { count: lines.length, height }
    },
  })

  const tools: Tools = {
    get client() {
      return session().client
    },
    get who() {
      return session().rights.who
    },
    go(screen, to = {}) {
      if (shown().some(({ name }) => name === screen)) change({ type: 'go', screen, isStep: true, ...to })
      else toast({ text: hiddenText(screen), tone: 'bad' })
    },
    screens: () => shown().map(({ name }) => name),
    show: (title, lines) => change({ type: 'modal', modal: { kind: 'text', title, lines, top: 0 } }),
    watch: (title) => watch.open(title),
    follow() {
      change({ type: 'follow' })
      return viewOf(state).follows
    },
    say: (text) => toast({ text, tone: 'info' }),
    refresh: () => data.refresh(),
    suspend: (run) => host.suspend(run),
    browse: (url) => host.browse(url),
  }

  const acting: Acting = makeActing({
    get live() {
      return !session().rights.sandbox
    },
    tools,
    typed,
    showModal: (modal) => change({ type: 'modal', modal }),
    modal: () => state.modal,
    toast,
    patch: (screen, id, run) => data.patch(listKey(screen, viewOf(state, screen.name)), id, run),
    refresh: () => data.refresh(),
    unmark: ({ name }, ids) => change({ type: 'unmark', screen: name, ids }),
    onSignedOut: () => change({ type: 'signedOut', signedOut: true }),
  })

  const it: Console = {
    state: () => state,
    change,
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    version: () => version,
    press: (names) => names.forEach((name) => press.key(name)),
    paste: (text) => press.paste(text),
    screens: shown,
    allScreens: () => screens,
    rights: () => session().rights,
    profile: () => session().profile,
    isBoth: () => session().isBoth === true,
    seen,
    command: (given) => acting.command(given),
    script: (given) => acting.script(given),
    hint: (hint) => data.hint(hint),
    poll: () => data.poll(),
    tick() {
      change({ type: 'tick', now: now() })
      data.age()
    },
    restart(isOther) {
      data.clear()
      if (isOther) {
        // Marks, forms and what is open are of another service, or not for this role.
        const { size, link, paused, now: at } = state
        state = { ...firstState(current().name, at), size, link, paused }
        watch.look()
      } else change({ type: 'signedOut', signedOut: false })
      settle()
      notify()
    },
    stop() {
      isStopped = true
      watch.stop()
      data.stop()
      for (const timer of timers) clearTimeout(timer)
      return acting.stop()
    },
  }
  const press = makePress(it, { host, acting, data, tools, toast })
  settle()
  if (first !== undefined && start.name !== first) toast({ text: hiddenText(first), tone: 'bad' })
  return it
}
