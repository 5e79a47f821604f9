import type { SchemeName } from '../lib/account-identification.ts'
import type { Holidays } from '../lib/working-days.ts'
import type { Environment } from './environment.ts'

/** The configuration of the service, read from its environment. */
export type Config = Readonly<{
  mode: 'sandbox' | 'live'
  databaseUrl: string
  migrationDatabaseUrl: string
  databasePoolSize: number
  databaseTimeoutFactor: number
  encryptionKey: string
  encryptionKeysPrevious: readonly string[]
  host: string
  port: number
  publicUrl: string | undefined
  /** The port for probes and scrapers only; undefined if the API's port serves them. */
  observePort: number | undefined
  /** How long the API serves after it was asked to stop, while it is not ready. */
  drainSeconds: number
  identity: 'embedded' | 'keycloak' | 'none'
  /** Undefined unless `identity` is `keycloak`. */
  keycloak: Readonly<{ authUrl: string; clientId: string; clientSecret: string }> | undefined
  sslRequired: 'none' | 'external' | 'all'
  trustProxy: boolean
  portalUrl: string | undefined
  inviteSeconds: number
  /** The roles whose people must sign in with a second factor. */
  secondFactorRoles: ReadonlySet<string>
  smtpUrl: string | undefined
  mailFrom: string
  /** Where operators are alerted; each undefined if they are not. */
  alerts: Readonly<{ url: string | undefined; mail: string | undefined }>
  rateLimits: boolean
  feePercentage: string
  feeFlat: string
  logLevel: Environment['SVC_LOG_LEVEL']
  securityLogLevel: Environment['SVC_LOG_LEVEL']
  /** Whether each SQL statement is logged, without its values. */
  debugSql: boolean
  consentSeconds: number
  disputeEvidenceSeconds: number
  disputeWindowDays: number
  vrpCaps: 'ignore' | 'enforce'
  mockBankLogin: Readonly<{ username: string; password: string; code: string }>
  /** Undefined if no text messages are sent. */
  sms: Readonly<{ url: string; token: string | undefined }> | undefined
  /** Bank holidays: the built-in ones, with the configured changes. */
  holidays: Holidays
  /** The accounts that payment files pay from, by currency: 14 digits for GBP, an IBAN for EUR. */
  payoutAccounts: ReadonlyMap<string, string>
  payoutName: string
  /** Further accounts of ours whose statements are imported: as banks write each, and which it is, by `accountKey`. */
  statementAccounts: ReadonlyMap<string, string>
  /** The file of bank profiles. */
  bankProfiles: string | undefined
  /** The file of the software statement; undefined if it is in the database. */
  bankSoftwareStatement: string | undefined
  /** Who provides the payment service, for payers. */
  provider: Readonly<Record<'name' | 'termsUrl' | 'privacyUrl', string | undefined>>
  /** The account that payments at banks are credited to. */
  collectionAccount: Readonly<{ scheme: SchemeName; identification: string; name: string }> | undefined
  /** What sends payouts: the mock bank, or instruction files. */
  payoutConnector: 'mock' | 'file'
  /** Days that each kind of record is kept (src/retention). */
  retentionDays: Readonly<Record<'webhooks' | 'bankCalls' | 'runs' | 'mails', number>>
  webhookConcurrency: number
  webhookConcurrencyPerMerchant: number
  webhookAllowPrivate: boolean
  webhookTimeScale: number
}>
