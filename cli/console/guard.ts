import { EXIT } from '../base/exit-codes.ts'
import type { ExitCode } from '../base/exit-codes.ts'

export type End = { exit: ExitCode; error: unknown }

/** Watches over the terminal: whatever ends the console, the terminal is given back as it was. */
type Guard = {
  ended: Promise<End>
  end(exit: ExitCode): void
  /** Whether another program has the terminal: then ctrl-c is meant for that. */
  lend(isLent: boolean): void
  fail(error: unknown): void
  /** Takes the picture away, and gives signals and errors back to whoever had them. */
  restore(unmount: () => void): void
}

/**
 * Whether what does not fit into a line goes on in the next. In the picture it must not: terminals differ in how wide
 * they draw what a name is made of, and one line that is two would move all below it.
 */
export const WRAP = { off: '\u001b[?7l', on: '\u001b[?7h' }

/** No colours, the cursor, no bracketed paste, lines that wrap; and out of the alternate screen. */
const PLAIN = `\u001b[0m\u001b[?25h\u001b[?2004l${WRAP.on}`
const LEAVE_ALTERNATE = '\u001b[?1049l'

/** The terminal itself has gone: nobody is left to be told anything. */
const GONE: ReadonlySet<string> = new Set(['EIO', 'EPIPE', 'ENXIO', 'EBADF'])

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && GONE.has(error.code)
}

export function guardTerminal({ usesAlternateScreen }: { usesAlternateScreen: boolean }): Guard {
  const { promise, resolve } = Promise.withResolvers<End>()
  let isRestored = false
  let isLentOut = false
  const end = (exit: ExitCode): void => resolve({ exit, error: undefined })
  const fail = (error: unknown): void => {
    if (isGone(error)) end(EXIT.terminated)
    else resolve({ exit: EXIT.failure, error })
  }
  const handlers: [string, (given: unknown) => void][] = [
    ['SIGINT', () => (isLentOut ? undefined : end(EXIT.interrupted))],
    ['SIGTERM', () => end(EXIT.terminated)],
    ['SIGHUP', () => end(EXIT.terminated)],
    ['uncaughtException', fail],
    ['unhandledRejection', fail],
    ['exit', () => lastResort()],
  ]
  for (const [name, handler] of handlers) process.on(name, handler)
  // A terminal that is closed tells it by errors of its streams.
  process.stdin.on('error', fail)

  /** The process ends without having come to restore it. */
  function lastResort(): void {
    if (isRestored) return
    isRestored = true
    if (process.stdin.isTTY) process.stdin.setRawMode(false)
    write(`${PLAIN}${usesAlternateScreen ? LEAVE_ALTERNATE : ''}`)
  }

  function write(text: string): void {
    try {
      process.stdout.write(text)
    } catch {
      // Then there is no terminal to restore.
    }
  }

  return {
    ended: promise,
    end,
    fail,
    lend: (isLent) => void (isLentOut = isLent),
    restore(unmount) {
      try {
        unmount()
        write(PLAIN)
        isRestored = true
      } finally {
        lastResort()
        for (const [name, handler] of handlers) process.off(name, handler)
        process.stdin.off('error', fail)
        // Nothing may keep the process that only waits for keys.
        process.stdin.pause()
        process.stdin.unref()
      }
    },
  }
}
