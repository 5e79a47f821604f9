import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { makeCatalogue } from './banks/catalogue.ts'
import type { BankCatalogue, ConfiguredBank } from './banks/catalogue.ts'
import { openConfiguredBanks } from './banks/configured.ts'
import type { BankConnector } from './banks/connector.ts'
import { readBankSetup } from './banks/setup.ts'
import type { BankSetup } from './banks/setup.ts'
import { makeMockBank } from './banks/mock.ts'
import type { MockBank } from './banks/mock.ts'
import { isReachable } from './config/reachable.ts'
import type { Config } from './config/config.ts'
import { makeStreams } from './console/streams.ts'
import type { StreamLimits, Streams } from './console/streams.ts'
import { makeLookupHash } from './db/lookup-hash.ts'
import type { LookupHash } from './db/lookup-hash.ts'
import { requireMerchantRole } from './db/merchant-role-sql.ts'
import { makeLatePool, makePool } from './db/pool.ts'
import type { LatePool } from './db/pool.ts'
import { runRolledBack } from './db/rolled-back-sql.ts'
import { makeSharedRates } from './db/shared-rates.ts'
import type { SharedRates } from './db/shared-rates.ts'
import { makeWake } from './db/wake.ts'
import type { Wake } from './db/wake.ts'
import type { EmbeddedParts } from './identity/embedded/provider.ts'
import { makeNoProvider } from './identity/none.ts'
import type { IdentityProvider } from './identity/provider.ts'
import { makeConcurrencyLimits } from './lib/concurrency-limits.ts'
import type { ConcurrencyLimits } from './lib/concurrency-limits.ts'
import { makeIds } from './lib/ids.ts'
import type { Ids } from './lib/ids.ts'
import { deriveKey } from './lib/derive-key.ts'
import { makeNetworkHashes } from './lib/network-hash.ts'
import type { NetworkHashes } from './lib/network-hash.ts'
import { makeSealer } from './lib/seal.ts'
import type { Sealer } from './lib/seal.ts'
import { makeLog } from './observe/log.ts'
import type { Logger } from './observe/log.ts'
import { makeMetrics } from './observe/metrics.ts'
import type { Metrics } from './observe/metrics.ts'
import { makePaymentBatches } from './payments/batches.ts'
import type { PaymentBatches } from './payments/batches.ts'
import { makeProbe } from './webhooks/sending/probe.ts'
import type { Probe } from './webhooks/sending/probe.ts'

/** The dependencies of use cases, made once per process by `makeApp` and passed as their first argument. */
export type App = {
  config: Config
  /** The address that payers and merchants reach the API at, without a slash at the end. */
  publicUrl: string
  /** In a dry run the transaction's connection, on which a transaction is a savepoint. */
  pool: CommonQueryMethods
  /** One connection for the readiness check, which must answer while all others are in use. */
  readinessPool: LatePool
  /** Runs `work` in a transaction that is always rolled back. */
  rolledBack<T>(work: (tx: DatabaseTransactionConnection) => Promise<T>): Promise<T>
  /**
   * Runs `work`, which others like it do not depend on. A dry run takes it back at once, so that it holds no lock during
   * the others.
   */
  separately<T>(work: (pool: CommonQueryMethods) => Promise<T>): Promise<T>
  /** The most frequent statements of payments, batched over connections of their own. */
  batches: PaymentBatches
  /** Wakes jobs in every process, after a commit. */
  wake: Wake
  ids: Ids
  sealer: Sealer
  /** The keyed hash by which sealed contacts are found. */
  lookupHash: LookupHash
  /** Bank connectors by id. */
  banks: ReadonlyMap<string, BankConnector>
  /** Those whose API makes refunds; also in a dry run, which asks none. */
  refundApis: ReadonlySet<string>
  /** The banks that new payments can go to. */
  catalogue: BankCatalogue
  /** What the files say of banks: profiles, and the software statement where it is not in the database. */
  bankSetup: BankSetup
  /** The bank whose pages the sandbox serves. */
  mockBank: MockBank
  /** Realms, users and keys (identity/provider.ts). */
  identity: IdentityProvider
  /** Checks whether a merchant's endpoint responds. */
  probe: Probe
  /** Rate limits, counted over all processes. */
  rates: SharedRates
  /** Pseudonyms of callers' networks, for limits and logs. */
  networks(clientAddress: string): NetworkHashes
  /** What compares the books for a caller (reconciliation/get-reconciliation.ts). */
  comparisons: ConcurrencyLimits
  /** Streams of events to consoles. */
  streams: Streams
  log: Logger
  /** Who failed where: refused credentials, roles and sign-ins, at a level of its own. */
  securityLog: Logger
  metrics: Metrics
  /** Closes connections, after requests and jobs are drained (api.ts, worker.ts). */
  close(): Promise<void>
}

/** The external dependencies that a test or an embedding program can replace. */
export type AppOverrides = Partial<Pick<App, 'ids' | 'log' | 'identity' | 'probe' | 'rates'>> & {
  /** Stands for the mock bank, in live mode too. */
  bank?: BankConnector
  /** Banks besides the mock bank's. */
  configuredBanks?: readonly ConfiguredBank[]
  streamLimits?: Partial<StreamLimits>
  /** The name of its connections in PostgreSQL, by which `svc doctor --live` finds a worker. */
  applicationName?: string
}

/** What the log and `svc serve` say in live mode without a bank. */
export const NO_BANK =
  'no bank is configured: new payments are answered 503 BANK_NOT_CONFIGURED until SVC_BANK_PROFILES names one'

