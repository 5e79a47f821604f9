import { AsyncLocalStorage } from 'node:async_hooks'
import type { Exchange } from '../../client/call.ts'
import type { CaseRun } from './case-run.ts'

const branches = new AsyncLocalStorage<{ exchange: Exchange | undefined }>()

/** Plays a branch of parallel with a last exchange of its own, so that its failure is reported with it. */
export function inBranch<T>(play: () => Promise<T>): Promise<T> {
  return branches.run({ exchange: undefined }, play)
}

/** Lets a run's last exchange be that of the branch from which it is asked for. */
export function withBranches(run: CaseRun): CaseRun {
  const own = { exchange: run.lastExchange }
  const slot = (): { exchange: Exchange | undefined } => branches.getStore() ?? own
  return Object.defineProperty(run, 'lastExchange', {
    get: () => slot().exchange,
    set(exchange: Exchange | undefined) {
      slot().exchange = exchange
    },
  })
}
