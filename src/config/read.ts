import type { Config } from './config.ts'
import { Environment } from './environment.ts'
import { ConfigError, parseEnvironment } from './parse.ts'
import { isReachable } from './reachable.ts'
import { refuseUnsafe, repeatedKey } from './refuse-unsafe.ts'

/**
 * Parses the environment.
 * @throws {ConfigError} naming each missing or invalid variable; never its value, which may be a secret
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const parsed = parseEnvironment(Environment, env)
  const config = fromEnvironment(parsed)
  refuseUnsafe(config, parsed)
  return Object.freeze(config)
}

const KeyEnvironment = Environment.pick({ SVC_ENCRYPTION_KEY: true, SVC_ENCRYPTION_KEY_PREVIOUS: true })

/**
 * Reads only the master keys, for commands that need nothing else of the configuration.
 * @throws {ConfigError}
 */
export function readKeys(env: NodeJS.ProcessEnv): Pick<Config, 'encryptionKey' | 'encryptionKeysPrevious'> {
  const parsed = parseEnvironment(KeyEnvironment, env)
  const keys = {
    encryptionKey: parsed.SVC_ENCRYPTION_KEY,
    encryptionKeysPrevious: parsed.SVC_ENCRYPTION_KEY_PREVIOUS ?? [],
  }
  const problem = repeatedKey(keys)
  if (problem !== false) throw new ConfigError(problem)
  return keys
}

/** Longer than clients may keep an idle connection to the API (http/server.ts), so that none is cut off. */
const LIVE_DRAIN_SECONDS = 6

/**
 * Roles that a stolen password alone must not give in live mode: every one that may call an operation with
 * `needsFreshSignIn`. Otherwise who has the password could set an app up when the operation asks for it.
 */
const LIVE_SECOND_FACTOR = ['OWNER', 'OPS', 'ADMIN', 'DEVELOPER']

