import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { CliError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import type { Io } from '../base/io.ts'

/* What happens while the console has given the terminal away. */

const GIVES_UP: ReadonlySet<string> = new Set(['\u001b', '\u0003'])

/**
 * Runs a login of svc, which writes to the terminal. Keys stay here: Esc and ctrl-c end the login, and nothing else.
 * @returns whether somebody has signed in; false where it was given up
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
    throw new CliError('LOGIN_FAILED', `svc ${words.join(' ')} ended with ${String(code)}`, { exit: EXIT.signedOut })
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

/** So long is waited for the signal that says that we were stopped and go on. */
const WOKEN_MS = 100

/**
 * Stops the whole group of processes, as the terminal itself does: what has started us stops too, and the shell behind
 * it has the terminal. Where no shell controls it nothing stops, for nobody could go on with it.
 * @returns whether it was stopped
 */
export async function stopGroup(): Promise<boolean> {
  const ours = process.listeners('SIGTSTP')
  let isWoken = false
  const onWoken = (): void => void (isWoken = true)
  process.once('SIGCONT', onWoken)
  process.removeAllListeners('SIGTSTP')
  try {
    process.kill(0, 'SIGTSTP')
    await delay(WOKEN_MS)
    // A timer that is over runs before the signals that wait.
    await nextTurn()
    await nextTurn()
    return isWoken
  } finally {
    process.off('SIGCONT', onWoken)
    for (const listener of ours) process.on('SIGTSTP', listener)
  }
}
