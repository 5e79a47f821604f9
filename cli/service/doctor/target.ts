import type { Config } from '../../../src/config/config.ts'
import { isSetIn, variableIn } from '../../base/environment-variables.ts'
import { call } from '../../client/call.ts'
import { findServiceIfAny, runningState } from '../../client/find-service.ts'
import type { FoundService } from '../../client/find-service.ts'
import type { Context } from '../../kit/context.ts'
import { openApp } from '../up/part.ts'
import type { BankSetup } from './banks.ts'
import { reasonOf, within } from './check.ts'
import type { App } from '../../../src/app.ts'
import { listBankConnections } from '../../../src/wire/bank-connections.ts'
import { getOverview } from '../../../src/wire/console.ts'
import { listRegistrations } from '../../../src/wire/registration.ts'
import { getService } from '../../../src/wire/service.ts'
import type { ServiceInfo } from '../../../src/wire/service.ts'
import { listStaff } from '../../../src/wire/staff.ts'
import type { ListedStaffMember } from '../../../src/wire/staff.ts'
import { listOutbox } from '../../../src/wire/webhooks.ts'
import type { BackupVerification } from '../../../src/verify/backup-verification-sql.ts'
import { messageOf } from '../../base/errors.ts'
import { noCredentials } from '../../client/auth/credentials.ts'
import { probe } from '../probe.ts'

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
  /** Asked or opened once. @throws where it does not answer, or its database does not */
  subject(): Promise<Subject>
  close(): Promise<void>
}

type Found = Omit<DoctorTarget, 'subject' | 'close'>

const CLOSE_MS = 1_500

/**
 * Finds the service of a flag, SVC_API_URL or a profile, that of the state directory, else what the environment
 * configures, as svc serve reads it.
 * @throws {CliError} exit code 2 for a name that is not valid
 */
