import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { configDirOf } from './auth/config-dir.ts'
import { DEV, namedProfile, readUserConfig } from './auth/profiles.ts'
import type { Profile } from './auth/profiles.ts'
import { CliError, usageError } from '../base/errors.ts'
import { checkedUrl, isOnThisMachine, isSameService } from '../base/service-address.ts'
import { isRunning, readServiceState, serviceFile, stateDirOf } from './service-state.ts'
import type { ServiceState } from './service-state.ts'

export type FoundService = {
  /** Without a slash at the end. */
  apiUrl: string
  /** The profile to act as; undefined where none is meant, or the built-in one. */
  profile: { name: string; settings: Profile } | undefined
  /** The running service of the state directory, where that is the one found. */
  state: ServiceState | undefined
}

export type FindOptions = {
  flags: {
    apiUrl?: string | undefined
    clientId?: string | undefined
    profile?: string | undefined
    stateDir?: string | undefined
    customer?: string | undefined
  }
  env: NodeJS.ProcessEnv
  cwd: string
}

/**
 * Finds the service that a command talks to, and the profile it acts as: flag, then environment, then the user's
 * file, then the svc.json of the state directory. A profile, and the file's merchant, are used only for the service that
 * they belong to: another one never gets to see what proves them.
 * @throws {CliError} NOT_RUNNING when nothing names a service; exit code 2 for one that is not the user's
 */
export function findService({ flags, env, cwd }: FindOptions): FoundService {
  const stateDir = stateDirOf({ flag: flags.stateDir, env, cwd })
  const running = runningState(stateDir)
  refuseOldFile(cwd)
  const { profile, isExplicit, userUrl } = chosenProfile({ flags, env })
  const named = flags.apiUrl ?? (env['SVC_API_URL'] || undefined)
  const ofProfile = profile?.settings.api_url
  const ofExplicit = isExplicit ? (ofProfile ?? running?.api_url) : undefined
  const text = named ?? ofExplicit ?? ofProfile ?? (isExplicit ? undefined : userUrl) ?? running?.api_url
  if (text === undefined) throw notRunning(stateDir)
  const given = checkedUrl(text, flags.apiUrl === undefined ? 'SVC_API_URL' : '--api-url')
  const apiUrl = knownAs(given, profile?.settings.api_url, running?.api_url)
  if (named === undefined && !isOnThisMachine(apiUrl) && !isOwn(apiUrl, env)) throw namedByFolder(apiUrl)
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
  }
}

/** The same; undefined where nothing names a service. */
export function findServiceIfAny(options: FindOptions): FoundService | undefined {
  try {
    return findService(options)
  } catch (error) {
    if (error instanceof CliError && error.code === 'NOT_RUNNING') return undefined
    throw error
  }
}

/**
 * The address as the profile or the running service has it, where it is the same but for how it names this machine: what
 * proves the caller was kept for that address, and goes to no other.
 */
function knownAs(given: string, ...known: readonly (string | undefined)[]): string {
  const urls = known.flatMap((url) => (url === undefined ? [] : [url.replace(/\/+$/, '')]))
  if (urls.includes(given)) return given
  return urls.find((url) => isSameService(url, given)) ?? given
}

/** A working folder may be anybody's, such as a clone: it chooses among the services of this machine and of the user. */
function namedByFolder(apiUrl: string): CliError {
  return usageError(
    `${apiUrl} is named by this folder's .svc alone`,
    `if it is the service you mean: --api-url ${apiUrl}, or SVC_API_URL\nfor good: svc profile create <name> --api-url ${apiUrl} --realm <realm>`,
  )
}

/** A folder has configured commands; what it said has to be said elsewhere, and is not passed over. */
function refuseOldFile(cwd: string): void {
  if (existsSync(join(cwd, '.svc', 'config.yaml')))
    throw usageError(
      '.svc/config.yaml: the working folder configures nothing any more',
      'its settings as SVC_ variables in a file: --env svc.env\nor in your own config.yaml: svc help environment',
    )
}

function isOwn(apiUrl: string, env: NodeJS.ProcessEnv): boolean {
  const { api_url: url, profiles } = readUserConfig(configDirOf(env))
  return [url, ...Object.values(profiles).map((profile) => profile.api_url)].some(
    (own) => own?.replace(/\/+$/, '') === apiUrl,
  )
}

/** The profile that flag, environment or user choose; the built-in one is none of theirs. */
function chosenProfile({ flags, env }: Pick<FindOptions, 'flags' | 'env'>): {
  profile: FoundService['profile']
  isExplicit: boolean
  userUrl: string | undefined
} {
  const explicit = namedProfile({ flags, env })
  const config = readUserConfig(configDirOf(env))
  const name = explicit ?? config.profile ?? DEV
  const isExplicit = explicit !== undefined
  const common = { isExplicit, userUrl: config.api_url }
  if (name === DEV) return { ...common, profile: undefined }
  const settings = config.profiles[name]
  if (settings === undefined) throw unknownProfile(name)
  return { ...common, profile: { name, settings } }
}

/** A flag or a setting that names none is wrong, exit code 2; a command about a profile that is not there finds none, 6. */
export function unknownProfile(name: string, isSubject = false): CliError {
  const hint = 'svc profile list\na new one: svc login --profile <name>'
  if (!isSubject) return usageError(`profile not found: ${name}`, hint)
  return new CliError('NO_SUCH_PROFILE', `profile not found: ${name}`, { hint })
}

/** The service of this state directory while its process lives; the file of a dead one counts for nothing. */
export function runningState(stateDir: string): ServiceState | undefined {
  const state = readServiceState(stateDir)
  return state !== undefined && isRunning(state.pid) ? state : undefined
}

export function notRunning(stateDir: string): CliError {
  return new CliError('NOT_RUNNING', `no service is running here (looked for ${serviceFile(stateDir)})`, {
    hint: 'svc up\none elsewhere: --api-url <url>, or SVC_API_URL',
    retryable: true,
  })
}
