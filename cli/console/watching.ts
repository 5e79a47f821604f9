import type { Reading } from './model/modal.ts'
import type { Change, State } from './model/state.ts'
import type { Watching } from './screen.ts'

export type WatchOptions = {
  state(): State
  change(change: Change): void
  /** How many lines the text has where it is shown, and how many of them there is room for. */
  room(): { count: number; height: number }
}

export type Watch = {
  open(title: string): Watching
  /** After each change: what was closed is stopped. */
  look(): void
  /** Stops what goes on. */
  stop(): void
}

/** Texts that grow while something goes on; one at a time, for there is one modal. */
export function makeWatch({ state, change, room }: WatchOptions): Watch {
  let current: AbortController | undefined

  function shown(): Reading | undefined {
    const { modal } = state()
    return modal?.kind === 'text' && modal.isGoing === true ? modal : undefined
  }

  function stop(): void {
    const stopped = current
    current = undefined
    stopped?.abort()
  }

  return {
    stop,
    look() {
      if (current !== undefined && shown() === undefined) stop()
    },
    open(title) {
      stop()
      change({ type: 'modal', modal: { kind: 'text', title, lines: ['Working ...'], top: 0, isGoing: true } })
      const own = new AbortController()
      current = own
      const write = (lines: readonly string[], isGoing: boolean, from: 'first' | 'last' = 'last'): void => {
        const modal = shown()
        if (current !== own || modal === undefined) return
        const before = room()
        const wasAtEnd = modal.top >= before.count - before.height
        // Closing what is over stops nothing.
        if (!isGoing) current = undefined
        change({ type: 'modal', modal: { ...modal, lines, isGoing } })
        // The end stays in sight, unless somebody reads further up.
        if (from === 'first') change({ type: 'scroll', move: 'first', ...room() })
        else if (wasAtEnd) change({ type: 'scroll', move: 'last', ...room() })
      }
      return {
        signal: own.signal,
        write: (lines) => write(lines, true),
        end: (lines, from) => write(lines, false, from),
      }
    },
  }
}
