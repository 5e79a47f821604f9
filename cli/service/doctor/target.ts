import type { Config } from '../../../src/config/config.ts'
import { isSetIn, variableIn } from '../../base/environment-variables.ts'
import { CliError } from '../../base/errors.ts'
import type { Client } from '../../client/call.ts'
import { findService, runningState } from '../../client/find-service.ts'
import type { FoundService } from '../../client/find-service.ts'
import type { Context } from '../../kit/context.ts'
import { openApp } from '../up/part.ts'
import { reasonOf, within } from './check.ts'
import { subjectInProcess, subjectOverHttp } from './subject.ts'
import type { Subject } from './subject.ts'

/** What is examined, and how much of it can be seen from here. */
export type DoctorTarget = {
  context: Context
  /** How it was found: by a name or profile, by the state directory, by the environment of svc serve, or not at all. */
  by: 'name' | 'state directory' | 'environment' | 'nothing'
  /** Where it answers, as far as it is known. */
  url: string | undefined
  /** The profile that names it; undefined for the built-in one. */
  profile: FoundService['profile']
  /** What the environment configures, where that is what is examined; or what is wrong with it. */
  config: Config | undefined
  configProblem: string | undefined
  /** Undefined where its database can't be reached from here. */
  databaseUrl: string | undefined
  /** The login that migrates, where it is another one. */
  migrationUrl: string | undefined
  /** The identity in use. @throws where there is no service, or nobody is signed in */
  client(): Client
  /** Asked or opened once. @throws where it does not answer, or its database does not */
  subject(): Promise<Subject>
  close(): Promise<void>
}

type Found = Omit<DoctorTarget, 'client' | 'subject' | 'close'>

const CLOSE_MS = 1_500

/**
 * Finds the service of a flag, SVC_API_URL or a profile, that of the state directory, else what the environment
 * configures, as svc serve reads it.
 * @throws {CliError} exit code 2 for a name that is not valid
 */
export async function resolveTarget(context: Context): Promise<DoctorTarget> {
  const found = await find(context)
  const { url, by } = found
  const client = (): Client => {
    if (by === 'environment' || by === 'nothing') throw new Error('no service to sign in to')
    return context.client()
  }
  let opened: ReturnType<typeof openApp> | undefined
  const open = async (): Promise<Subject> => {
    if (by === 'environment' && found.config !== undefined) {
      opened = openApp({ ...context.io.env, SVC_LOG_LEVEL: 'silent' })
      return subjectInProcess((await opened).app)
    }
    if (by === 'environment' || url === undefined) throw new Error('there is no service to ask')
    return subjectOverHttp(context, url, client)
  }
  let subject: Promise<Subject> | undefined
  return {
    ...found,
    client,
    subject: () => (subject ??= open()),
    close: async () => {
      // One that opens after its time is closed as well; nobody waits for it.
      const closing = opened?.then(({ app }) => app.close())
      if (closing !== undefined) await within(closing, CLOSE_MS).catch(() => undefined)
    },
  }
}

async function find(context: Context): Promise<Found> {
  const { io, flags, stateDir } = context
  const isNamed = [flags.apiUrl, io.env['SVC_API_URL'], flags.profile, io.env['SVC_PROFILE']].some(
    (name) => (name ?? '') !== '',
  )
  const nothing = { config: undefined, configProblem: undefined, databaseUrl: undefined, migrationUrl: undefined }
  const isConfigured = ['SVC_DATABASE_URL', 'SVC_ENCRYPTION_KEY'].some((name) => isSetIn(io.env, name))
  if (isNamed || !isConfigured || runningState(stateDir) !== undefined) {
    const found = whereRunning(context)
    if (found === undefined) return { ...nothing, context, by: 'nothing', url: undefined, profile: undefined }
    const { apiUrl: url, profile, state } = found
    const by = state === undefined ? 'name' : 'state directory'
    return { ...nothing, context, by, url, profile, databaseUrl: state?.database_url }
  }
  const configured = await configOf(io.env)
  const { config } = configured
  return {
    ...configured,
    context,
    by: 'environment',
    url: config === undefined ? undefined : (config.publicUrl ?? localAddress(config)),
    profile: undefined,
    // Checked also where the rest of the configuration is incomplete.
    databaseUrl: config?.databaseUrl ?? optional(() => variableIn(io.env, 'SVC_DATABASE_URL')),
    migrationUrl: optional(() => variableIn(io.env, 'SVC_MIGRATION_DATABASE_URL')),
  }
}

function whereRunning({ io, flags }: Context): FoundService | undefined {
  try {
    return findService({ flags, env: io.env, cwd: io.cwd })
  } catch (error) {
    if (error instanceof CliError && error.code === 'NOT_RUNNING') return undefined
    throw error
  }
}

/** What is wrong with it is reported by the check of the configuration. */
function optional<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
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
