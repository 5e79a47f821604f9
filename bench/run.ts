import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { benchBank } from './cases/bank.ts'
import { benchClaim } from './cases/claim.ts'
import { benchClose } from './cases/close.ts'
import { benchComplete } from './cases/complete.ts'
import { benchConsole } from './cases/console.ts'
import { benchCreate } from './cases/create.ts'
import { benchDeliver } from './cases/deliver.ts'
import { benchFirstPaint } from './cases/first-paint.ts'
import { benchGrowth } from './cases/growth.ts'
import { benchLatency } from './cases/latency.ts'
import { benchMemory } from './cases/memory.ts'
import { benchPayer } from './cases/payer.ts'
import { benchRead } from './cases/read.ts'
import { benchReconcile } from './cases/reconcile.ts'
import { benchScope } from './cases/scope.ts'
import { benchSettle } from './cases/settle.ts'
import { benchSize } from './cases/size.ts'
import { benchStart } from './cases/start.ts'
import { benchStatement } from './cases/statement.ts'
import type { BenchOptions } from './support/context.ts'
import { startBenchServer } from './support/database.ts'
import { printTargets } from './support/report.ts'
import type { RatioTarget } from './support/report.ts'

const USAGE = `Usage: npm run bench -- [options]

Compares the service with PostgreSQL's own limit and with the conventional libraries, in turns within one run, and prints
ratios (README.md in this folder explains how to read them).

  --quick            fewer rows and shorter turns: a quick look in about two minutes, not for figures
  --only <case>      create, read, deliver, claim, complete, settle, close, reconcile, statement, scope, growth, latency,
                     memory, first-paint, payer, start, console, bank or size; may be given more than once
  --payments <n>     the most payments of the growth case; 10 000 000 take 35 GB for a time
  --minutes <n>      how long the memory case loads the service; 2 if omitted
  --rounds <n>       rounds, each with one turn of every contender
  --seconds <n>      length of a turn
  --profile <dir>    write processor profiles of the service to this folder
  --no-peers         skip the comparisons that need packages in bench/peers
  --help             show this
`

const CASES: Readonly<Record<string, (bench: BenchOptions) => Promise<RatioTarget[]>>> = {
  create: benchCreate,
  read: benchRead,
  deliver: benchDeliver,
  claim: benchClaim,
  complete: benchComplete,
  settle: benchSettle,
  close: benchClose,
  reconcile: benchReconcile,
  statement: benchStatement,
  scope: benchScope,
  growth: benchGrowth,
  latency: benchLatency,
  memory: benchMemory,
  'first-paint': benchFirstPaint,
  payer: benchPayer,
  start: benchStart,
  console: benchConsole,
  bank: benchBank,
  size: benchSize,
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      profile: { type: 'string' },
      payments: { type: 'string' },
      minutes: { type: 'string', default: '2' },
      peers: { type: 'boolean', default: true },
      help: { type: 'boolean', default: false },
    },
    allowNegative: true,
  })
  if (values.help) return void process.stdout.write(USAGE)
  const names = values.only.length === 0 ? Object.keys(CASES) : values.only
  const unknown = names.find((name) => CASES[name] === undefined)
  if (unknown !== undefined)
    throw new Error(`unknown case ${unknown} (expected one of ${Object.keys(CASES).join(', ')})`)
  const peers = values.peers && installPeers()
  const server = await startBenchServer()
  try {
    const bench: BenchOptions = {
      server,
      quick: values.quick,
      rounds: Number(values.rounds ?? (values.quick ? 1 : 5)),
      seconds: Number(values.seconds ?? (values.quick ? 2 : 6)),
      profileDir: values.profile,
      payments: values.payments === undefined ? undefined : Number(values.payments),
      minutes: values.quick ? 0.5 : Number(values.minutes),
      peers,
    }
    process.stdout.write(
      `Node ${process.versions.node}, ${availableParallelism()} processors, ${bench.rounds} round(s) of ${bench.seconds} s\n`,
    )
    const targets: RatioTarget[] = []
    for (const name of names) {
      process.stderr.write(`\n${name}\n`)
      targets.push(...((await CASES[name]?.(bench)) ?? []))
    }
    printTargets(targets)
  } finally {
    await server.stop()
  }
}

/** Installs what the service is compared with, the first time. Without a registry the service is measured alone. */
function installPeers(): boolean {
  const folder = new URL('peers/', import.meta.url)
  if (existsSync(new URL('node_modules/', folder))) return true
  process.stderr.write('Installing fastify, graphile-worker and pg-boss into bench/peers, for this benchmark only.\n')
  const { status } = spawnSync('npm', ['ci'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  if (status === 0) return true
  process.stderr.write('Installation failed: the service is measured without them.\n')
  return false
}

await main()
