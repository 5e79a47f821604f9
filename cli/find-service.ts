import { CliError, usageError } from './errors.ts'
import { EXIT } from './exit-codes.ts'
import { isRunning, readServiceState, serviceFile, stateDirOf } from './service-state.ts'
import type { ServiceState } from './service-state.ts'

export type FoundService = {
  /** Without a slash at the end. */
  apiUrl: string
  /** The merchant to act for; undefined when nothing names one. */
  clientId: string | undefined
}

export type FindOptions = {
  flags: { apiUrl?: string | undefined; clientId?: string | undefined; stateDir?: string | undefined }
  env: NodeJS.ProcessEnv
  cwd: string
}

/**
 * Finds the service that a command talks to, and the merchant it acts for: flag, then environment, then the svc.json of
 * the state directory. The file's merchant is used only for the service that the file is about.
 * @throws {CliError} NOT_RUNNING when nothing names a service
 */
export function findService({ flags, env, cwd }: FindOptions): FoundService {
  const stateDir = stateDirOf({ flag: flags.stateDir, env, cwd })
  const state = runningState(stateDir)
  const named = flags.apiUrl ?? (env['SVC_API_URL'] || undefined)
  if (named === undefined && state === undefined) throw notRunning(stateDir)
  const apiUrl = checkedUrl(named ?? state?.api_url ?? '', flags.apiUrl === undefined ? 'SVC_API_URL' : '--api-url')
  const ofState = state?.api_url === apiUrl ? state.merchant.client_id : undefined
  return { apiUrl, clientId: flags.clientId ?? (env['SVC_CLIENT_ID'] || ofState) }
}

/** The service of this state directory while its process lives; the file of a dead one counts for nothing. */
export function runningState(stateDir: string): ServiceState | undefined {
  const state = readServiceState(stateDir)
  return state !== undefined && isRunning(state.pid) ? state : undefined
}

export function notRunning(stateDir: string): CliError {
  return new CliError('NOT_RUNNING', `no service is running here (looked for ${serviceFile(stateDir)})`, {
    exit: EXIT.network,
    hint: 'svc up, or name one with --api-url or SVC_API_URL',
    retryable: true,
  })
}

function checkedUrl(text: string, source: string): string {
  const isUsable = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
  if (!isUsable)
    throw usageError(
      `${source}: "${text}" is no http address`,
      `${source === '--api-url' ? '--api-url ' : 'SVC_API_URL='}http://127.0.0.1:8080`,
    )
  return text.replace(/\/+$/, '')
}
