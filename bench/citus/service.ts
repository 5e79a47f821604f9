import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT, builtLauncher } from '../support/launcher.ts'
import { printTable } from '../support/report.ts'
import type { ClusterDatabase } from './cluster.ts'

const BANK_SCENARIO = fileURLToPath(new URL('bank.yaml', import.meta.url))
const WAIT_MS = 900_000

export type Service = {
  /** Starts it, runs scenarios and then what verifies the data, prints what came of it, and stops it: whether all passed. */
  print(title: string): Promise<boolean>
  remove(): Promise<void>
}

type Ended = { status: number; stdout: string; stderr: string }

/** The built service on a database, API and worker, with a bank beside it. What runs ends when the signal is aborted. */
export function serviceOn({ url }: Pick<ClusterDatabase, 'url'>, signal: AbortSignal): Service {
  const folder = mkdtempSync(join(tmpdir(), 'svc-citus-up-'))
  const env = {
    SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    // All of the scenarios, the one about the caps of mandates too.
    SVC_VRP_CAPS: 'enforce',
  }
  const svc = (words: readonly string[], options: { signal?: AbortSignal }): Promise<Ended> =>
    runSvc([...words, '--state-dir', folder], { env, ...options })
  const rowOf = async ({ what, words }: (typeof CHECKS)[number]): Promise<string[]> => {
    process.stderr.write(`  ${what}\n`)
    const { status, stdout } = await svc(words, { signal })
    const said = stdout.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('    '))
    return [what, status === 0 ? PASSES : `exit code ${status}`, said.at(-1) ?? '']
  }
  return {
    print: async (title) => {
      const up = ['up', '--db', url, '--bank', 'model', '--port', '0', '--detach', '--json']
      const { status, stderr } = await svc(up, { signal })
      if (status !== 0) throw new Error(`svc up: ${stderr}`)
      const rows: string[][] = []
      for (const check of CHECKS) rows.push(await rowOf(check))
      await svc(['down'], { signal })
      printTable(title, [['', 'result', 'its last line'], ...rows])
      return rows.every(([, result]) => result === PASSES)
    },
    remove: async () => {
      await svc(['down'], {})
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const PASSES = 'passes'

type Options = { env: Record<string, string>; signal?: AbortSignal }

/** Runs a command of the built service to its end. */
function runSvc(words: readonly string[], { env, signal }: Options): Promise<Ended> {
  const options = { env: { PATH: process.env['PATH'], ...env }, timeout: WAIT_MS, maxBuffer: 64 * 2 ** 20, signal }
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [builtLauncher(), ...words], options, (error, stdout, stderr) => {
      if (error?.name === 'AbortError') reject(error)
      else resolve({ status: error === null ? 0 : Number(error.code ?? -1), stdout, stderr })
    })
  })
}

const TAP = ['--timeout', '300s', '--reporter', 'tap']
const CHECKS = [
  { what: 'happy path', words: ['run', 'happy-path', ...TAP] },
  { what: 'at a bank', words: ['run', BANK_SCENARIO, ...TAP] },
  { what: 'every built-in scenario', words: ['run', join(ROOT, 'examples', 'scenarios'), ...TAP] },
  { what: 'svc verify', words: ['verify'] },
  { what: 'svc audit verify', words: ['audit', 'verify', '-o', 'id'] },
]

/** What svc verify says of a database, in its last line. */
export async function verifyOn({ url }: Pick<ClusterDatabase, 'url'>): Promise<string> {
  const { status, stdout, stderr } = await runSvc(['verify'], { env: { SVC_DATABASE_URL: url } })
  return status === 0 ? 'runs' : `${stdout}${stderr}`.trim().split('\n').slice(-2).join(' ')
}
