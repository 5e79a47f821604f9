import { CliError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'

/** Where the failure may be: the port that was asked for, and what puts the database's error into words. */
type Where = { port?: number; portHint?: string; describe?: ((error: unknown) => string) | undefined }

/** Does a part of a start; the system's own errors come out as those of a command. @throws {CliError} */
export async function explained<T>(work: () => T | Promise<T>, where: Where = {}): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw explainStart(error, where)
  }
}

/** The system's errors by their names: their own messages say what to do, so they are passed on. */
const KNOWN: Readonly<Record<string, readonly [code: string, hint?: string]>> = {
  ConfigError: ['CONFIGURATION'],
  WrongHostError: ['CONFIGURATION', 'set SVC_HOST to 127.0.0.1, or to 0.0.0.0 for all networks, or leave it unset'],
  StateDirectoryError: ['STATE_DIRECTORY'],
  NewerDatabaseError: ['DATABASE_NEWER'],
  ObsoleteDatabaseError: ['DATABASE_OBSOLETE'],
  UnmigratedDatabaseError: [
    'DATABASE_NOT_MIGRATED',
    'with SVC_MIGRATION_DATABASE_URL naming the owner of the tables: svc migrate up',
  ],
  MigrationError: [
    'MIGRATION_REFUSED',
    'which are applied: svc migrate status\nwhat else is wrong with the database: svc doctor --only database',
  ],
  DatabaseModeError: [
    'WRONG_MODE',
    'SVC_MODE as the database has it, or another database: SVC_DATABASE_URL. A sandbox does not become live: live payments begin in an empty one',
  ],
  MasterKeyError: [
    'WRONG_ENCRYPTION_KEY',
    'SVC_ENCRYPTION_KEY with the key of the first start; svc up keeps its own in master.key of its state directory',
  ],
  DumpError: ['DUMP_NOT_RESTORED'],
  RolesMissingError: ['ROLES_MISSING'],
  IdentityUnavailableError: [
    'IDP_UNAVAILABLE',
    'SVC_AUTH_URL and SVC_KEYCLOAK_CLIENT_SECRET as examples/keycloak has them, and a Keycloak that answers there',
  ],
}

export function explainStart(error: unknown, { port, portHint, describe }: Where = {}): unknown {
  if (error instanceof CliError || !(error instanceof Error)) return error
  const code = 'code' in error ? error.code : undefined
  if (port !== undefined && code === 'EADDRINUSE')
    return new CliError('PORT_TAKEN', `port ${port} of 127.0.0.1 is taken by another program`, {
      hint: portHint ?? `svc up --port 0 for any free port, or another one: --port ${port === 65535 ? 8080 : port + 1}`,
    })
  if (port !== undefined && code === 'EACCES')
    return new CliError('PORT_REFUSED', `port ${port} may not be used by this user`, {
      hint: portHint ?? '--port 8080, or --port 0 for any free one',
      cause: error,
    })
  const [known, hint] = KNOWN[error.name] ?? []
  if (known === undefined)
    return describe === undefined ? error : new CliError('DATABASE', describe(error), { cause: error })
  const taken = isTakenError(error) ? { exit: EXIT.conflict } : {}
  return new CliError(known, error.message, { ...taken, hint, retryable: known === 'IDP_UNAVAILABLE', cause: error })
}

/** As `explainStart`, where the database may have gone away meanwhile: a supervisor's next start may find it. */
export async function explainLost(error: unknown, databaseUrl: string, where: Where = {}): Promise<unknown> {
  const [{ isDatabaseUnavailable }, { describeDatabaseError }] = await Promise.all([
    import('../../../src/db/is-database-unavailable.ts'),
    import('../../../src/db/describe-error.ts'),
  ])
  if (!isDatabaseUnavailable(error)) return explainStart(error, where)
  return explainStart(error, { ...where, describe: (lost) => describeDatabaseError(lost, databaseUrl) })
}

// SQLite's code for a lock that another process holds (src/db/state-directory.ts).
const SQLITE_BUSY = 5

/** Whether the state directory could not be locked because another process has it. */
export function isTakenError(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'errcode' in cause && cause.errcode === SQLITE_BUSY
}
