import { setTimeout as delay } from 'node:timers/promises'
import { request } from 'undici'
import { startApi } from '../../../src/api.ts'
import { makeApp } from '../../../src/app.ts'
import { readConfig } from '../../../src/config/read.ts'
import { describeDatabaseError } from '../../../src/db/describe-error.ts'
import { migrateUp } from '../../../src/db/migrate.ts'
import { isSuperuser } from '../../../src/db/superuser-sql.ts'
import { requireDatabaseMode, requireSameMode } from '../../../src/db/database-mode-sql.ts'
import { checkMasterKey } from '../../../src/keys/check-master-key.ts'
import { makeSeededIds } from '../../../src/lib/seeded-ids.ts'
import { ensureDemoCustomer } from '../../../src/sandbox/seed-customer.ts'
import { ensureDemoMerchant } from '../../../src/sandbox/seed-merchant.ts'
import { ensureDemoOperator } from '../../../src/sandbox/seed-operator.ts'
import { startWorker } from '../../../src/worker.ts'
import { variableIn } from '../../base/environment-variables.ts'
import { CliError, codeOf } from '../../base/errors.ts'
import { removeServiceState, serviceFile, writeServiceState } from '../../client/service-state.ts'
import type { ServiceState } from '../../client/service-state.ts'
import { readMode } from '../doctor/database-sql.ts'
import { explainLost, explained } from './explain.ts'
import { ensureKeyRing, hasKeyIn, variablesOf } from './key-file.ts'
import { registerAtModelBank, startModelBank } from './model-bank.ts'
import { makeTeardown } from './part.ts'
import type { Teardown } from './part.ts'
import { refuseLive, refuseAborted } from './plan.ts'
import type { UpPlan, Database } from './plan.ts'
import { checkPort, choosePort, ownLike, rememberPort } from './state-files.ts'

const READY_TIMEOUT_MS = 30_000
const READY_PAUSE_MS = 25

type Start = { plan: UpPlan; database: Database; teardown: Teardown; signal: AbortSignal }

const PORT_ATTEMPTS_MAX = 5

/**
 * Brings the database up to date, and starts the parts on the wanted port, or for 0 on one of our choice; on another
 * one if that is taken meanwhile.
 */
export async function startParts(start: Start): Promise<ServiceState> {
  const { plan, database, teardown } = start
  const { stateDir } = database
  await migrate(start)
  for (let attempt = 1; ; attempt += 1) {
    const port = plan.port === 0 ? await choosePort(stateDir, { isRetry: attempt > 1 }) : plan.port
    const parts = makeTeardown(plan.note)
    try {
      const state = await startOn(port, { ...start, teardown: parts })
      teardown.add('The service', parts.run)
      return state
    } catch (error) {
      await parts.run()
      if (plan.port === 0 && attempt < PORT_ATTEMPTS_MAX && codeOf(error) === 'EADDRINUSE') continue
      throw await explainLost(error, variableIn(database.env, 'SVC_DATABASE_URL') ?? '', { port })
    }
  }
}

async function migrate({ plan, database, signal }: Start): Promise<void> {
  if (plan.port !== 0) await explained(() => checkPort(plan.port), plan)
  const config = readConfig(await environmentOf(plan, database, plan.port))
  refuseLive(config)
  const { migrationDatabaseUrl: databaseUrl } = config
  const variable = databaseUrl === config.databaseUrl ? undefined : 'SVC_MIGRATION_DATABASE_URL'
  const describe = (error: unknown): string => describeDatabaseError(error, databaseUrl, variable)
  // A database of live mode is not even migrated by a sandbox. One that is not migrated at all has no mode.
  const mode = plan.database.kind === 'outside' ? await readMode(config.databaseUrl).catch(() => undefined) : undefined
  await explained(() => requireSameMode(mode, config.mode))
  await explained(() => migrateUp({ databaseUrl, log: plan.note }), { describe })
  refuseAborted(signal)
}

async function startOn(port: number, { plan, database, teardown, signal }: Start): Promise<ServiceState> {
  const { stateDir } = database
  const environment = await environmentOf(plan, database, port)
  const bank = await openBank(plan, { stateDir, environment, teardown })
  const config = readConfig({ ...environment, ...bank?.env })
  const describe = (error: unknown): string => describeDatabaseError(error, config.databaseUrl)
  const overrides = plan.seed === undefined ? {} : { ids: makeSeededIds(plan.seed) }
  teardown.add(serviceFile(stateDir), () => removeServiceState(stateDir, process.pid))
  const app = await explained(() => makeApp(config, overrides), { describe })
  teardown.add('The connections', () => app.close())
  await checkMasterKey(app)
  await explained(() => requireDatabaseMode(app.pool, { mode: config.mode, isStart: true }))
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
  // Before the file that says that it runs: who waits for that finds the port of the next start.
  rememberPort(stateDir, port)
  writeServiceState(stateDir, state)
  ownLike(stateDir, serviceFile(stateDir))
  return state
}

async function openBank(
  { bank }: UpPlan,
  { stateDir, environment, teardown }: { stateDir: string; environment: NodeJS.ProcessEnv; teardown: Teardown },
) {
  if (bank === undefined) return undefined
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
