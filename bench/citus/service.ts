import { spawnSync } from 'node:child_process'
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
  /** Starts it, runs scenarios and then what verifies the data, prints what came of it, and stops it. */
  print(title: string): void
  remove(): void
}

/** The built service on a database, API and worker, with a bank beside it. */
export function serviceOn({ url }: Pick<ClusterDatabase, 'url'>): Service {
  const launcher = builtLauncher()
  const folder = mkdtempSync(join(tmpdir(), 'svc-citus-up-'))
  const env = {
    PATH: process.env['PATH'],
    SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    // All of the scenarios, the one about the caps of mandates too.
    SVC_VRP_CAPS: 'enforce',
  }
  const svc = (...words: string[]) =>
    spawnSync(process.execPath, [launcher, ...words, '--state-dir', folder], {
      encoding: 'utf8',
      env,
      timeout: WAIT_MS,
    })
  const answerOf = (words: readonly string[]): string[] => {
    const { status, stdout } = svc(...words)
    const said = stdout.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('    '))
    return [status === 0 ? 'passes' : `exit code ${status}`, said.at(-1) ?? '']
  }
  return {
    print: (title) => {
      const { status, stderr } = svc('up', '--db', url, '--bank', 'model', '--port', '0', '--detach', '--json')
      if (status !== 0) throw new Error(`svc up: ${stderr}`)
      const rows = CHECKS.map(({ what, words }) => {
        process.stderr.write(`  ${what}\n`)
        return [what, ...answerOf(words)]
      })
      svc('down')
      printTable(title, [['', 'result', 'its last line'], ...rows])
    },
    remove: () => {
      svc('down')
      rmSync(folder, { recursive: true, force: true })
    },
  }
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
export function verifyOn({ url }: Pick<ClusterDatabase, 'url'>): string {
  const env = { PATH: process.env['PATH'], SVC_DATABASE_URL: url }
  const { status, stdout, stderr } = spawnSync(process.execPath, [builtLauncher(), 'verify'], { encoding: 'utf8', env })
  return status === 0 ? 'runs' : `${stdout}${stderr}`.trim().split('\n').slice(-2).join(' ')
}
