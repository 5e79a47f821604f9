import type { Console } from './console.ts'
import { whyHidden } from './model/allowed.ts'
import { screensOf, viewOf } from './model/state.ts'
import { readingLines } from './reading.ts'
import type { ScreenName } from './screen-names.ts'
import type { Tools, Watching } from './screen.ts'

/** What keys of screens work with, as whoever uses the console now. */
export function toolsOf(console: Console, by?: Pick<Tools, 'client' | 'who'>): Tools {
  const { session } = console.state()
  const { client, who } = by ?? { client: session.client, who: session.rights.who }
  return {
    client,
    who,
    go(screen, to = {}) {
      if (screensOf(console.state()).some(({ name }) => name === screen))
        console.dispatch({ type: 'go', screen, isStep: true, ...to })
      else console.toast({ text: hiddenText(console, screen), tone: 'bad' })
    },
    screens: () => screensOf(console.state()).map(({ name }) => name),
    stateDir: console.host.stateDir,
    show: (title, lines, options) =>
      console.dispatch({ type: 'modal', modal: { kind: 'text', title, lines, top: 0, ...options } }),
    watch: (title) => watch(console, title),
    keep: (kept) => console.dispatch({ type: 'keep', kept }),
    follow() {
      console.dispatch({ type: 'follow' })
      return viewOf(console.state()).follows
    },
    say: (text) => console.toast({ text, tone: 'info' }),
  }
}

/** Why there is no such screen for this role. */
export function hiddenText(console: Console, name: ScreenName): string {
  const { screens, session } = console.state()
  const hidden = screens.find((each) => each.name === name)
  return hidden === undefined ? `there is no screen ${name}` : whyHidden(hidden, session.rights)
}

/** A text that grows while something goes on. The store stops that as soon as the text is closed. */
function watch(console: Console, title: string): Watching {
  const by = new AbortController()
  const lines = ['Working ...']
  console.dispatch({ type: 'modal', modal: { kind: 'text', title, lines, top: 0, by, isGoing: true } })
  const write = (text: readonly string[], isGoing: boolean, from: 'first' | 'last' = 'last'): void => {
    const { modal } = console.state()
    if (modal?.kind !== 'text' || modal.by !== by || modal.isGoing !== true) return
    const before = readingLines(console)
    const wasAtEnd = modal.top >= before.lines.length - before.height
    console.dispatch({ type: 'text', by, lines: text, isGoing })
    const { lines: all, height } = readingLines(console)
    // The end stays in sight, unless somebody reads further up.
    if (from === 'first' || wasAtEnd) console.dispatch({ type: 'scroll', move: from, count: all.length, height })
  }
  return {
    signal: by.signal,
    write: (text) => write(text, true),
    end: (text, from) => write(text, false, from),
  }
}
