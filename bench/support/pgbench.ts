import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Sample } from './numbers.ts'
import { startChild } from './child.ts'

const PGBENCH = '/usr/bin/pgbench'
const run = promisify(execFile)

export type Limit = {
  url: string
  /** One statement without a semicolon. `:n`, where `variable` is given, is a random whole number up to its `max`. */
  statement: string
  max?: number
  /** Connections; PostgreSQL is at its best with eight to sixteen. */
  clients: number
}

/** How often PostgreSQL runs a statement per second: by pgbench where it is installed, else by a loop of our own. */
export async function measureLimit(limit: Limit, seconds: number): Promise<Sample> {
  return existsSync(PGBENCH) ? byPgbench(limit, seconds) : byLoop(limit, seconds)
}

async function byPgbench({ url, statement, max, clients }: Limit, seconds: number): Promise<Sample> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-pgbench-'))
  const file = join(folder, 'script.sql')
  const variable = max === undefined ? '' : `\\set n random(1, ${max})\n`
  await writeFile(file, `${variable}${statement.replaceAll('\n', ' ')};\n`)
  try {
    const { hostname, port, username, password, pathname } = new URL(url)
    const { stdout } = await run(
      PGBENCH,
      [
        '-n',
        '-M',
        'prepared',
        '-c',
        String(clients),
        '-j',
        '1',
        '-T',
        String(seconds),
        '-f',
        file,
        '-h',
        hostname,
        '-p',
        port,
        '-U',
        username,
        pathname.slice(1),
      ],
      { env: { ...process.env, PGPASSWORD: decodeURIComponent(password) } },
    )
    const rate = Number(/tps = ([\d.]+)/.exec(stdout)?.[1])
    if (Number.isNaN(rate)) throw new Error(`pgbench reported no rate: ${stdout}`)
    return { rate }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A process of its own, so that the loop has a processor to itself as pgbench would. */
async function byLoop(limit: Limit, seconds: number): Promise<Sample> {
  const loop = await startChild('processes/statement-loop.ts', { ...limit })
  const { rate } = await loop.ask({ name: 'run', seconds }, 'ran')
  await loop.stop()
  return { rate: Number(rate) }
}
