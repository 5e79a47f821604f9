import type { Client } from '../client.ts'
import { playCase } from './play.ts'
import type { CaseResult, PlayOptions } from './play.ts'
import type { Case } from './read-scenarios.ts'
import type { Reporter, Summary } from './reporters/reporter.ts'

export type PlayAllOptions = PlayOptions & {
  reporter: Reporter
  /** Whether the first failure ends the run. */
  bail: boolean
  /** How many cases are played at once. */
  parallel: number
}

/** Plays the cases and tells each in its order; what was played is told also when the service goes away. */
export async function playAll(client: Client, cases: readonly Case[], options: PlayAllOptions): Promise<Summary> {
  const { reporter, bail, signal } = options
  const begunAt = performance.now()
  let passed = 0
  let failed = 0
  const summary = (): Summary => ({
    passed,
    failed,
    notPlayed: cases.length - passed - failed,
    durationMs: performance.now() - begunAt,
  })
  reporter.begin(cases.length)
  try {
    for await (const result of resultsOf(client, cases, options)) {
      if (signal.aborted) break
      if (result.failure === undefined) passed += 1
      else failed += 1
      reporter.tellCase(result, passed + failed)
      if (bail && failed > 0) break
    }
  } finally {
    reporter.end(summary())
  }
  return summary()
}

/** The results in the order of the cases, of which a few are played at once. Cases under way are always waited for. */
async function* resultsOf(client: Client, cases: readonly Case[], options: PlayAllOptions): AsyncGenerator<CaseResult> {
  const open: Promise<CaseResult>[] = []
  try {
    for (const scenario of cases) {
      const playing = playCase(client, scenario, options)
      // It is awaited in its turn; until then its failure must not count as one that nobody handles.
      playing.catch(() => undefined)
      open.push(playing)
      if (open.length >= options.parallel) yield await takeFirst(open)
    }
    while (open.length > 0) yield await takeFirst(open)
  } finally {
    await Promise.allSettled(open)
  }
}

async function takeFirst(open: Promise<CaseResult>[]): Promise<CaseResult> {
  const [first] = open
  if (first === undefined) throw new Error('nothing is being played')
  const result = await first
  open.shift()
  return result
}
