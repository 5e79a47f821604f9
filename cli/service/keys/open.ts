import type { KeysApp } from '../../../src/keys/reseal.ts'
import { makeSealer } from '../../../src/lib/seal.ts'
import type { Sealer } from '../../../src/lib/seal.ts'
import type { Context } from '../../kit/context.ts'
import { CliError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { runningState } from '../../client/find-service.ts'
import { explained } from '../up/explain.ts'
import { hasKeyIn, noKey, readKeyRing, variablesOf } from '../up/key-file.ts'
import { variableIn } from '../../base/environment-variables.ts'

/** The keys that a command is about, and where they come from. */
export type Keys = {
  source: 'environment' | 'state directory'
  sealer: Sealer
  /** Undefined where no database is named, and none runs here. */
  databaseUrl: string | undefined
}

/**
 * The keys of the environment, else of the state directory, and the database that they belong to.
 * @throws {CliError} CONFIGURATION; NO_KEY where there is neither
 */
export async function keysOf({ io, stateDir }: Context): Promise<Keys> {
  const isEnvironment = hasKeyIn(io.env)
  const ring = isEnvironment ? undefined : readKeyRing(stateDir)
  if (!isEnvironment && ring === undefined) throw noKey(stateDir)
  const { readKeys } = await import('../../../src/config/read.ts')
  const env = ring === undefined ? io.env : { ...io.env, ...variablesOf(ring) }
  const { encryptionKey, encryptionKeysPrevious } = await explained(() => readKeys(env))
  return {
    source: isEnvironment ? 'environment' : 'state directory',
    sealer: makeSealer(encryptionKey, encryptionKeysPrevious),
    databaseUrl: variableIn(io.env, 'SVC_DATABASE_URL') ?? runningState(stateDir)?.database_url,
  }
}

/** Whether the environment says that the keys are of a service in live mode; svc up, with its state directory, has none. */
export function isLiveIn(env: NodeJS.ProcessEnv): boolean {
  return variableIn(env, 'SVC_MODE') === 'live'
}

/** Works with the database that the keys belong to, with nothing else of the service. */
export async function withDatabase<T>(
  { sealer }: Keys,
  databaseUrl: string,
  work: (app: KeysApp) => Promise<T>,
): Promise<T> {
  const [{ makePool }, { requireMigrated }, { describeDatabaseError }, { RUNTIME_ROLE }] = await Promise.all([
    import('../../../src/db/pool.ts'),
    import('../../../src/db/migrate.ts'),
    import('../../../src/db/describe-error.ts'),
    import('../../../src/app.ts'),
  ])
  const describe = (error: unknown): string => describeDatabaseError(error, databaseUrl)
  const target = { databaseUrl, role: RUNTIME_ROLE, applicationName: 'svc keys', size: 1 }
  const pool = await explained(() => requireMigrated({ databaseUrl }).then(() => makePool(target)), { describe })
  try {
    return await work({ pool, sealer })
  } finally {
    await pool.end()
  }
}

/** @throws {CliError} CONFIGURATION, exit code 2 */
export function databaseOf({ databaseUrl }: Keys): string {
  if (databaseUrl !== undefined) return databaseUrl
  throw new CliError('CONFIGURATION', 'no database is named, and none runs here', {
    exit: EXIT.usage,
    hint: 'SVC_DATABASE_URL in the environment, or svc up',
  })
}
