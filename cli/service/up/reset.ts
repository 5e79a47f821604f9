import { existsSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { CliError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { serviceFile } from '../../client/service-state.ts'
import { stopService } from './down.ts'

/** What a reset takes away: the folder of the database, and the files that say how to reach it. */
export type ResetPlan = { stateDir: string; dataDirectory: string }

/**
 * What there is to reset in a state directory.
 * @throws {CliError} NO_SANDBOX_DATA, exit code 6, where svc keeps no database of its own there: one from outside may be
 *   somebody's, and is none of ours to empty; FOREIGN_DATA, exit code 2, where its file names a folder that is not its own
 */
export async function planReset(stateDir: string): Promise<ResetPlan> {
  const { readServerState } = await import('../../../src/db/state-directory.ts')
  const server = existsSync(stateDir) ? readServerState(stateDir) : null
  if (server !== null) {
    const { isDataDirectoryOf } = await import('../../../src/db/embedded.ts')
    // The file that names it may be anybody's, and a database elsewhere is somebody's.
    if (isDataDirectoryOf(realpathSync(stateDir), server.dataDirectory))
      return { stateDir, dataDirectory: server.dataDirectory }
    throw new CliError('FOREIGN_DATA', `${stateDir} names a database elsewhere, which is not taken away`, {
      exit: EXIT.usage,
      hint: `another --state-dir; the folder is named in ${join(stateDir, 'postgres.json')}`,
    })
  }
  throw new CliError('NO_SANDBOX_DATA', `svc keeps no database of its own in ${stateDir}`, {
    exit: EXIT.notFound,
    hint: 'another --state-dir; a database from outside is emptied where it came from',
  })
}

/** Stops the service where it runs, and takes its data away; keys and the port stay. Returns whether one ran. */
export async function resetSandbox(plan: ResetPlan, note: (line: string) => void): Promise<boolean> {
  const { stateDir, dataDirectory } = plan
  const { pid } = await stopService(stateDir, note)
  const { lockStateDirectory } = await import('../../../src/db/state-directory.ts')
  const unlock = lockStateDirectory(stateDir)
  try {
    // Only what is a database's folder is taken away, whatever a file says.
    if (existsSync(join(dataDirectory, 'PG_VERSION'))) rmSync(dataDirectory, { recursive: true, force: true })
    rmSync(join(stateDir, 'postgres.json'), { force: true })
    rmSync(serviceFile(stateDir), { force: true })
  } finally {
    unlock()
  }
  return pid !== null
}
