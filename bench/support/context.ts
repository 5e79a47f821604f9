import type { Child } from './child.ts'
import { encryptionKey } from './database.ts'
import type { BenchDatabase, BenchServer } from './database.ts'
import type { Sample } from './numbers.ts'
import { startChild } from './child.ts'

/** The options of the command line, and the server that all cases share. */
export type BenchOptions = {
  server: BenchServer
  /** Fewer rows and shorter turns: for a quick look, not for figures. */
  quick: boolean
  rounds: number
  /** Seconds of one turn. */
  seconds: number
  /** A folder for processor profiles of the service. */
  profileDir: string | undefined
  /** The largest history of the growth case; undefined means as large as usual. */
  payments: number | undefined
  /** How long the memory case loads the service. */
  minutes: number
  /** Whether bench/peers is installed. */
  peers: boolean
}

/** Starts the service, or a part of it, on a database; at a port as a sandbox, with the mock bank's pages and every job. */
export function startService(
  bench: BenchOptions,
  { url }: BenchDatabase,
  parts: readonly ('api' | 'worker')[],
  options: { heapFile?: string; allJobs?: boolean; sandboxPort?: number } = {},
): Promise<Child> {
  const { allJobs = false, sandboxPort, ...process } = options
  return startChild(
    'processes/service.ts',
    { url, encryptionKey, parts, allJobs, sandboxPort },
    { profileDir: bench.profileDir, ...process },
  )
}

/** Measures a turn together with its processor time per unit of work, over its whole length. */
export async function withCost(
  bench: BenchOptions,
  child: Child,
  seconds: number,
  turn: () => Promise<Sample>,
): Promise<Sample> {
  const [nodeBefore, postgresBefore] = await Promise.all([child.cpuUs(), bench.server.cpuMs()])
  const begun = performance.now()
  const sample = await turn()
  const elapsed = (performance.now() - begun) / 1000
  const [nodeAfter, postgresAfter] = await Promise.all([child.cpuUs(), bench.server.cpuMs()])
  // The warm-up is part of the cost but not of the rate.
  const units = sample.units ?? sample.rate * Math.max(elapsed, seconds)
  const postgresUs =
    postgresBefore === undefined || postgresAfter === undefined
      ? undefined
      : ((postgresAfter - postgresBefore) * 1000) / units
  return { ...sample, nodeUs: (nodeAfter - nodeBefore) / units, postgresUs }
}
