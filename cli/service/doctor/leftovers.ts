import { accessSync, constants, existsSync } from 'node:fs'
import { isRunning, readServiceState, serviceFile } from '../../client/service-state.ts'
import { finding, ok, skipped } from './check.ts'
import type { Check } from './check.ts'
import type { DoctorTarget } from './target.ts'

/** Whether the file of the running service is of a process that runs. */
export function checkProcess(stateDir: string): Check {
  const check = 'process'
  const file = serviceFile(stateDir)
  if (!existsSync(file)) return skipped(check, `no service of ${stateDir} is running`)
  accessSync(file, constants.R_OK)
  const state = readServiceState(stateDir)
  if (state === undefined) return finding(check, `${file} is damaged: no command finds its service by it`, 'svc down')
  if (isRunning(state.pid)) return ok(check, `the service of ${stateDir} is process ${state.pid}`)
  return finding(check, `${file} is of process ${state.pid}, which has ended without cleaning up`, 'svc down')
}

/** Whether the server that svc up brings runs exactly when its service does. */
export async function checkEmbedded({ context: { stateDir }, state }: DoctorTarget): Promise<Check> {
  const check = 'embedded database'
  const [{ readServerState }, { findServer, isReady }] = await Promise.all([
    import('../../../src/db/state-directory.ts'),
    import('../../../src/db/postmaster.ts'),
  ])
  const server = readServerState(stateDir)
  if (server === null) return skipped(check, 'this state directory has none')
  const pid = findServer(server.dataDirectory)
  const owner = state ?? readServiceState(stateDir)
  if (owner !== undefined && isRunning(owner.pid)) {
    if (!isOf(owner.database_url, server.port)) return ok(check, 'the service uses another one')
    if (pid === null)
      return finding(check, 'its server has ended, and the service still runs', 'svc down && svc up --detach')
    if (!isReady(server.dataDirectory, pid))
      return finding(check, `its server, process ${pid}, takes no connections`, 'svc down && svc up --detach')
    return ok(check, `process ${pid}`)
  }
  if (pid === null) return ok(check, 'it is stopped, as its service is')
  return finding(check, `its server, process ${pid}, still runs, and its service does not`, 'svc down')
}

function isOf(databaseUrl: string, port: number | null): boolean {
  return port !== null && URL.canParse(databaseUrl) && new URL(databaseUrl).port === String(port)
}
