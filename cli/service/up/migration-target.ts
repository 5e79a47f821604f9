import { readFileSync } from 'node:fs'
import { CliError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { runningState } from '../../client/find-service.ts'

export type MigrationTarget = { databaseUrl: string; describe(error: unknown): string }

/**
 * The database to migrate. Only its address is asked of the environment, so that a migration job needs none of the
 * service's secrets; without one it is the database of the service that runs here.
 */
export async function migrationTarget(env: NodeJS.ProcessEnv, stateDir: string): Promise<MigrationTarget> {
  const { describeDatabaseError } = await import('../../../src/db/describe-error.ts')
  const databaseUrl =
    valueOf(env, 'SVC_MIGRATION_DATABASE_URL') ??
    valueOf(env, 'SVC_DATABASE_URL') ??
    runningState(stateDir)?.database_url
  if (databaseUrl === undefined) {
    throw new CliError('CONFIGURATION', 'no database is named', {
      exit: EXIT.usage,
      hint: 'SVC_MIGRATION_DATABASE_URL or SVC_DATABASE_URL in the environment, or svc up, which migrates by itself',
    })
  }
  return { databaseUrl, describe: (error) => describeDatabaseError(error, databaseUrl) }
}

/** A variable, or what the file holds that its `_FILE` twin names. */
export function valueOf(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = env[name]
  if (value !== undefined && value !== '') return value
  const file = env[`${name}_FILE`]
  if (file === undefined || file === '') return undefined
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    throw new CliError('CONFIGURATION', `${name}_FILE: can't read ${file}`, { exit: EXIT.usage, cause })
  }
}
