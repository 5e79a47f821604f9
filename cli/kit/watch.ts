import { setTimeout as delay } from 'node:timers/promises'
import { Option } from 'commander'
import type { Command } from 'commander'
import { parseDuration } from '../../src/lib/duration.ts'
import { isPassing, usageError } from '../base/errors.ts'
import { EXIT, exitOfSignal } from '../base/exit-codes.ts'
import type { ExitCode } from '../base/exit-codes.ts'
import type { Io } from '../base/io.ts'
import type { Printer } from '../output/output.ts'
import { printable } from '../base/text.ts'
import { onStopSignals } from '../base/signals.ts'
import { takeShots } from './watch/shots.ts'
import type { Shots } from './watch/shots.ts'
import { makeScreen } from './watch/screen.ts'
import type { View } from './watch/screen.ts'
import { makeStream } from './watch/stream.ts'

const EACH = '2s'
/** Closer together than this a look costs the service more than it shows anybody. */
const LEAST_MS = 250

/** Adds `--watch`: the command looks again and again, and shows what is new and what has changed. */
export function watching(command: Command): Command {
  return command.addOption(
    new Option(
      '--watch [interval]',
      `look again every so often (${EACH}), and mark what is new or has changed`,
    ).helpGroup('Watching:'),
  )
}

/** How often to look, where the command's options say so. @throws {CliError} exit code 2 */
export function watchOf(given: unknown): number | undefined {
  if (given === undefined || given === false) return undefined
  const text = typeof given === 'string' && given !== '' ? given : EACH
  try {
    const everyMs = parseDuration(text)
    if (everyMs >= LEAST_MS) return everyMs
  } catch (error) {
    throw usageError(`--watch: ${error instanceof Error ? error.message : String(error)}`, '--watch 5s')
  }
  throw usageError(`--watch: ${text} is too often; at most every ${LEAST_MS}ms`, '--watch 1s')
}

export type Watching = {
  io: Io
  print: Printer
  everyMs: number
  /** The command line, as the first line of a terminal tells it. */
  title: string
  /** Whether one value of the result is asked for, and not rows. */
  hasQuery: boolean
  /** One look: the command itself, with this in the place of its printer and its remarks. */
  look(print: Printer, note: (text: string) => void): Promise<ExitCode | undefined>
  /** A remark on standard error. */
  note(text: string): void
}

/**
 * Looks until it is stopped. On a terminal what is shown is drawn anew in its place; elsewhere, and as JSON lines, what is
 * new or has changed is printed. A service that goes away after the first look is waited for.
 * @throws {CliError} exit code 2 for a form that has no rows; what the first look throws
 */
export async function watch(watching: Watching): Promise<ExitCode> {
  refuseForm(watching)
  const { io, print, everyMs } = watching
  const view = io.stdout.isTTY && print.mode === 'table' ? makeScreen(watching) : makeStream(watching)
  const stop = new AbortController()
  const removeHandlers = onStopSignals((signal) => stop.abort(signal))
  try {
    let isFirst = true
    while (!stop.signal.aborted && io.stdout.isGone !== true) {
      const shots = await lookUnless(stop.signal, { watching, view, isFirst })
      if (typeof shots === 'string') view.lost(shots)
      else if (shots !== undefined) view.show(shots)
      isFirst = false
      await delay(everyMs, undefined, { signal: stop.signal }).catch(() => undefined)
    }
    return stop.signal.aborted ? exitOfSignal(stop.signal.reason) : EXIT.ok
  } finally {
    removeHandlers()
  }
}

/** One look; the text is why there was none this time. Undefined when it was stopped meanwhile. */
async function lookUnless(
  signal: AbortSignal,
  { watching, view, isFirst }: { watching: Watching; view: View; isFirst: boolean },
): Promise<Shots | string | undefined> {
  const { promise: stopped, resolve } = Promise.withResolvers<undefined>()
  const stop = (): void => resolve(undefined)
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([stopped, takeShots({ print: watching.print, width: view.width }, watching.look)])
  } catch (error) {
    if (isFirst || !isPassing(error)) throw error
    return printable(error.message)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Forms that are one document, or in which a row does not say what it is: repeated, they can't be read. */
function refuseForm({ print: { mode }, hasQuery }: Watching): void {
  if (hasQuery) throw usageError('--watch shows rows, and -q takes one value out of them', '--watch -o jsonl')
  if (mode === 'table' || mode === 'jsonl') return
  throw usageError(`--watch prints rows as they change, which ${mode} has no form for`, '--watch -o jsonl')
}
