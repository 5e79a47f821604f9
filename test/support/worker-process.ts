import { fork } from 'node:child_process'
import { once } from 'node:events'
import { until } from './app.ts'
import type { TestService } from './app.ts'
import { bundled } from './built.ts'

export type WorkerProcess = {
  /** Ends it where it stands. */
  kill(): Promise<void>
  /** Waits until the database knows that its connections are gone. */
  lost(): Promise<void>
}

/**
 * Starts a worker in a process of its own, with all jobs or the named ones, and with these settings besides. It is
 * gone at the test's end.
 */
export async function startWorkerProcess(
  t: { teardown(handler: () => unknown): unknown },
  { app, owner, databaseUrl }: TestService,
  jobs: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<WorkerProcess> {
  const others = `select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
  const before = (await owner.query<{ pid: number }>(others)).rows.map(({ pid }) => pid)
  const child = fork(bundled('job-worker'), jobs, {
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      SVC_DATABASE_URL: databaseUrl,
      SVC_ENCRYPTION_KEY: app.config.encryptionKey,
      SVC_LOG_LEVEL: 'silent',
      SVC_DATABASE_POOL: '2',
      SVC_DATABASE_TIMEOUT_FACTOR: '4',
      SVC_IDENTITY: 'none',
      ...env,
    },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the worker ended before it had started')))
  await Promise.race([once(child, 'message'), ended])
  // Afterwards it is ended on purpose.
  ended.catch(() => undefined)
  return {
    kill: async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
    lost: async () => {
      await until(async () => (await owner.query(`${others} and pid <> all($1)`, [before])).rowCount === 0)
    },
  }
}
