import { CliError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'

/**
 * Tells the failures of starting apart. The system's own messages say what to do, so they are passed on; `describe` puts
 * a database's error into words.
 */
export function explainStart(
  error: unknown,
  options: { port?: number; portHint?: string; describe?: ((error: unknown) => string) | undefined } = {},
): unknown {
  if (error instanceof CliError || !(error instanceof Error)) return error
  const { message } = error
  const cause = error
  const code = 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE' && options.port !== undefined) return portTaken(options.port, options.portHint)
  if (code === 'EACCES' && options.port !== undefined) {
    return new CliError('PORT_REFUSED', `port ${options.port} may not be used by this user`, {
      exit: EXIT.failure,
      hint: options.portHint ?? '--port 8080, or --port 0 for any free one',
      cause,
    })
  }
  switch (error.name) {
    case 'ConfigError':
      return new CliError('CONFIGURATION', message, { exit: EXIT.usage, cause })
    case 'StateDirectoryError':
      return new CliError('STATE_DIRECTORY', message, {
        exit: isTakenError(error) ? EXIT.conflict : EXIT.failure,
        cause,
      })
    case 'NewerDatabaseError':
      return new CliError('DATABASE_NEWER', message, { exit: EXIT.failure, cause })
    case 'ObsoleteDatabaseError':
      return new CliError('DATABASE_OBSOLETE', message, { exit: EXIT.failure, cause })
    case 'UnmigratedDatabaseError':
      return new CliError('DATABASE_NOT_MIGRATED', message, {
        exit: EXIT.failure,
        hint: 'with SVC_MIGRATION_DATABASE_URL naming the owner of the tables: svc migrate up',
        cause,
      })
    case 'MigrationError':
      return new CliError('MIGRATION_REFUSED', message, {
        exit: EXIT.failure,
        hint: 'which are applied: svc migrate status\nwhat else is wrong with the database: svc doctor --only database',
        cause,
      })
    case 'MasterKeyError':
      return new CliError('WRONG_ENCRYPTION_KEY', message, {
        exit: EXIT.failure,
        hint: 'SVC_ENCRYPTION_KEY with the key of the first start; svc up keeps its own in master.key of its state directory',
        cause,
      })
    case 'IdentityUnavailableError':
      return new CliError('IDP_UNAVAILABLE', message, {
        exit: EXIT.network,
        hint: 'SVC_AUTH_URL and SVC_KEYCLOAK_CLIENT_SECRET as examples/keycloak has them, and a Keycloak that answers there',
        retryable: true,
        cause,
      })
    default:
      if (options.describe === undefined) return error
      return new CliError('DATABASE', options.describe(error), { exit: EXIT.failure, cause })
  }
}

function portTaken(port: number, hint?: string): CliError {
  return new CliError('PORT_TAKEN', `port ${port} of 127.0.0.1 is taken by another program`, {
    exit: EXIT.failure,
    hint: hint ?? `svc up --port 0 for any free port, or another one: --port ${port === 65535 ? 8080 : port + 1}`,
  })
}

// SQLite's code for a lock that another process holds (src/db/state-directory.ts).
const SQLITE_BUSY = 5

/** Whether the state directory could not be locked because another process has it. */
export function isTakenError(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'errcode' in cause && cause.errcode === SQLITE_BUSY
}
