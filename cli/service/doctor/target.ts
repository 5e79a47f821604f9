import type { Config } from '../../../src/config/config.ts'
import type { Client } from '../../client/call.ts'
import type { Context } from '../../kit/context.ts'
import { CliError } from '../../base/errors.ts'
import { findService, runningState } from '../../client/find-service.ts'
import type { FoundService } from '../../client/find-service.ts'
import type { ServiceState } from '../../client/service-state.ts'
import { isSetIn, variableIn } from '../../base/environment-variables.ts'
import { configFilesProblem, areCredentialsOpen } from './machine.ts'
import { reasonOf } from './check.ts'

/** What is looked over, and how much of it can be seen from here. */
export type DoctorTarget = {
  context: Context
  /** How it was found: by a name or profile, by the state directory, by the environment of svc serve, or not at all. */
  by: 'name' | 'state directory' | 'environment' | 'nothing'
  /** Where it answers, as far as it is known. */
  url: string | undefined
  /** The running service of the state directory, where that is the one. */
  state: ServiceState | undefined
  /** The profile that names it; undefined for the built-in one. */
  profile: FoundService['profile']
  /** What the environment configures, where it configures a service; and what is wrong with it. */
  config: Config | undefined
  configProblem: string | undefined
  /** Undefined where its database can't be reached from here. */
  databaseUrl: string | undefined
  /** The login that migrates, where it is another one. */
  migrationUrl: string | undefined
  /**
   * As who commands act there. What signs people in is left alone where others can read it: it would be closed to them.
   * @throws where there is nobody to be, or no service
   */
  client(): Client
}

/** All but the one to act as. */
type Found = Omit<DoctorTarget, 'client'>

/**
 * Finds whom to look at: what a flag, SVC_API_URL or a profile names, the service of the state directory, else what the
 * environment configures, as svc serve reads it.
 * @throws {CliError} exit code 2 for a name that can be none
 */
export async function resolveTarget(context: Context): Promise<DoctorTarget> {
  const found = await find(context)
  const isOpen = areCredentialsOpen(context.io.env)
  const client = (): Client => {
    if (found.by === 'environment' || found.by === 'nothing') throw new Error('there is no service to act at')
    if (isOpen) throw new Error('others can read what signs you in: see file permissions')
    return context.client()
  }
  return { ...found, client }
}

async function find(context: Context): Promise<Found> {
  const { io, stateDir } = context
  const isEnvironment = !isNamed(context) && runningState(stateDir) === undefined && configuresAny(io.env)
  const found = isEnvironment ? undefined : whereRunning(context)
  if (found !== undefined) return ofService(context, found)
  const nothing = { context, by: 'nothing', state: undefined, profile: undefined, url: undefined } as const
  if (!isEnvironment) return { ...nothing, ...NO_DATABASE, config: undefined, configProblem: undefined }
  const configured = await configOf(io.env)
  const { config } = configured
  return {
    ...nothing,
    ...configured,
    by: 'environment',
    url: config === undefined ? undefined : (config.publicUrl ?? localAddress(config)),
    ...databaseOf(io.env, config),
  }
}

function isNamed({ io: { env }, flags }: Context): boolean {
  const names = [flags.apiUrl, env['SVC_API_URL'], flags.profile, env['SVC_PROFILE']]
  return names.some((name) => (name ?? '') !== '')
}

const CONFIGURED = ['SVC_DATABASE_URL', 'SVC_ENCRYPTION_KEY']

/** Whether the environment was meant for a service at all. */
function configuresAny(env: NodeJS.ProcessEnv): boolean {
  return CONFIGURED.some((name) => isSetIn(env, name))
}

/** With a configuration file that can't be read, which is a finding of its own, it is the state directory's alone. */
function whereRunning({
  io,
  flags,
  stateDir,
}: Context): Pick<FoundService, 'apiUrl' | 'state' | 'profile'> | undefined {
  try {
    return findService({ flags, env: io.env, cwd: io.cwd })
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    if (error.code === 'NOT_RUNNING') return undefined
    if (configFilesProblem(io) === undefined) throw error
    const state = runningState(stateDir)
    return state === undefined ? undefined : { apiUrl: state.api_url, state, profile: undefined }
  }
}

const NO_DATABASE = { databaseUrl: undefined, migrationUrl: undefined }

/** A service that was named has the database of the environment, where that names one. */
async function ofService(
  context: Context,
  { apiUrl, state, profile }: Pick<FoundService, 'apiUrl' | 'state' | 'profile'>,
): Promise<Found> {
  const { env } = context.io
  const base = { context, url: apiUrl, state, profile, by: state === undefined ? 'name' : 'state directory' } as const
  if (state !== undefined)
    return {
      ...base,
      config: undefined,
      configProblem: undefined,
      databaseUrl: state.database_url,
      migrationUrl: undefined,
    }
  if (!configuresAny(env)) return { ...base, ...NO_DATABASE, config: undefined, configProblem: undefined }
  const configured = await configOf(env)
  return { ...base, ...configured, ...databaseOf(env, configured.config) }
}

/** The database is looked at also where the rest of the configuration is not whole. */
function databaseOf(
  env: NodeJS.ProcessEnv,
  config: Config | undefined,
): Pick<DoctorTarget, 'databaseUrl' | 'migrationUrl'> {
  const migrationUrl = optional(() => variableIn(env, 'SVC_MIGRATION_DATABASE_URL'))
  return { databaseUrl: config?.databaseUrl ?? optional(() => variableIn(env, 'SVC_DATABASE_URL')), migrationUrl }
}

function optional<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    // What is wrong with it is told by the check of the configuration.
    return undefined
  }
}

async function configOf(env: NodeJS.ProcessEnv): Promise<Pick<DoctorTarget, 'config' | 'configProblem'>> {
  const { readConfig } = await import('../../../src/config/read.ts')
  try {
    return { config: readConfig(env), configProblem: undefined }
  } catch (error) {
    const text = error instanceof Error ? error.message : reasonOf(error)
    return { config: undefined, configProblem: text.replaceAll(/\n\s*/g, ' ') }
  }
}

function localAddress({ host, port }: Config): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
