import { spawn } from 'node:child_process'
import { chownSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PostgresBinaries, ServerUser } from './postgres-files.ts'

const initTimeoutMs = 60_000

const run = (command: string, parameters: readonly string[], user: ServerUser): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const child = spawn(command, parameters, {
    ...user,
    cwd: '/',
    // As the server: Ctrl+C in a terminal reaches only svc, which stops once the data is complete.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' },
    timeout: initTimeoutMs,
  })
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.once('error', reject)
  child.once('close', (code) => {
    if (code === 0) return resolve()
    const space = output.includes('No space left')
      ? ' The disk is full: free some space, or choose another --state-dir.'
      : ''
    reject(
      new Error(`PostgreSQL's data could not be created: ${output.trim().split('\n').slice(-5).join(' | ')}.${space}`),
    )
  })
  return promise
}

/** Throws for data of another major version, which this server could not read. */
export const requireSameMajor = (dataDirectory: string, version: string): void => {
  const data = readFileSync(join(dataDirectory, 'PG_VERSION'), 'utf8').trim()
  const major = version.split('.')[0]
  if (data === major) return
  throw new Error(
    `The data in ${dataDirectory} was made by PostgreSQL ${data}, and this svc brings PostgreSQL ${major}. ` +
      'Start it once more with the svc that made it and dump it with pg_dump, then choose another --state-dir and restore it there.',
  )
}

/**
 * Creates a cluster with initdb: UTF-8, the same sorting on every machine, scram-sha-256 for every login.
 * It is created under another name and renamed when complete, so that a start which is killed half-way leaves
 * nothing that looks like data.
 */
export const createCluster = async (options: {
  binaries: PostgresBinaries
  user: ServerUser
  dataDirectory: string
  password: string
  owner: string
  /** Whether to flush everything to the disk; only throw-away data goes without. */
  sync: boolean
}): Promise<void> => {
  const { user, dataDirectory } = options
  const draft = `${dataDirectory}.new`
  const passwordFile = join(draft, 'password')
  const cluster = join(draft, 'cluster')
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { mode: 0o700 })
  try {
    writeFileSync(passwordFile, options.password, { mode: 0o600 })
    if (user !== undefined) for (const path of [passwordFile, draft]) chownSync(path, user.uid, user.gid)
    const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C']
    const login = [`--username=${options.owner}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256']
    // Write-ahead log in files of 4 MB rather than 16, for a small footprint.
    const size = ['--wal-segsize=4', ...(options.sync ? [] : ['--no-sync'])]
    await run(options.binaries.initdb, ['-D', cluster, ...login, ...locale, ...size], user)
    renameSync(cluster, dataDirectory)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}