function fromEnvironment(env: Environment): Config {
  return {
    mode: env.SVC_MODE,
    databaseUrl: env.SVC_DATABASE_URL,
    migrationDatabaseUrl: env.SVC_MIGRATION_DATABASE_URL ?? env.SVC_DATABASE_URL,
    databasePoolSize: env.SVC_DATABASE_POOL,
    databaseTimeoutFactor: env.SVC_DATABASE_TIMEOUT_FACTOR,
    encryptionKey: env.SVC_ENCRYPTION_KEY,
    encryptionKeysPrevious: env.SVC_ENCRYPTION_KEY_PREVIOUS ?? [],
    host: env.SVC_HOST,
    port: env.SVC_PORT,
    publicUrl: env.SVC_PUBLIC_URL?.replace(/\/$/, ''),
    observePort: env.SVC_OBSERVE_PORT,
    drainSeconds: env.SVC_DRAIN_SECONDS ?? (env.SVC_MODE === 'live' ? LIVE_DRAIN_SECONDS : 0),
    identity: env.SVC_IDENTITY,
    keycloak: keycloakOf(env),
    sslRequired: env.SVC_SSL_REQUIRED ?? (hasTls(env) ? 'external' : 'none'),
    trustProxy: env.SVC_TRUST_PROXY ?? false,
    portalUrl: env.SVC_PORTAL_URL?.replace(/\/$/, ''),
    inviteSeconds: env.SVC_INVITE_SECONDS,
    secondFactorRoles: new Set([
      ...(env.SVC_MODE === 'live' ? LIVE_SECOND_FACTOR : []),
      ...(env.SVC_SECOND_FACTOR ?? []),
    ]),
    smtpUrl: env.SVC_SMTP_URL,
    mailFrom: env.SVC_MAIL_FROM,
    alerts: { url: env.SVC_ALERT_URL, mail: env.SVC_ALERT_MAIL },
    rateLimits: env.SVC_RATE_LIMITS ?? env.SVC_MODE === 'live',
    feePercentage: env.SVC_FEE_PERCENTAGE,
    feeFlat: env.SVC_FEE_FLAT,
    logLevel: env.SVC_LOG_LEVEL,
    securityLogLevel: env.SVC_SECURITY_LOG_LEVEL ?? env.SVC_LOG_LEVEL,
    debugSql: env.SVC_DEBUG.split(',').includes('sql'),
    consentSeconds: env.SVC_CONSENT_SECONDS,
    disputeEvidenceSeconds: env.SVC_DISPUTE_EVIDENCE_SECONDS,
    disputeWindowDays: env.SVC_DISPUTE_WINDOW_DAYS,
    vrpCaps: env.SVC_VRP_CAPS ?? 'ignore',
    mockBankLogin: {
      username: env.SVC_MOCK_BANK_USERNAME,
      password: env.SVC_MOCK_BANK_PASSWORD,
      code: env.SVC_MOCK_BANK_CODE,
    },
    sms: env.SVC_SMS_URL === undefined ? undefined : { url: env.SVC_SMS_URL, token: env.SVC_SMS_TOKEN },
    holidays: env.SVC_BANK_HOLIDAYS,
    payoutAccounts: env.SVC_PAYOUT_ACCOUNTS,
    payoutName: env.SVC_PAYOUT_NAME,
    statementAccounts: env.SVC_STATEMENT_ACCOUNTS,
    bankProfiles: env.SVC_BANK_PROFILES,
    bankSoftwareStatement: env.SVC_BANK_SOFTWARE_STATEMENT,
    collectionAccount: env.SVC_COLLECTION_ACCOUNT,
    provider: { name: env.SVC_PROVIDER_NAME, termsUrl: env.SVC_TERMS_URL, privacyUrl: env.SVC_PRIVACY_URL },
    payoutConnector: env.SVC_PAYOUT_CONNECTOR ?? (env.SVC_MODE === 'sandbox' ? 'mock' : 'file'),
    retentionDays: {
      webhooks: env.SVC_RETENTION_WEBHOOKS_DAYS,
      bankCalls: env.SVC_RETENTION_BANK_CALLS_DAYS,
      runs: env.SVC_RETENTION_RUNS_DAYS,
      mails: env.SVC_RETENTION_MAILS_DAYS,
    },
    webhookConcurrency: env.SVC_WEBHOOK_CONCURRENCY,
    webhookConcurrencyPerMerchant: env.SVC_WEBHOOK_CONCURRENCY_PER_MERCHANT,
    webhookAllowPrivate: env.SVC_WEBHOOK_ALLOW_PRIVATE ?? (env.SVC_MODE === 'sandbox' && isLocal(env)),
    webhookTimeScale: env.SVC_WEBHOOK_TIME_SCALE,
  }
}

/** Whether only this machine reaches the service, by its configuration. */
function isLocal({ SVC_HOST, SVC_PUBLIC_URL }: Environment): boolean {
  return !isReachable({ host: SVC_HOST, publicUrl: SVC_PUBLIC_URL })
}

/** Whether tokens travel over the internet: in live mode, or with an https:// address (contract §Authentication). */
function hasTls({ SVC_MODE, SVC_PUBLIC_URL, SVC_AUTH_URL }: Environment): boolean {
  return SVC_MODE === 'live' || [SVC_PUBLIC_URL, SVC_AUTH_URL].some((url) => url?.startsWith('https:'))
}

function keycloakOf(env: Environment): Config['keycloak'] {
  const { SVC_AUTH_URL: authUrl, SVC_KEYCLOAK_CLIENT_ID: clientId, SVC_KEYCLOAK_CLIENT_SECRET: clientSecret } = env
  if (env.SVC_IDENTITY !== 'keycloak' || authUrl === undefined || clientSecret === undefined) return undefined
  return { authUrl: authUrl.replace(/\/$/, ''), clientId, clientSecret }
}
