import type { App, AppOverrides } from '../../../src/app.ts'
import { messageOf } from '../../base/errors.ts'
import { onStopSignals } from '../../base/signals.ts'
import { explainLost, explained } from './explain.ts'

type OpenAppOptions = Pick<AppOverrides, 'applicationName'>

type Part = { what: string; stop(): Promise<void> }

/**
 * Runs one part of the system from the environment alone, as production does, until a signal asks it to stop.
 * @throws {CliError} before anything runs when the database's migrations are not those of this version, its mode is the
 *   other one, or its secrets were sealed under another key
 */
export async function runPart(
  env: NodeJS.ProcessEnv,
  note: (line: string) => void,
  start: (app: App) => Promise<Part>,
  options: OpenAppOptions = {},
): Promise<void> {
  const { promise: stopAsked, resolve: askStop } = Promise.withResolvers<void>()
  const release = onStopSignals(() => askStop())
  const teardown = makeTeardown(note)
  try {
    const { app, port } = await openApp(env, options)
    teardown.add('The connections', () => app.close())
    const where = { port, portHint: 'another SVC_PORT' }
    const part = await startOf(app, start).catch(async (error: unknown) => {
      throw await explainLost(error, app.config.databaseUrl, where)
    })
    teardown.add('This part', part.stop)
    note(part.what)
    await stopAsked
  } finally {
    await teardown.run()
    release()
  }
}

/**
 * Lends the app that the environment describes to a piece of work, and closes it afterwards.
 * @throws {CliError} as `runPart`
 */
export async function withApp<T>(env: NodeJS.ProcessEnv, work: (app: App) => Promise<T>): Promise<T> {
  const { app } = await openApp(env)
  try {
    await checkDatabase(app, { isStart: false }).catch(async (error: unknown) => {
      throw await explainLost(error, app.config.databaseUrl)
    })
    return await work(app)
  } finally {
    await app.close()
  }
}

async function startOf(app: App, start: (app: App) => Promise<Part>): Promise<Part> {
  await checkDatabase(app, { isStart: true })
  return start(app)
}

/** @param isStart whether a database without a mode gets that of this process: what only does a task decides nothing */
async function checkDatabase(app: App, { isStart }: { isStart: boolean }): Promise<void> {
  const [{ checkMasterKey }, { requireDatabaseMode }] = await Promise.all([
    import('../../../src/keys/check-master-key.ts'),
    import('../../../src/db/database-mode-sql.ts'),
  ])
  await checkMasterKey(app)
  await requireDatabaseMode(app.pool, { mode: app.config.mode, isStart })
}

/** The app of a database whose migrations are this version's, as the environment says. */
export async function openApp(
  env: NodeJS.ProcessEnv,
  options: OpenAppOptions = {},
): Promise<{ app: App; port: number }> {
  const [{ readConfig }, { makeApp }, { requireMigrated }, { describeDatabaseError }] = await Promise.all([
    import('../../../src/config/read.ts'),
    import('../../../src/app.ts'),
    import('../../../src/db/migrate.ts'),
    import('../../../src/db/describe-error.ts'),
  ])
  const config = await explained(() => readConfig(env))
  const describe = (error: unknown): string => describeDatabaseError(error, config.databaseUrl)
  const open = (): Promise<App> =>
    requireMigrated({ databaseUrl: config.databaseUrl }).then(() => makeApp(config, options))
  const app = await explained(open, { describe })
  return { app, port: config.port }
}

export type Teardown = {
  add(name: string, stop: () => Promise<void> | void): void
  /** Stops everything once; a part that fails to stop does not keep the others running. */
  run(): Promise<void>
}

export function makeTeardown(note: (line: string) => void): Teardown {
  const steps: { name: string; stop: () => Promise<void> | void }[] = []
  let running: Promise<void> | undefined
  async function stopAll(): Promise<void> {
    for (const { name, stop } of steps.toReversed()) {
      try {
        await stop()
      } catch (error) {
        note(`${name} did not stop as it should: ${messageOf(error)}`)
      }
    }
  }
  return {
    add: (name, stop) => void steps.push({ name, stop }),
    run: () => (running ??= stopAll()),
  }
}
