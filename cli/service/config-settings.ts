import { configDirOf } from '../client/auth/config-dir.ts'
import { PROJECT_FILE } from '../client/auth/config-settings.ts'
import { configFile, readProjectConfig, readUserConfig } from '../client/auth/profiles.ts'
import type { Context } from '../kit/context.ts'
import { VARIABLES } from '../base/environment-variables.ts'
import { CliError } from '../base/errors.ts'
import { findService } from '../client/find-service.ts'
import type { Io } from '../base/io.ts'
import { masked } from './config-masked.ts'

/** A variable with what it holds, `null` for nothing, and who said so: a flag, a file, `environment`, `default` or `not set`. */
export type Setting = { name: string; value: string | null; source: string; meaning: string }

/** What a command goes by: a flag, else the environment, which the configuration files stand below. */
export function ownSettings(context: Context): Setting[] {
  const { io, flags } = context
  const ofFlags: Readonly<Record<string, { flag: string; value: string | undefined }>> = {
    SVC_PROFILE: { flag: '--profile', value: flags.profile },
    SVC_CLIENT_ID: { flag: '--client-id', value: flags.clientId },
    SVC_STATE_DIR: { flag: '--state-dir', value: flags.stateDir },
  }
  const rest = VARIABLES.filter(({ name }) => name !== 'SVC_API_URL').map(({ name, meaning }): Setting => {
    const { flag = '', value } = ofFlags[name] ?? {}
    if (value !== undefined) return { name, value: masked(name, value), source: flag, meaning }
    const set = fromEnvironment(io, { name, meaning, unset: unsetOf(context, name) })
    return isSet(set) ? set : { ...set, ...ofFile(context, name) }
  })
  return [serviceSetting(context), ...rest]
}

/** Of what nothing says, and nothing needs to. */
const NOT_SET = 'not set'

/** Whether somebody has said it. */
export function isSet({ source }: Setting): boolean {
  return source !== 'default' && source !== NOT_SET
}

function unsetOf({ io, stateDir }: Context, name: string): string | undefined {
  if (name === 'SVC_STATE_DIR') return stateDir
  if (name === 'SVC_CONFIG_DIR') return configDirOf(io.env)
  return { SVC_OUTPUT: 'table', SVC_TIMEOUT: '15s' }[name]
}

/** What the configuration files say without it being a variable of the environment. */
function ofFile({ io }: Context, name: string): Pick<Setting, 'value' | 'source'> | undefined {
  const project = readProjectConfig(io.cwd)
  if (name === 'SVC_REALM' && project.realm !== undefined) return { value: project.realm, source: PROJECT_FILE }
  if (name !== 'SVC_PROFILE') return undefined
  if (project.profile !== undefined) return { value: project.profile, source: PROJECT_FILE }
  const configDir = configDirOf(io.env)
  const { profile } = readUserConfig(configDir)
  return profile === undefined ? undefined : { value: profile, source: configFile(configDir) }
}

/** A variable with the file that set it, where it was none of the environment's own. */
export function fromEnvironment(
  { env, origins }: Pick<Io, 'env' | 'origins'>,
  { name, meaning, unset }: { name: string; meaning: string; unset: string | undefined },
): Setting {
  const value = env[name] ?? ''
  if (value !== '') return { name, value: masked(name, value), source: origins?.get(name) ?? 'environment', meaning }
  const file = env[`${name}_FILE`] ?? ''
  if (file !== '') return { name, value: `the file ${file}`, source: `${name}_FILE`, meaning }
  if (unset === undefined) return { name, value: null, source: NOT_SET, meaning }
  return { name, value: masked(name, unset), source: 'default', meaning }
}

/** Which service commands ask, and what says so. */
function serviceSetting(context: Context): Setting {
  const { flags, io } = context
  const setting = { name: 'SVC_API_URL', meaning: 'the service, as --api-url' }
  try {
    const found = findService({ flags, env: io.env, cwd: io.cwd })
    return { ...setting, value: masked('SVC_API_URL', found.apiUrl), source: serviceSource(context, found) }
  } catch (error) {
    // Nothing names one, which is a setting too.
    if (error instanceof CliError && error.code === 'NOT_RUNNING') return { ...setting, value: null, source: NOT_SET }
    throw error
  }
}

/** What named the service, in the order in which it is looked for. */
function serviceSource({ io, flags, stateDir }: Context, { profile, state }: ReturnType<typeof findService>): string {
  if (flags.apiUrl !== undefined) return '--api-url'
  if ((io.env['SVC_API_URL'] ?? '') !== '') return io.origins?.get('SVC_API_URL') ?? 'environment'
  const isExplicit = flags.profile !== undefined || (io.env['SVC_PROFILE'] ?? '') !== ''
  if (!isExplicit && readProjectConfig(io.cwd).api_url !== undefined) return PROJECT_FILE
  if (profile !== undefined) return `profile ${profile.name}`
  const configDir = configDirOf(io.env)
  if (!isExplicit && readUserConfig(configDir).api_url !== undefined) return configFile(configDir)
  return state === undefined ? 'default' : `the service of ${stateDir}`
}
