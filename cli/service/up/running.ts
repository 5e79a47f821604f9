import { existsSync } from 'node:fs'
import { CliError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { runningState } from '../../client/find-service.ts'
import { isTakenError } from './explain.ts'

/**
 * Whether a process holds the state directory. The operating system's lock says so for certain, where a process id in a
 * file may belong to another program by now.
 */
export async function isTaken(stateDir: string): Promise<boolean> {
  if (!existsSync(stateDir)) return false
  const { lockStateDirectory } = await import('../../../src/db/state-directory.ts')
  try {
    lockStateDirectory(stateDir)()
    return false
  } catch (error) {
    if (isTakenError(error)) return true
    throw error
  }
}

/**
 * Refuses to start beside a service of the same directory, and says how to reach and how to stop it.
 * @throws {CliError} ALREADY_RUNNING, exit code 7
 */
export async function refuseIfTaken(stateDir: string): Promise<void> {
  if (!(await isTaken(stateDir))) return
  const state = runningState(stateDir)
  if (state === undefined) {
    throw new CliError('STATE_DIRECTORY_TAKEN', `another svc is starting or stopping in ${stateDir}`, {
      exit: EXIT.conflict,
      hint: 'in a moment: svc status\nor another --state-dir',
      retryable: true,
    })
  }
  throw new CliError(
    'ALREADY_RUNNING',
    `svc is running already in ${stateDir}: process ${state.pid}, ${state.api_url}`,
    {
      exit: EXIT.conflict,
      hint: 'to stop it: svc down\nto look at it: svc status\nto run a second one beside it: another --state-dir',
    },
  )
}