/** The database role of the running service, which owns nothing. */
export const RUNTIME_ROLE = 'svc_runtime'

/**
 * Makes the app: one line for each dependency, in the order in which they need each other.
 * @throws if the database can't be reached (db/describe-error.ts describes the reason)
 */
export async function makeApp(config: Config, overrides: AppOverrides = {}): Promise<App> {
  const { databaseUrl, databaseTimeoutFactor: timeoutFactor } = config
  const { applicationName = 'svc' } = overrides
  const target = { databaseUrl, role: RUNTIME_ROLE, applicationName, timeoutFactor }
  const publicUrl =
    config.publicUrl ?? `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${config.port}`
  const log = overrides.log ?? makeLog(config.logLevel)
  const securityLog = (overrides.log ?? makeLog(config.securityLogLevel)).child(
    { log: 'security' },
    { level: config.securityLogLevel },
  )
  if (config.webhookAllowPrivate && isReachable(config)) {
    log.warn(
      'SVC_WEBHOOK_ALLOW_PRIVATE=true: merchants can send webhooks to private addresses of this network, and read the responses',
    )
  }
  const bankSetup = await readBankSetup(config)
  const ids = overrides.ids ?? makeIds()
  // A known seed reveals the `state` of every payment.
  if (ids.isSeeded && (config.mode === 'live' || isReachable(config)))
    throw new Error('ids from a seed are only allowed in a sandbox that only this machine reaches')
  const onStatement = config.debugSql ? logStatements(log) : undefined
  const pool = await makePool({ ...target, size: config.databasePoolSize, onStatement })
  await requireMerchantRole(pool).catch(async (error: unknown) => {
    await pool.end()
    throw error
  })
  const readinessPool = makeLatePool({ ...target, applicationName: 'svc readiness', size: 1 })
  const batches = makePaymentBatches({ ...target, onStatement })
  const wake = makeWake(target, log)
  const rates = overrides.rates ?? makeSharedRates({ wake })
  const mockBank = makeMockBank({ publicUrl, secret: mockBankSecret(config), pool, ids, log })
  const mock = overrides.bank ?? (config.mode === 'sandbox' ? mockBank : undefined)
  const sealer = makeSealer(config.encryptionKey, config.encryptionKeysPrevious)
  const lookupHash = makeLookupHash({ pool, sealer })
  const networks = makeNetworkHashes(config.encryptionKey, 'client network')
  const metrics = makeMetrics()
  const configured =
    overrides.configuredBanks ??
    (await openConfiguredBanks({ account: config.collectionAccount, bankSetup, publicUrl, pool, sealer, log, metrics }))
  const catalogue = makeCatalogue(mock, configured)
  if (catalogue.list.length === 0) log.warn(NO_BANK)
  const identity =
    overrides.identity ??
    (await makeIdentity(config, {
      config,
      publicUrl,
      pool,
      sealer,
      lookupHash,
      ids,
      wake,
      rates,
      networks,
      log,
      securityLog,
    }))
  const probe = overrides.probe ?? makeProbe({ allowPrivate: config.webhookAllowPrivate })
  const connectors = [...(mock === undefined ? [] : [mock]), ...configured.map(({ connector }) => connector)]
  return {
    config,
    publicUrl,
    pool,
    readinessPool,
    rolledBack: (work) => runRolledBack(pool, work),
    separately: (work) => work(pool),
    batches,
    wake,
    ids,
    sealer,
    lookupHash,
    banks: new Map(connectors.map((bank) => [bank.id, bank])),
    refundApis: new Set(connectors.flatMap(({ id, refund }) => (refund === undefined ? [] : [id]))),
    catalogue,
    bankSetup,
    mockBank,
    identity,
    probe,
    rates,
    networks,
    comparisons: makeConcurrencyLimits('comparisons at once'),
    streams: makeStreams({ pool, wake, log, metrics }, overrides.streamLimits),
    log,
    securityLog,
    metrics,
    close: async () => {
      await Promise.all([wake.close(), probe.close(), ...configured.map(({ connector }) => connector.close?.())])
      await Promise.all([batches.create.close(), batches.move.close(), batches.find.close()])
      await Promise.all([pool.end(), readinessPool.close()])
    },
  }
}

/** The mock bank's own key, so that its signatures are worth nothing for the service's other secrets. */
function mockBankSecret(config: Config): string {
  return deriveKey(config.encryptionKey, 'mock bank').toString('hex')
}

/** Loads the packages of a provider only if it is used. */
async function makeIdentity(config: Config, parts: EmbeddedParts): Promise<IdentityProvider> {
  if (config.identity === 'none') return makeNoProvider(parts.ids)
  if (config.keycloak !== undefined) {
    const { sslRequired, secondFactorRoles, smtpUrl, mailFrom } = config
    const { makeKeycloakProvider } = await import('./identity/keycloak/provider.ts')
    const settings = { ...config.keycloak, sslRequired, secondFactorRoles, smtpUrl, mailFrom }
    return makeKeycloakProvider({ ...parts, settings })
  }
  const { makeEmbeddedProvider } = await import('./identity/embedded/provider.ts')
  return makeEmbeddedProvider(parts)
}

/** Logs each statement at any log level, because SVC_DEBUG requested it. Without its values, which may be secret. */
function logStatements(log: Logger): (text: string, durationMs: number) => void {
  const own = log.child({}, { level: 'info' })
  return (text, durationMs) =>
    own.info({ sql: text.replaceAll(/\s+/g, ' ').trim(), duration_ms: Math.round(durationMs) }, 'sql')
}
