import { setTimeout as delay } from 'node:timers/promises'
import { request } from 'undici'
import { CliError } from '../../base/errors.ts'
import { exitOfSignal } from '../../base/exit-codes.ts'
import { onStopSignals } from '../../base/signals.ts'
import { removeServiceState, serviceFile, writeServiceState } from '../../client/service-state.ts'
import type { ServiceState } from '../../client/service-state.ts'
import { explainStart, explained } from './explain.ts'
import { ensureKeyRing, hasKeyIn, variablesOf } from './key-file.ts'
import { makeTeardown } from './part.ts'
import type { Teardown } from './part.ts'
import { refuseLive } from './plan.ts'
import type { UpPlan } from './plan.ts'
import { checkPort, choosePort, ownLike, rememberPort } from './state-files.ts'

type RunningService = {
  state: ServiceState
  /** Stops everything in the opposite order of its start; no process is left. */
  stop(): Promise<void>
  /** Resolves with a sentence when a part ends by itself. */
  ended: Promise<string>
}

const READY_TIMEOUT_MS = 30_000
const READY_PAUSE_MS = 25

/**
 * Starts the database, brings it up to date, and runs worker, API and mock bank in this process. Resolves when everything
 * answers. What was started is stopped again when a later part fails, or when `signal` aborts.
 */
export async function startAll(plan: UpPlan, signal: AbortSignal): Promise<RunningService> {
  const teardown = makeTeardown(plan.note)
  try {
    const database = await openDatabase(plan, teardown)
    refuseAborted(signal)
    const state = await startParts({ plan, database, teardown, signal })
    return { state, stop: teardown.run, ended: database.ended }
  } catch (error) {
    await teardown.run()
    throw explainStart(error)
  }
}

type Start = { plan: UpPlan; database: Database; teardown: Teardown; signal: AbortSignal }

const PORT_ATTEMPTS_MAX = 5

/** Starts the parts on the wanted port, or for 0 on one of our choice; on another one if that is taken meanwhile. */
async function startParts(start: Start): Promise<ServiceState> {
  const { plan, database, teardown } = start
  const { stateDir } = database
  await migrate(start)
  for (let attempt = 1; ; attempt += 1) {
    const port = plan.port === 0 ? await choosePort(stateDir, { isRetry: attempt > 1 }) : plan.port
    const parts = makeTeardown(plan.note)
    try {
      const state = await startOn(port, { ...start, teardown: parts })
      rememberPort(stateDir, port)
      teardown.add('The service', parts.run)
      return state
    } catch (error) {
      await parts.run()
      if (plan.port === 0 && attempt < PORT_ATTEMPTS_MAX && isPortTaken(error)) continue
      throw explainStart(error, { port })
    }
  }
}

function isPortTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
}

async function migrate({ plan, database, signal }: Start): Promise<void> {
  const [{ readConfig }, { migrateUp }, { describeDatabaseError }] = await Promise.all([
    import('../../../src/config/read.ts'),
    import('../../../src/db/migrate.ts'),
    import('../../../src/db/describe-error.ts'),
  ])
  if (plan.port !== 0) await explained(() => checkPort(plan.port), plan)
  const config = readConfig(await environmentOf(plan, database, plan.port))
  refuseLive(config)
  const { migrationDatabaseUrl: databaseUrl } = config
  const variable = databaseUrl === config.databaseUrl ? undefined : 'SVC_MIGRATION_DATABASE_URL'
  const describe = (error: unknown): string => describeDatabaseError(error, databaseUrl, variable)
  await explained(() => migrateUp({ databaseUrl, log: plan.note }), { describe })
  refuseAborted(signal)
}

