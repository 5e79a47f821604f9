import type { DatabasePool } from 'slonik'
import { variableIn } from '../base/environment-variables.ts'
import { CliError } from '../base/errors.ts'
import { runningState } from '../client/find-service.ts'
import type { Context } from '../kit/context.ts'
import { explained } from './up/explain.ts'

/**
 * Works with one connection to a migrated database, in the role of the service.
 * @throws {CliError} where it is not reached, or not migrated
 */
export async function withPool<T>(
  { databaseUrl, applicationName }: { databaseUrl: string; applicationName: string },
  work: (pool: DatabasePool) => Promise<T>,
): Promise<T> {
  const [{ makePool }, { requireMigrated }, { describeDatabaseError }, { RUNTIME_ROLE }] = await Promise.all([
    import('../../src/db/pool.ts'),
    import('../../src/db/migrate.ts'),
    import('../../src/db/describe-error.ts'),
    import('../../src/app.ts'),
  ])
  const describe = (error: unknown): string => describeDatabaseError(error, databaseUrl)
  const target = { databaseUrl, role: RUNTIME_ROLE, applicationName, size: 1 }
  const pool = await explained(() => requireMigrated({ databaseUrl }).then(() => makePool(target)), { describe })
  try {
    return await work(pool)
  } finally {
    await pool.end()
  }
}

/** The database of the environment, or of the service that runs here. @throws {CliError} CONFIGURATION, exit code 2 */
export function databaseOf({ io, stateDir }: Context): string {
  const databaseUrl = variableIn(io.env, 'SVC_DATABASE_URL') ?? runningState(stateDir)?.database_url
  if (databaseUrl !== undefined) return databaseUrl
  throw new CliError('CONFIGURATION', 'no database is named, and none runs here', {
    hint: 'SVC_DATABASE_URL in the environment, or svc up',
  })
}
