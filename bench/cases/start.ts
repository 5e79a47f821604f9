import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BenchOptions } from '../support/context.ts'
import { ROOT, builtLauncher } from '../support/launcher.ts'
import { median } from '../support/numbers.ts'
import { printTable } from '../support/report.ts'
import type { RatioTarget } from '../support/report.ts'

const RECORDER = join(ROOT, 'test', 'support', 'loaded-packages.js')

/** The most expensive packages, loaded only by the commands that need them. */
const HEAVY = ['zod', 'undici', 'yaml', 'string-width', 'ink', 'react']

type Start = {
  what: string
  words: readonly string[]
  /** The upper bound, as a multiple of a Node.js that does nothing; undefined without a target. */
  most?: number
  /** Its exit code, where it is not 0. */
  code?: number
}

const STARTS: readonly Start[] = [
  { what: 'svc --help', words: ['--help'], most: 2.3 },
  { what: 'completion', words: ['__complete', 'bash', 'payments', 'list', '--st'], most: 2.3 },
  { what: 'svc help all', words: ['help', 'all'] },
  { what: 'svc --version', words: ['--version'], most: 3 },
  { what: 'svc help exit-codes', words: ['help', 'exit-codes'], most: 3 },
  { what: 'svc help payments create', words: ['help', 'payments', 'create'], most: 3 },
  { what: 'svc payments --help', words: ['payments', '--help'], most: 3 },
  { what: 'svc run --help', words: ['run', '--help'], most: 3 },
  { what: 'svc payments', words: ['payments'], most: 3, code: 2 },
  { what: 'svc paymnts list', words: ['paymnts', 'list'], most: 2.6, code: 2 },
  { what: 'svc payments lst', words: ['payments', 'lst'], most: 2.6, code: 2 },
  { what: 'svc completion bash', words: ['completion', 'bash'], most: 3 },
  { what: 'svc docs', words: ['docs'], most: 3 },
]

/** How long the command line and the service take to start. Needs `npm run build`. */
export async function benchStart({ quick }: Pick<BenchOptions, 'quick'>): Promise<RatioTarget[]> {
  const launcher = builtLauncher()
  return [...startsOfCommands(launcher, quick ? 5 : 20), await startOfService(launcher, quick ? 2 : 5)]
}

/** Commands beside a Node.js that does nothing, in turns. */
function startsOfCommands(launcher: string, rounds: number): RatioTarget[] {
  const bare: number[] = []
  const starts = STARTS.map((start) => ({ ...start, took: [] as number[] }))
  for (let round = 0; round < rounds; round += 1) {
    bare.push(timeOf(['-e', '0']))
    for (const { words, took, code } of starts) took.push(timeOf([launcher, ...words], code))
  }
  printTable('Starts of the command line', [
    ['', 'ms, median', 'x bare', 'loads'],
    ['node -e 0', median(bare).toFixed(0), '1.00', ''],
    ...starts.map(({ what, words, took }) => [
      what,
      median(took).toFixed(0),
      ratioOf(took, bare).toFixed(2),
      loadedBy([launcher, ...words]).join(', '),
    ]),
  ])
  return starts.flatMap(({ what, took, most }) =>
    most === undefined ? [] : [{ what: `start, ${what} : bare node`, ratio: ratioOf(took, bare), most }],
  )
}

/** From `svc up` to the first answer of the API, with the embedded PostgreSQL and a database that exists. */
async function startOfService(launcher: string, rounds: number): Promise<RatioTarget> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-up-'))
  const svc = (...words: string[]) =>
    spawnSync(process.execPath, [launcher, ...words, '--state-dir', folder], { encoding: 'utf8', env: cleanEnv() })
  const seconds: number[] = []
  try {
    for (let round = 0; round <= rounds; round += 1) {
      const begun = performance.now()
      const { status, stdout, stderr } = svc('up', '--port', '0', '--detach', '--json')
      if (status !== 0) throw new Error(`svc up: ${stderr}`)
      const { ok } = await fetch(new URL('/readyz', apiUrlOf(stdout)))
      if (!ok) throw new Error('the service is not ready')
      // The first start makes the database.
      if (round > 0) seconds.push((performance.now() - begun) / 1_000)
      svc('down')
    }
  } finally {
    svc('down')
    rmSync(folder, { recursive: true, force: true })
  }
  return { what: 'svc up, existing database, to the first answer', ratio: median(seconds), most: 3, unit: ' s' }
}

function apiUrlOf(json: string): string {
  const { api_url: url }: { api_url: string } = JSON.parse(json)
  return url
}

function ratioOf(took: readonly number[], bare: readonly number[]): number {
  return median(took.map((ms, round) => ms / (bare[round] ?? Number.NaN)))
}

function timeOf(args: readonly string[], code = 0): number {
  const begin = performance.now()
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env: cleanEnv() })
  if (status !== code) throw new Error(`${args.join(' ')}: ${stderr}`)
  return performance.now() - begin
}

/** Which of the heavy packages a command loads. */
function loadedBy(args: readonly string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-start-'))
  const file = join(folder, 'loaded')
  try {
    spawnSync(process.execPath, ['--import', RECORDER, ...args], {
      env: { ...cleanEnv(), SVC_LOADED_FILE: file },
    })
    const loaded = readFileSync(file, 'utf8').split('\n')
    return HEAVY.filter((name) => loaded.includes(name))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function cleanEnv(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'] }
}