async function startOn(port: number, { plan, database, teardown, signal }: Start): Promise<ServiceState> {
  const { stateDir } = database
  const [
    { readConfig },
    { describeDatabaseError },
    { makeApp },
    { startApi },
    { startWorker },
    { checkMasterKey },
    { ensureDemoMerchant },
    { ensureDemoOperator },
    { ensureDemoCustomer },
    { makeSeededIds },
    { isSuperuser },
  ] = await Promise.all([
    import('../../../src/config/read.ts'),
    import('../../../src/db/describe-error.ts'),
    import('../../../src/app.ts'),
    import('../../../src/api.ts'),
    import('../../../src/worker.ts'),
    import('../../../src/keys/check-master-key.ts'),
    import('../../../src/sandbox/seed-merchant.ts'),
    import('../../../src/sandbox/seed-operator.ts'),
    import('../../../src/sandbox/seed-customer.ts'),
    import('../../../src/lib/seeded-ids.ts'),
    import('../../../src/db/superuser-sql.ts'),
  ])
  const environment = await environmentOf(plan, database, port)
  const bank = await openBank(plan, { stateDir, environment, teardown })
  const config = readConfig({ ...environment, ...bank?.env })
  const describe = (error: unknown): string => describeDatabaseError(error, config.databaseUrl)
  const overrides = plan.seed === undefined ? {} : { ids: makeSeededIds(plan.seed) }
  teardown.add(serviceFile(stateDir), () => removeServiceState(stateDir, process.pid))
  const app = await explained(() => makeApp(config, overrides), { describe })
  teardown.add('The connections', () => app.close())
  await checkMasterKey(app)
  if (bank !== undefined) await bank.register(app)
  // The database of our own has no other login, and is for trying svc out.
  if (plan.database.kind === 'outside' && (await isSuperuser(app.pool)))
    plan.note(
      'The database login is a superuser, which no rule of the database binds: for more than a trial use a login that is only a member of svc_merchant.',
    )
  if (app.identity.kind === 'keycloak' && config.smtpUrl === undefined)
    plan.note('Keycloak sends no invitations without SVC_SMTP_URL: people who are invited get no mail.')
  // The operator comes with the realms that it needs: the platform's and the customers'.
  const operator = app.identity.authUrl === null ? null : await ensureDemoOperator(app)
  const merchant = await ensureDemoMerchant(app)
  const customer = await ensureDemoCustomer(app)
  const worker = startWorker(app)
  teardown.add('The worker', () => worker.stop())
  const api = await startApi(app)
  teardown.add('The API', () => api.stop())
  await untilReady(api.url, signal)

  const state: ServiceState = {
    api_url: app.publicUrl,
    auth_url: app.identity.authUrl,
    demo_url: `${app.publicUrl}/dev/merchant-harness`,
    database_url: config.databaseUrl,
    state_dir: stateDir,
    pid: process.pid,
    key_id: app.sealer.kid,
    merchant,
    operator,
    customer,
    ...(bank === undefined ? {} : { model_bank: { issuer: bank.issuer, control_url: bank.controlUrl } }),
  }
  writeServiceState(stateDir, state)
  ownLike(stateDir, serviceFile(stateDir))
  return state
}

async function openBank(
  { bank }: UpPlan,
  { stateDir, environment, teardown }: { stateDir: string; environment: NodeJS.ProcessEnv; teardown: Teardown },
) {
  if (bank === undefined) return undefined
  const { registerAtModelBank, startModelBank } = await import('./model-bank.ts')
  const publicUrl = environment['SVC_PUBLIC_URL'] || `http://127.0.0.1:${environment['SVC_PORT'] ?? ''}`
  const redirectUri = `${publicUrl}/bank/return`
  const version = bank === 'model-3.1' ? '3.1' : '4.0'
  const running = await startModelBank(stateDir, { redirectUri, version, env: environment })
  teardown.add('The model bank', running.stop)
  return { ...running, register: registerAtModelBank }
}

async function environmentOf(plan: UpPlan, database: Database, port: number): Promise<NodeJS.ProcessEnv> {
  const { env } = database
  return {
    ...env,
    SVC_PORT: String(port),
    SVC_LOG_LEVEL: env['SVC_LOG_LEVEL'] || plan.logLevel,
    ...(plan.identity === undefined ? {} : { SVC_IDENTITY: plan.identity }),
    ...(plan.authUrl === undefined ? {} : { SVC_AUTH_URL: plan.authUrl }),
    ...(hasKeyIn(env) ? {} : variablesOf(await ensureKeyRing(database.stateDir))),
  }
}

