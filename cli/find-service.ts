import { configDirOf } from './auth/config-dir.ts'
import { DEV, readProjectConfig, readUserConfig } from './auth/profiles.ts'
import type { Profile } from './auth/profiles.ts'
import { CliError, usageError } from './errors.ts'
import { EXIT } from './exit-codes.ts'
import { checkedUrl } from './service-address.ts'
import { isRunning, readServiceState, serviceFile, stateDirOf } from './service-state.ts'
import type { ServiceState } from './service-state.ts'

export type FoundService = {
  /** Without a slash at the end. */
  apiUrl: string
  /** The profile to act as; undefined where none is meant, or the built-in one. */
  profile: { name: string; settings: Profile } | undefined
  /** The running service of the state directory, where that is the one found. */
  state: ServiceState | undefined
  /** The realm that the project works in. */
  projectRealm: string | undefined
}

export type FindOptions = {
  flags: {
    apiUrl?: string | undefined
    clientId?: string | undefined
    profile?: string | undefined
    stateDir?: string | undefined
    as?: string | undefined
    customer?: string | undefined
  }
  env: NodeJS.ProcessEnv
  cwd: string
}

/**
 * Finds the service that a command talks to, and the profile it acts as: flag, then environment, then the project's
 * file, then the user's, then the svc.json of the state directory. A profile, and the file's merchant, are used only for
 * the service that they belong to: another one, which a project's file may name, never gets to see what proves them.
 * @throws {CliError} NOT_RUNNING when nothing names a service
 */
export function findService({ flags, env, cwd }: FindOptions): FoundService {
  const stateDir = stateDirOf({ flag: flags.stateDir, env, cwd })
  const running = runningState(stateDir)
  const project = readProjectConfig(cwd)
  const { profile, isExplicit } = chosenProfile({ flags, env, cwd }, project.profile)
  const named = flags.apiUrl ?? (env['SVC_API_URL'] || undefined)
  const ofProfile = profile?.settings.api_url
  const ofExplicit = isExplicit ? (ofProfile ?? running?.api_url) : undefined
  const ofProject = isExplicit ? undefined : project.api_url
  const text = named ?? ofExplicit ?? ofProject ?? ofProfile ?? running?.api_url
  if (text === undefined) throw notRunning(stateDir)
  const apiUrl = checkedUrl(text, flags.apiUrl === undefined ? 'SVC_API_URL' : '--api-url')
  const isOfProfile = profile !== undefined && checkedUrl(profile.settings.api_url, profile.name) === apiUrl
  if (isExplicit && profile !== undefined && !isOfProfile)
    throw usageError(
      `the profile ${profile.name} is of ${profile.settings.api_url}, and not of ${apiUrl}`,
      'one of the two: the address or the profile',
    )
  return {
    apiUrl,
    profile: isOfProfile ? profile : undefined,
    state: running?.api_url === apiUrl ? running : undefined,
    projectRealm: project.realm,
  }
}

/** The profile that flag, environment, project or user choose; the built-in one is none of theirs. */
function chosenProfile(
  { flags, env }: FindOptions,
  ofProject: string | undefined,
): { profile: FoundService['profile']; isExplicit: boolean } {
  const explicit = flags.profile ?? (env['SVC_PROFILE'] || undefined)
  const config = readUserConfig(configDirOf(env))
  const name = explicit ?? ofProject ?? config.profile ?? DEV
  const isExplicit = explicit !== undefined
  if (name === DEV) return { profile: undefined, isExplicit }
  const settings = config.profiles[name]
  if (settings === undefined) throw unknownProfile(name)
  return { profile: { name, settings }, isExplicit }
}

export function unknownProfile(name: string): CliError {
  return usageError(`there is no profile "${name}"`, 'svc profile list; a new one is svc login --profile <name>')
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
