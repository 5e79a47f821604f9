/*
 * The keyboard while the console is being loaded: what is typed then is echoed nowhere, and waits for the console. There is
 * one keyboard, so that its state stands here.
 */

import { isYes } from './environment-variables.ts'

const CTRL_C = 3
let held: Buffer[] | undefined

function isTerminal(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY
}

function onReadable(): void {
  for (let chunk: Buffer | null; (chunk = process.stdin.read()) !== null;) {
    held?.push(chunk)
    // Nobody but us can say now that ctrl-c ends it.
    if (chunk.includes(CTRL_C)) {
      releaseKeys({ keep: false })
      return void process.kill(process.pid, 'SIGINT')
    }
  }
}

/** Takes the keyboard: what is typed is kept from now on, and not shown. Without a terminal it does nothing. */
export function holdKeys(): void {
  if (held !== undefined || !isTerminal()) return
  held = []
  process.stdin.setRawMode(true)
  process.stdin.on('readable', onReadable)
}

/** Gives the keyboard on: with what was typed to whoever reads it next, or as it was to the shell. */
export function releaseKeys({ keep }: { keep: boolean }): void {
  if (held === undefined) return
  const typed = Buffer.concat(held)
  held = undefined
  // Whoever reads next goes on with it: a stream that was paused would not begin to read again.
  process.stdin.off('readable', onReadable)
  if (!keep) {
    process.stdin.setRawMode(false)
    // The listener is gone at the next tick only; until then a pause would leave the terminal being read, beside a pager.
    process.nextTick(() => process.stdin.pause())
    // Nothing may keep the process that only waits for keys.
    process.stdin.unref()
  } else if (typed.length > 0) process.stdin.unshift(typed)
}

/** Whether this command line opens the console, as far as its first word says. */
export function opensConsole(words: readonly string[], env: NodeJS.ProcessEnv): boolean {
  if (!isTerminal() || env['TERM'] === 'dumb' || isYes(env['SVC_NO_INPUT'])) return false
  if (words[0] === 'ui') return !words.some((word) => /^(--help|-h|--map|--no-input)(=|$)/.test(word))
  return words.length === 0 && ['', 'false', undefined].includes(env['CI'])
}
