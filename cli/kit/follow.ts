import { setTimeout as delay } from 'node:timers/promises'
import { isPassing, usageError } from '../base/errors.ts'
import { exitOfSignal } from '../base/exit-codes.ts'
import { onStopSignals } from '../base/signals.ts'
import { TIMER_MAX_MS } from '../base/times.ts'
import { grouped } from './command.ts'
import type { Input } from './command.ts'
import { durationOf } from './context.ts'
import type { CommandResult, Context } from './context.ts'

export function following(summary: string) {
  return grouped('Following:', {
    follow: { summary },
    timeout: { value: 'duration', summary: 'With --follow: stop after this time, such as 30s or 5m' },
  })
}

export type FollowOptions = Input<ReturnType<typeof following>>

type Following<Rows> = {
  options: FollowOptions
  pauseMs: number
  read(): Promise<Rows>
  /** Prints what is new. @returns true where nothing more can come */
  show(rows: Rows): boolean
}

/** The time of `--timeout`; it has a meaning only with `--follow`. @throws {CliError} exit code 2 */
export function followTime({ follow, timeout }: FollowOptions): number | undefined {
  if (timeout === undefined) return undefined
  if (!follow) throw usageError('--timeout ends --follow, which is missing')
  return Math.min(durationOf(timeout, '--timeout'), TIMER_MAX_MS)
}

/**
 * Reads repeatedly until a signal, the time or `show` ends it, or the output is no longer read. Once the first answer has
 * come, a service that is away is waited for.
 */
export async function follow<Rows>(
  context: Context,
  { options, pauseMs, read, show }: Following<Rows>,
): Promise<CommandResult> {
  const timeoutMs = followTime(options)
  const stop = new AbortController()
  const removeHandlers = onStopSignals((signal) => stop.abort(signal))
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => stop.abort('timeout'), timeoutMs)
  try {
    let isOver = show(await read())
    let isLost = false
    while (!isOver && context.io.stdout.isGone !== true) {
      await delay(pauseMs, undefined, { signal: stop.signal }).catch(() => undefined)
      if (stop.signal.aborted) break
      const rows: Rows | undefined = await readAgain(context, read, isLost)
      isLost = rows === undefined
      if (rows !== undefined) isOver = show(rows)
    }
  } finally {
    clearTimeout(timer)
    removeHandlers()
  }
  const { reason } = stop.signal
  return reason === undefined || reason === 'timeout' ? undefined : exitOfSignal(reason)
}

/** The rows; undefined where the service is away, which is said once. */
async function readAgain<Rows>(
  context: Context,
  read: () => Promise<Rows>,
  isLost: boolean,
): Promise<Rows | undefined> {
  try {
    const rows = await read()
    if (isLost) context.note('The service answers again.')
    return rows
  } catch (error) {
    if (!isPassing(error)) throw error
    if (!isLost) context.note(`${error.message}; continuing once it answers`)
    return undefined
  }
}
