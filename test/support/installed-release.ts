import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot, packageVersion } from '../../src/lib/package-root.ts'
import { until } from './until.ts'

/** The version of the next minor release. */
export function nextVersion(): string {
  const [major = 0, minor = 0] = packageVersion().split('.').map(Number)
  return `${major}.${minor + 1}.0`
}

/** Copies the migrations as the next release has them: another column and table, and a function with another text. */
export function copyNextMigrations(folder: string): string {
  cpSync(join(packageRoot(), 'migrations'), folder, { recursive: true })
  writeFileSync(
    join(folder, '9000_next.sql'),
    'alter table payment_intents add column next_note text; create table next_things (id uuid primary key);',
  )
  const file = join(folder, 'functions', 'move_payments.sql')
  writeFileSync(file, `${readFileSync(file, 'utf8')}\n-- of the next release\n`)
  return folder
}

/** Copies this build as the next release: a version and migrations of its own. Its packages are this checkout's. */
export function installNextRelease(folder: string): string {
  const root = packageRoot()
  mkdirSync(folder, { recursive: true })
  for (const part of ['bin', 'dist']) cpSync(join(root, part), join(folder, part), { recursive: true })
  const manifest = readFileSync(join(root, 'package.json'), 'utf8')
  writeFileSync(join(folder, 'package.json'), manifest.replace(`"${packageVersion()}"`, `"${nextVersion()}"`))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  copyNextMigrations(join(folder, 'migrations'))
  return folder
}

/** One `svc serve` or `svc worker`, from the release in `root`, that has become ready. */
export type Part = {
  /** Ends it as a rolling update does, and waits. @throws if it did not end with 0 */
  stop(): Promise<void>
  kill(): void
}

type PartSettings = { root: string; words: readonly string[]; env: Record<string, string>; observePort: number }

/** Starts a part and waits until its probe port says that it is ready. */
export async function startPart({ root, words, env, observePort }: PartSettings): Promise<Part> {
  // Tap puts itself into the options of Node.js.
  const child = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, join(root, 'bin', 'svc.js'), ...words], {
    env: { PATH: process.env['PATH'], ...env, SVC_OBSERVE_PORT: String(observePort) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk) => (said = `${said}${String(chunk)}`.slice(-2_000)))
  const ended = once(child, 'exit')
  await until('the part is ready', async () => {
    if (child.exitCode !== null) throw new Error(`svc ${words.join(' ')} ended: ${said}`)
    return isReady(observePort)
  })
  return {
    stop: async () => {
      child.kill('SIGTERM')
      const [code, signal] = (await ended) as [number | null, string | null]
      if (code !== 0) throw new Error(`svc ${words.join(' ')} ended with ${code ?? signal}: ${said}`)
    },
    kill: () => void child.kill('SIGKILL'),
  }
}

/** Whether the process with this probe port wants requests, as a load balancer asks it. */
export async function isReady(observePort: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${observePort}/readyz`).then(
    async (answer) => {
      await answer.body?.cancel()
      return answer.status === 200
    },
    () => false,
  )
}
