import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { useApp } from 'ink'
import { CliError, codeOf } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import type { ExitCode } from '../base/exit-codes.ts'
import type { Io } from '../base/io.ts'

/** How the picture gives the terminal away for a while, once it is drawn. */
export type Suspend = ReturnType<typeof useApp>['suspendTerminal']

type Guard = {
  ended: Promise<{ exit: ExitCode; error: unknown }>
  end(exit: ExitCode): void
  fail(error: unknown): void
  attach(suspend: Suspend): void
  /** Runs something that has the terminal for itself: then ctrl-c is meant for that. */
  suspend<T>(run: () => Promise<T>): Promise<T>
  /** Takes the picture away, and gives signals and errors back to their handlers. */
  restore(unmount: () => void): void
}

/**
 * Whether what does not fit into a line goes on in the next. In the picture it must not: terminals differ in how wide
 * they draw what a name is made of, and one line that is two would move all below it.
 */
const WRAP = { off: '\u001b[?7l', on: '\u001b[?7h' }

/** No colours, the cursor, no bracketed paste, lines that wrap; and out of the alternate screen. */
const PLAIN = `\u001b[0m\u001b[?25h\u001b[?2004l${WRAP.on}`
const LEAVE_ALTERNATE = '\u001b[?1049l'

/** The terminal itself has gone: nothing can be shown any more. */
const GONE: ReadonlySet<string> = new Set(['EIO', 'EPIPE', 'ENXIO', 'EBADF'])

function isGone(error: unknown): boolean {
  return GONE.has(codeOf(error))
}

export function guardTerminal({ isSpoken }: { isSpoken: boolean }): Guard {
  const { promise, resolve } = Promise.withResolvers<{ exit: ExitCode; error: unknown }>()
  let isRestored = false
  let isLent = false
  let give: Suspend | undefined
  const end = (exit: ExitCode): void => resolve({ exit, error: undefined })
  const fail = (error: unknown): void => {
    if (isGone(error)) end(EXIT.terminated)
    else resolve({ exit: EXIT.failure, error })
  }
  const handlers: [string, (given: unknown) => void][] = [
    ['SIGINT', () => (isLent ? undefined : end(EXIT.interrupted))],
    ['SIGTERM', () => end(EXIT.terminated)],
    ['SIGHUP', () => end(EXIT.terminated)],
    ['SIGTSTP', () => void halt().catch(fail)],
    ['uncaughtException', fail],
    ['unhandledRejection', fail],
    ['exit', () => lastResort()],
  ]
  for (const [name, handler] of handlers) process.on(name, handler)
  // A closed terminal shows in errors of its streams.
  process.stdin.on('error', fail)
  if (!isSpoken) process.stdout.write(WRAP.off)

  /** The process ends without having come to restore it. */
  function lastResort(): void {
    if (isRestored) return
    isRestored = true
    if (process.stdin.isTTY) process.stdin.setRawMode(false)
    write(`${PLAIN}${isSpoken ? '' : LEAVE_ALTERNATE}`)
  }

  function write(text: string): void {
    try {
      process.stdout.write(text)
    } catch {
      // Then there is no terminal to restore.
    }
  }

  async function suspend<T>(run: () => Promise<T>): Promise<T> {
    if (give === undefined) throw new Error('there is no picture to suspend')
    const outcome: { value?: T } = {}
    isLent = true
    await give(async () => {
      if (!isSpoken) process.stdout.write(WRAP.on)
      try {
        outcome.value = await run()
      } finally {
        // Before the picture is drawn again, from the beginning of a line.
        if (!isSpoken) process.stdout.write(`\r${WRAP.off}`)
        isLent = false
      }
    })
    // What has run without throwing has left its value.
    return outcome.value as T
  }

  /** Stops the process as a shell wants it, with the terminal given back, until it goes on in the foreground. */
  async function halt(): Promise<void> {
    const stop = async (): Promise<void> => void process.kill(process.pid, 'SIGSTOP')
    // An editor has the terminal, and is stopped with us.
    await (isLent || give === undefined ? stop() : suspend(stop))
  }

  return {
    ended: promise,
    end,
    fail,
    attach: (given) => void (give = given),
    suspend,
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

const GIVES_UP: ReadonlySet<string> = new Set(['\u001b', '\u0003'])

/**
 * Runs a login of svc, which writes to the terminal. Keys stay here: Esc and ctrl-c end the login, and nothing else.
 * @returns whether the user has signed in; false where it was given up
 * @throws {CliError} when it failed
 */
export async function runLogin(io: Io, words: readonly string[]): Promise<boolean> {
  const launcher = process.argv[1]
  if (launcher === undefined) throw new Error('this process was not started by a command')
  process.stdout.write('Signing in. Esc or ctrl-c gives it up, and leads back to the console.\n')
  const child = spawn(process.execPath, [...process.execArgv, launcher, ...words], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: io.env,
  })
  let isGivenUp = false
  const stopKeys = takeKeys((text) => {
    if (!GIVES_UP.has(text)) return
    isGivenUp = true
    child.kill('SIGINT')
  })
  try {
    const [code] = await once(child, 'exit')
    if (code === 0) return true
    if (isGivenUp) return false
    throw new CliError('LOGIN_FAILED', `svc ${words.join(' ')} ended with ${String(code)}`)
  } finally {
    stopKeys()
  }
}

/** Reads keys as they are pressed, and shows none of them. @returns what ends it */
function takeKeys(onKeys: (text: string) => void): () => void {
  const { stdin } = process
  // As what draws reads it: a stream that was paused in between would not go on for that.
  const listener = (): void => {
    for (let chunk: unknown = stdin.read(); chunk !== null; chunk = stdin.read()) onKeys(String(chunk))
  }
  stdin.setRawMode(true)
  stdin.ref()
  stdin.on('readable', listener)
  return () => {
    stdin.off('readable', listener)
    stdin.setRawMode(false)
  }
}
