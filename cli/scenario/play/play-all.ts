import type { Client } from '../../client/call.ts'
import { playCase } from './play.ts'
import type { CaseResult, PlayOptions } from './play.ts'
import type { Case } from '../read/read-case.ts'

export type PlayAllOptions = PlayOptions & {
  /** Called with each result, in the order of the cases. */
  report: (result: CaseResult) => void
  /** Whether the first failure ends the run. */
  bail: boolean
  /** How many cases are played at once. */
  parallel: number
}

/** Plays the cases and reports each in its order. */
export async function playAll(client: Client, cases: readonly Case[], options: PlayAllOptions): Promise<void> {
  for await (const result of resultsOf(client, cases, options)) {
    if (options.signal.aborted) return
    options.report(result)
    if (options.bail && result.failure !== undefined) return
  }
}

/**
 * The results in the order of the cases, of which a few are played at once: a free place takes the next, also while an
 * earlier one takes long. Cases under way are always waited for.
 */
async function* resultsOf(client: Client, cases: readonly Case[], options: PlayAllOptions): AsyncGenerator<CaseResult> {
  // Reported results are released: a run may have many thousands of cases.
  const waiting: (PromiseWithResolvers<CaseResult> | undefined)[] = cases.map(() => Promise.withResolvers())
  // Each is awaited in its turn; until then its failure must not count as unhandled.
  for (const each of waiting) each?.promise.catch(() => undefined)
  const left = cases.entries()
  let isOver = false
  async function playOn(): Promise<void> {
    for (const [at, scenario] of left) {
      try {
        const result = await playCase(client, scenario, options)
        isOver ||= options.bail && result.failure !== undefined
        waiting[at]?.resolve(result)
      } catch (error) {
        isOver = true
        waiting[at]?.reject(error)
      }
      if (isOver || options.signal.aborted) return
    }
  }
  const players = Array.from({ length: options.parallel }, playOn)
  try {
    for (const at of cases.keys()) {
      const result = waiting[at]?.promise
      if (result === undefined) return
      yield await result
      waiting[at] = undefined
    }
  } finally {
    isOver = true
    await Promise.all(players)
  }
}
