import type { App } from '../../../src/app.ts'
import { explainStart } from './explain.ts'
import { onStopSignals } from '../../base/signals.ts'
import { makeTeardown } from './teardown.ts'

type Part = { what: string; stop(): Promise<void> }

/**
 * Runs one part of the system from the environment alone, as production does, until a signal asks it to stop.
 * @throws {CliError} before anything runs when the database's migrations are not those of this version, or its secrets
 *   were sealed under another key
 */
export async function runPart(
  env: NodeJS.ProcessEnv,
  note: (line: string) => void,
  start: (app: App) => Promise<Part>,
): Promise<void> {
  const { promise: stopAsked, resolve: askStop } = Promise.withResolvers<void>()
  const release = onStopSignals(() => askStop())
  const teardown = makeTeardown(note)
  try {
    const { checkMasterKey } = await import('../../../src/keys/check-master-key.ts')
    const { app, port } = await openApp(env)
    teardown.add('The connections', () => app.close())
    await checkMasterKey(app).catch((error: unknown) => Promise.reject(explainStart(error)))
    const part = await start(app).catch((error: unknown) =>
      Promise.reject(explainStart(error, { port, portHint: 'another SVC_PORT' })),
    )
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
  const { checkMasterKey } = await import('../../../src/keys/check-master-key.ts')
  const { app } = await openApp(env)
  try {
    await checkMasterKey(app).catch((error: unknown) => Promise.reject(explainStart(error)))
    return await work(app)
  } finally {
    await app.close()
  }
}

/** The app of a database whose migrations are this version's, as the environment says. */
export async function openApp(env: NodeJS.ProcessEnv): Promise<{ app: App; port: number }> {
  const [{ readConfig }, { makeApp }, { requireMigrated }, { describeDatabaseError }] = await Promise.all([
    import('../../../src/config/read.ts'),
    import('../../../src/app.ts'),
    import('../../../src/db/migrate.ts'),
    import('../../../src/db/describe-error.ts'),
  ])
  const config = configOrExplain(() => readConfig(env))
  const describe = (error: unknown): string => describeDatabaseError(error, config.databaseUrl)
  const opened = requireMigrated({ databaseUrl: config.databaseUrl }).then(() => makeApp(config))
  const app = await opened.catch((error: unknown) => Promise.reject(explainStart(error, { describe })))
  return { app, port: config.port }
}

function configOrExplain<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw explainStart(error)
  }
}
