import { parseArgs } from 'node:util'
import { startCluster } from './cluster.ts'
import type { Cluster, ClusterDatabase } from './cluster.ts'
import { printWithoutKeys } from './keys.ts'
import { printFigures } from './figures.ts'
import { printOutcomes } from './outcomes.ts'
import { serviceOn } from './service.ts'

const USAGE = `Usage: node bench/citus/run.ts [options]

The service on Citus: a coordinator and two nodes on this machine, beside the same PostgreSQL without Citus (README.md
in the folder above). Citus must be installed.

  --pg-config <file>  the PostgreSQL to use
  --only <step>       service, outcomes, keys or figures; may be given more than once
  --rounds <n>        rounds of the figures
  --help              show this
`

const STEPS = ['service', 'outcomes', 'keys', 'figures']

const { values } = parseArgs({
  options: {
    'pg-config': { type: 'string', default: 'pg_config' },
    only: { type: 'string', multiple: true, default: STEPS },
    rounds: { type: 'string', default: '7' },
    help: { type: 'boolean', default: false },
  },
})

async function main(): Promise<void> {
  if (values.help) return void process.stdout.write(USAGE)
  const unknown = values.only.find((step) => !STEPS.includes(step))
  if (unknown !== undefined) throw new Error(`unknown step ${unknown} (expected one of ${STEPS.join(', ')})`)
  const stopped = new AbortController()
  let started: Cluster | undefined
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      process.stderr.write(`${signal}: stopping the servers\n`)
      stopped.abort(new Error(`stopped by ${signal}`))
      // What waits for a server fails then, and the rest of this run ends on its own.
      void started?.stop().catch((error: unknown) => process.stderr.write(`${String(error)}\n`))
    })
  const cluster = (started = await startCluster(values['pg-config']))
  const rounds = Number(values.rounds)
  const does = (step: string): boolean => values.only.includes(step)
  try {
    stopped.signal.throwIfAborted()
    process.stdout.write(`${cluster.version}\n`)
    if (does('service') && !(await runService(await cluster.database('service', 'citus'), stopped.signal)))
      process.exitCode = 1
    if (does('outcomes')) await printOutcomes((await cluster.database('outcomes', 'citus')).owner)
    if (does('keys'))
      await printWithoutKeys(await cluster.database('keys', 'citus'), await cluster.database('keys', 'plain'), rounds)
    if (does('figures')) {
      const database = await cluster.database('figures', 'citus')
      await database.moveBanks()
      const plain = await cluster.database('figures', 'plain')
      await printFigures(
        [
          { name: 'without', database: plain },
          { name: 'with', database },
        ],
        rounds,
      )
    }
  } finally {
    await cluster.stop()
  }
}

/** With every table on the coordinator; then the records of banks, with what is in them, go to a node: whether all passed. */
async function runService(database: ClusterDatabase, signal: AbortSignal): Promise<boolean> {
  const service = serviceOn(database, signal)
  try {
    const before = await service.print('The service, every table on the coordinator')
    await database.moveBanks()
    const after = await service.print('The service, the records of banks on a Citus node')
    return before && after
  } finally {
    await service.remove()
  }
}

await main()