export async function resolveTarget(context: Context): Promise<DoctorTarget> {
  const found = await find(context)
  const { url, by } = found
  let opened: ReturnType<typeof openApp> | undefined
  const open = async (): Promise<Subject> => {
    if (by === 'environment' && found.config !== undefined) {
      opened = openApp({ ...context.io.env, SVC_LOG_LEVEL: 'silent' })
      return subjectInProcess((await opened).app)
    }
    if (by === 'environment' || url === undefined) throw new Error('there is no service to ask')
    return subjectOverHttp(context, url)
  }
  let subject: Promise<Subject> | undefined
  return {
    ...found,
    subject: () => (subject ??= open()),
    close: async () => {
      // One that opens after its time is closed as well, without waiting for it.
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
    const found = findServiceIfAny({ flags, env: io.env, cwd: io.cwd })
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

type Registration = { slug: string; problems: string[] }
type StaffMember = Pick<ListedStaffMember, 'email' | 'role' | 'second_factor'>
type DeadDelivery = { realm_slug: string | null; merchant_id: string; last_http_status: number | null }

/** What a service says of itself: over HTTP where it runs, by its own code where the environment configures one. */
export type Subject = {
  identity: ServiceInfo['identity']
  mode: Config['mode']
  /** Where realms are, as configured; null without a provider. */
  authUrl: string | null
  publicUrl: string
  isRunning: boolean
  /** A client whose tokens show the provider's clock; null where none is known. */
  client: { realm: string; clientId: string; clientSecret: string } | null
  /** What is wrong with the provider's health, the service's rights there among it; null where nothing is. */
  identityProblem(): Promise<string | null>
  /** How long the oldest job that is due has waited. */
  workerLagMs(): Promise<number>
  deadDeliveries(): Promise<readonly DeadDelivery[]>
  registrations(): Promise<readonly Registration[]>
  bankSetup(): Promise<BankSetup>
  /** What is chosen for payments above the caps of mandates; undefined where an older service does not say it. */
  vrpCaps: 'ignore' | 'enforce' | undefined
  staff(): Promise<readonly StaffMember[]>
  /** Undefined where the service's database can't be reached from here. */
  backupVerification(): Promise<BackupVerification | null | undefined>
}

const DEAD = { status: 'DEAD', limit: 100 } as const

/** @throws {CliError} where it does not answer */
async function subjectOverHttp(context: Context, apiUrl: string): Promise<Subject> {
  const open = { ...context.http(), apiUrl, credentials: noCredentials(), close: () => Promise.resolve() }
  const { body: info } = await call(open, getService, {})
  return {
    identity: info.identity,
    mode: info.mode,
    authUrl: info.auth_url?.replace(/\/+$/, '') ?? null,
    publicUrl: apiUrl,
    isRunning: true,
    client: demoOperator(context, apiUrl),
    identityProblem: async () => {
      const ready = await probe(`${apiUrl}/readyz`)
      if (ready.status === undefined) return `the service did not report its health: ${ready.why}`
      return isAway(ready.json) ? 'the service does not reach it, or is not let in: its log says which' : null
    },
    workerLagMs: async () => (await call(context.client(), getOverview, {})).body.worker.lag_ms,
    deadDeliveries: async () => (await call(context.client(), listOutbox, { query: DEAD })).body.data,
    registrations: async () => (await call(context.client(), listRegistrations, {})).body.data,
    bankSetup: async () => {
      const { data, software_statement: statement } = (await call(context.client(), listBankConnections, {})).body
      return { banks: data, statement }
    },
    vrpCaps: info.vrp_caps,
    staff: async () => (await call(context.client(), listStaff, {})).body.data,
    backupVerification: () => Promise.resolve(undefined),
  }
}

/** Of the service in the state directory, where that is the one. */
function demoOperator({ stateDir }: Context, apiUrl: string): Subject['client'] {
  const state = runningState(stateDir)
  if (state?.api_url !== apiUrl || state.operator === null) return null
  const { realm, client_id: clientId, client_secret: clientSecret } = state.operator
  return { realm, clientId, clientSecret }
}

function isAway(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'identity' in json && json.identity === 'away'
}

function subjectInProcess(app: App): Subject {
  const { identity, config, publicUrl } = app
  return {
    identity: identity.kind,
    mode: config.mode,
    authUrl: identity.authUrl,
    publicUrl,
    isRunning: false,
    client: config.keycloak === undefined ? null : { realm: 'master', ...config.keycloak },
    identityProblem: () =>
      identity.health().then(
        () => null,
        (error: unknown) => messageOf(error),
      ),
    workerLagMs: async () => {
      const { getOverview: read } = await import('../../../src/console/get-overview.ts')
      return (await read(app, { merchantId: undefined })).worker.lag_ms
    },
    deadDeliveries: async () => {
      const { listOutbox: list } = await import('../../../src/webhooks/list-outbox.ts')
      return (await list(app, DEAD)).deliveries
    },
    registrations: async () => {
      const { listRegistrations: list } = await import('../../../src/registrations/list-registrations.ts')
      const { registrations } = await list(app)
      return registrations.map(({ registration, problems }) => ({ slug: registration.slug, problems }))
    },
    bankSetup: async () => {
      const { listBankConnections: list } = await import('../../../src/banks/connections/list-bank-connections.ts')
      const { data, software_statement: statement } = await list(app)
      return { banks: data, statement }
    },
    vrpCaps: config.vrpCaps,
    staff: async () => {
      const [{ listStaff: list }, { withFactors }, { PLATFORM_REALM }] = await Promise.all([
        import('../../../src/staff/staff.ts'),
        import('../../../src/identity/with-factors.ts'),
        import('../../../src/lib/realms.ts'),
      ])
      return withFactors(app, PLATFORM_REALM, { people: await list(app), idOf: (person) => person.keycloak_user_id })
    },
    backupVerification: async () => {
      const { findBackupVerification } = await import('../../../src/verify/backup-verification-sql.ts')
      return findBackupVerification(app.pool)
    },
  }
}