async function untilReady(url: string, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS
  for (;;) {
    refuseAborted(signal)
    const status = await request(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) }).then(
      async ({ statusCode, body }) => body.dump().then(() => statusCode),
      () => 0,
    )
    if (status === 200) return
    if (performance.now() > deadline)
      throw new CliError('NOT_READY', `the service does not get ready (GET /readyz answers ${status})`)
    await delay(READY_PAUSE_MS)
  }
}

function refuseAborted(signal: AbortSignal): void {
  if (!signal.aborted) return
  throw new CliError('INTERRUPTED', 'interrupted while starting; what was started is stopped', {
    exit: exitOfSignal(signal.reason),
  })
}

/**
 * Runs everything in this process until a signal asks it to stop. `onReady` is called once, when everything answers.
 * @throws {CliError} when a part ends by itself; the others are stopped first
 */
export async function runForeground(plan: UpPlan, onReady: (state: ServiceState) => Promise<void>): Promise<void> {
  const abort = new AbortController()
  const { promise: stopAsked, resolve: askStop } = Promise.withResolvers<undefined>()
  const release = onStopSignals((signal) => {
    plan.note('Stopping. Once more to stop at once.')
    abort.abort(signal)
    askStop(undefined)
  })
  try {
    const running = await startAll(plan, abort.signal)
    // What is done then ends where the service is asked to end meanwhile.
    await Promise.race([onReady(running.state), stopAsked, running.ended])
    const problem = await Promise.race([stopAsked, running.ended])
    await running.stop()
    if (problem !== undefined) throw new CliError('PART_ENDED', problem, { hint: 'svc up' })
    plan.note('Stopped.')
  } finally {
    release()
  }
}

type Database = {
  /** The environment of the service, with the database filled in. */
  env: NodeJS.ProcessEnv
  stateDir: string
  /** Resolves with a sentence when our own database ends without being asked; never for an outside one. */
  ended: Promise<string>
}

/** Takes the state directory for this process and makes a database available: our own, or one from outside. */
async function openDatabase(plan: UpPlan, teardown: Teardown): Promise<Database> {
  const { database } = plan
  return database.kind === 'embedded' ? openEmbedded(plan, teardown) : openOutside(plan, database.url, teardown)
}

async function openEmbedded(plan: UpPlan, teardown: Teardown): Promise<Database> {
  const [{ startEmbedded }, { prepareStateDirectory }] = await Promise.all([
    import('../../../src/db/embedded.ts'),
    import('../../../src/db/state-directory.ts'),
  ])
  const stateDir = prepareStateDirectory(plan.stateDir)
  const disposable = plan.disposable === true
  const server = await startEmbedded({ stateDir, log: plan.note, disposable, restarts: !disposable })
  teardown.add('The database', server.stop)
  const ended = server.exited.then(
    () => 'the database ended by itself, and does not start again; see postgres.log in the state directory',
  )
  const env = { ...withoutDatabase(plan.env), SVC_DATABASE_URL: server.url }
  return { env, stateDir, ended }
}

async function openOutside(plan: UpPlan, url: string | undefined, teardown: Teardown): Promise<Database> {
  const { lockStateDirectory, prepareStateDirectory } = await import('../../../src/db/state-directory.ts')
  const stateDir = prepareStateDirectory(plan.stateDir)
  teardown.add('The state directory', lockStateDirectory(stateDir))
  const env = url === undefined ? plan.env : { ...withoutDatabase(plan.env), SVC_DATABASE_URL: url }
  return { env, stateDir, ended: new Promise(() => undefined) }
}

/** The environment's own database does not count when the flag names another. */
function withoutDatabase(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = ['SVC_DATABASE_URL', 'SVC_MIGRATION_DATABASE_URL'].flatMap((name) => [name, `${name}_FILE`])
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)))
}
