import { parseDuration } from '../../../src/lib/duration.ts'
import { StepFailure } from '../failure.ts'
import { WITHIN } from '../language/parts.ts'
import { pollFor } from './case-run.ts'
import type { CaseRun } from './case-run.ts'

export type Awaited<T> = {
  /** What is waited for, and what it is to become, as messages name them. */
  what: string
  wanted?: string | undefined
  within?: string | undefined
  /** Undefined while there is none. */
  look(): Promise<T | undefined>
  status(found: T): string
  now?(found: T): string
  /** Whether it is, or has been, as wanted; whether its status is the wanted one where nothing is said. */
  isThere?(found: T): boolean
  /** Whether it can no longer come to it: the statuses that nothing follows. */
  isOver?: readonly string[] | ((found: T) => boolean)
  /** The field of the step that a failure is about: its status where nothing is said. */
  at?: string
  /** What to do about it; `isOver` where it will not become it. */
  hint?(last: T | undefined, isOver: boolean): string | undefined
}

/**
 * Waits until what a step names is as the step says.
 * @throws {StepFailure} at once where it can no longer become it, or when the time is over
 */
export async function awaitThat<T>(run: CaseRun, awaited: Awaited<T>): Promise<T> {
  const { what, wanted = '', within = WITHIN, look, status, now = status, hint, at = 'status' } = awaited
  const { isThere = (found: T) => status(found) === wanted, isOver = [] } = awaited
  const isEnded = typeof isOver === 'function' ? isOver : (found: T) => isOver.includes(status(found))
  const fail = (message: string, isEnd: boolean): StepFailure =>
    new StepFailure(message, { at: [at], hint: hint?.(last, isEnd) })
  let last: T | undefined
  const found = await pollFor(run, parseDuration(within), async () => {
    last = await look()
    if (last === undefined || isThere(last)) return last
    if (isEnded(last)) throw fail(`${what} is ${now(last)} and can no longer become ${wanted}`, true)
    return undefined
  })
  if (found !== undefined) return found
  if (last === undefined) throw fail(`${what} was not ${wanted} within ${within}: there is none`, false)
  throw fail(`${what} is still ${now(last)} after ${within}; awaited was ${wanted}`, false)
}
