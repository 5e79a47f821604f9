import { z } from 'zod'
import {
  IBAN,
  SCHEME_NAMES,
  SORT_CODE_ACCOUNT_NUMBER,
  accountKey,
  normalIdentification,
  schemeOf,
} from '../lib/account-identification.ts'
import { MERCHANT_ROLES, PLATFORM_ROLES } from '../lib/permissions.ts'
import { bankHolidays } from '../lib/working-days.ts'

const Flag = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true')
const Port = whole(0, 65_535)
const ConsentSeconds = whole(1, 31_536_000)
const Count = whole(1, 10_000)

/** Digits only: "1e3", " 8080" or "0x50" are more likely a mistake than intended. */
function whole(min: number, max: number) {
  return z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`)
}

function oneOf<const Names extends readonly string[]>(names: Names) {
  return z.enum(names, `must be one of ${names.join(', ')}`)
}

const KEY_RULE = 'must be 32 bytes as base64'
const MasterKey = z.base64(KEY_RULE).refine((text) => Buffer.from(text, 'base64').length === 32, KEY_RULE)

const KEYS_PREVIOUS_MAX = 5
const PreviousKeys = z
  .string()
  .transform((text) => text.split(',').map((key) => key.trim()))
  .pipe(
    z
      .array(z.string())
      .max(KEYS_PREVIOUS_MAX, `must be at most ${KEYS_PREVIOUS_MAX} keys`)
      .refine((keys) => keys.every((key) => MasterKey.safeParse(key).success), {
        error: 'must be keys of 32 bytes as base64, separated by commas',
      }),
  )

const SCALE_RULE = 'must be a number from 1 to 1000000'
const TimeScale = z.coerce.number(SCALE_RULE).min(1, SCALE_RULE).max(1_000_000, SCALE_RULE)

const HOLIDAYS_RULE =
  'must be dates such as 2027-05-07, or -2027-05-07 to remove one, separated by commas, without repetitions'
const BankHolidays = z.string().transform((text, context) => {
  try {
    return bankHolidays(text)
  } catch {
    context.addIssue({ code: 'custom', message: HOLIDAYS_RULE })
    return z.NEVER
  }
})

const ACCOUNTS_RULE =
  'must be accounts by currency, such as GBP=20-20-15 55555555,EUR=DE89370400440532013000: GBP and EUR, each once'
/** Faster Payments in GBP go by sort code and account number, SEPA credit transfers in EUR by IBAN. */
const SCHEME_OF: ReadonlyMap<string, typeof IBAN | typeof SORT_CODE_ACCOUNT_NUMBER> = new Map([
  ['GBP', SORT_CODE_ACCOUNT_NUMBER],
  ['EUR', IBAN],
])
const PayoutAccounts = z.string().transform((text, context) => {
  const accounts = new Map<string, string>()
  for (const entry of text === '' ? [] : text.split(',')) {
    const [currency = '', number = ''] = entry.split('=').map((part) => part.trim())
    const scheme = SCHEME_OF.get(currency)
    const account = scheme === undefined ? undefined : normalIdentification(scheme, number)
    if (account === undefined || accounts.has(currency)) {
      context.addIssue({ code: 'custom', message: ACCOUNTS_RULE })
      return z.NEVER
    }
    accounts.set(currency, account)
  }
  return accounts
})

const STATEMENT_ACCOUNTS_RULE =
  'must be accounts separated by commas, such as 20-20-15 55555555,DE89370400440532013000, each as its bank writes it, ' +
  'or followed by = and the account that it is, such as 55555555=20-20-15 55555555'
/** Besides what it separates, any text that a bank can have for an account: not every one has an IBAN or a sort code. */
const WRITTEN_ACCOUNT = /^[!-~]{4,64}$/
const StatementAccounts = z.string().transform((text, context): ReadonlyMap<string, string> => {
  const accounts = new Map<string, string>()
  for (const part of text === '' ? [] : text.split(',')) {
    const [written = '', ...meant] = part.split('=').map(accountKey)
    const account = meant.length === 0 ? written : (meant[0] ?? '')
    const isAccount = SCHEME_NAMES.some((scheme) => normalIdentification(scheme, account) !== undefined)
    if (!WRITTEN_ACCOUNT.test(written) || meant.length > 1 || (meant.length === 1 && !isAccount)) {
      context.addIssue({ code: 'custom', message: STATEMENT_ACCOUNTS_RULE })
      return z.NEVER
    }
    accounts.set(written, account)
  }
  return accounts
})

const ROLES: readonly string[] = [...PLATFORM_ROLES, ...MERCHANT_ROLES]
const SecondFactorRoles = z
  .string()
  .transform((text) => text.split(',').map((role) => role.trim()))
  .refine(
    (roles) => roles.every((role) => ROLES.includes(role)),
    `must be roles separated by commas: ${ROLES.join(', ')}`,
  )

const DatabaseUrl = z.string().regex(/^postgres(ql)?:\/\//, 'must be a postgres:// address')

/**
 * The environment variables, documented where they are parsed. Each has a variant with the suffix `_FILE` that names a
 * file with the value, for secrets mounted by an orchestrator. Durations are whole seconds.
 */
const COLLECTION_RULE = `must be scheme, number and name, such as ${SORT_CODE_ACCOUNT_NUMBER}:20000055779911:Name`
const COLLECTION_PARTS = /^(?<scheme>[^:]+):(?<number>[^:]+):(?<name>[^:]{1,70})$/
const CollectionAccount = z.string().transform((text, context) => {
  const { scheme = '', number = '', name = '' } = COLLECTION_PARTS.exec(text)?.groups ?? {}
  const known = schemeOf(scheme)
  const identification = known === undefined ? undefined : normalIdentification(known, number)
  if (known === undefined || identification === undefined || name.trim() === '') {
    context.addIssue({ code: 'custom', message: COLLECTION_RULE })
    return z.NEVER
  }
  return { scheme: known, identification, name: name.trim() }
})

export const Environment = z.object({
  /** `sandbox` has the mock bank and the development pages; `live` has neither. */
  SVC_MODE: oneOf(['sandbox', 'live']).default('sandbox'),
  /** PostgreSQL 15 to 18, with the service's login, a member of the role svc_merchant. */
  SVC_DATABASE_URL: DatabaseUrl,
  /** The login that owns the tables and runs migrations; by default the same address. */
  SVC_MIGRATION_DATABASE_URL: DatabaseUrl.optional(),
  /** Database connections of one process, in addition to the two of the payment batches. */
  SVC_DATABASE_POOL: Count.default(6),
  /**
   * Multiplies the time limits of the database (2 s to connect, 1 s for a lock, 1.5 s for a connection, 5 s for a
   * statement) where it is slow to answer, from 1 to 10; those of commands stay.
   */
  SVC_DATABASE_TIMEOUT_FACTOR: whole(1, 10).default(1),
  /** The master key that seals secrets: 32 bytes as base64. */
  SVC_ENCRYPTION_KEY: MasterKey,
  /** Up to five previous master keys, separated by commas. They open what they sealed, and seal nothing new. */
  SVC_ENCRYPTION_KEY_PREVIOUS: PreviousKeys.optional(),
  /** The address the API listens on. */
  SVC_HOST: z.string().default('127.0.0.1'),
  /** The port the API listens on. */
  SVC_PORT: Port.default(8080),
  /** The address of the API for payers and merchants; by default made from host and port. */
  SVC_PUBLIC_URL: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' }).optional(),
  /**
   * A port for /healthz, /readyz and /metrics of the API or the worker; the API then serves /metrics only there, and
   * in live mode nowhere else.
   */
  SVC_OBSERVE_PORT: Port.optional(),
  /** How long the API serves after SIGTERM, with /readyz at 503, so that proxies turn away first. */
  SVC_DRAIN_SECONDS: whole(0, 300).optional(),
  /** The identity provider. `none` trusts headers: only on a loopback address, never in live mode (decision 57). */
  SVC_IDENTITY: oneOf(['embedded', 'keycloak', 'none']).default('embedded'),
  /** The address of Keycloak, as in its tokens: issuers are `{SVC_AUTH_URL}/realms/<slug>`. */
  SVC_AUTH_URL: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' }).optional(),
  /** A client of Keycloak's realm `master` with only the role `create-realm` (examples/keycloak). */
  SVC_KEYCLOAK_CLIENT_ID: z.string().min(1).max(255).default('svc-provisioner'),
  /** The secret of that client; required with Keycloak. */
  SVC_KEYCLOAK_CLIENT_SECRET: z.string().min(1).max(1_000).optional(),
  /** Whether realms reject requests without TLS; `external` accepts them from private addresses (decision 62). */
  SVC_SSL_REQUIRED: oneOf(['none', 'external', 'all']).optional(),
  /** Whether to trust the X-Forwarded-Proto and X-Forwarded-For of a proxy in front of the service. */
  SVC_TRUST_PROXY: Flag.optional(),
  /** The address of the merchant portal; its `/callback` is the redirect address after sign-in. */
  SVC_PORTAL_URL: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' }).optional(),
  /** How long an invitation is valid. */
  SVC_INVITE_SECONDS: whole(60, 2_592_000).default(43_200),
  /** Roles whose people sign in with a second factor, separated by commas; in live mode all but FINANCE and SUPPORT do. */
  SVC_SECOND_FACTOR: SecondFactorRoles.optional(),
  /** The mail server, smtp:// or smtps:// with login; without it, the sandbox keeps its mail for `svc sandbox mail`. */
  SVC_SMTP_URL: z
    .string()
    .regex(/^smtps?:\/\//, 'must be an smtp:// or smtps:// address')
    .optional(),
  /** The sender of mails. */
  SVC_MAIL_FROM: z.string().max(320).default('svc <no-reply@localhost>'),
  /** Where operators are alerted: receives a POST of `{id, alert, state, subject, since, text}` for each change. */
  SVC_ALERT_URL: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' }).optional(),
  /** The mail address of operators, for the same alerts; needs SVC_SMTP_URL. */
  SVC_ALERT_MAIL: z.email('must be a mail address').max(320).optional(),
  /** Whether callers are rate limited (decision 32); by default in live mode. */
  SVC_RATE_LIMITS: Flag.optional(),
  /** The fees of new merchants: 0.0100 is 1 %; the flat part is in GBP (decision 46). */
  SVC_FEE_PERCENTAGE: z
    .string()
    .regex(/^0(\.\d{1,4})?$/, 'must be a decimal below 1, such as 0.0100')
    .default('0.0100'),
  /** The flat part of that fee. */
  SVC_FEE_FLAT: z
    .string()
    .regex(/^\d{1,8}(\.\d{1,2})?$/, 'must be a decimal such as 0.20')
    .default('0.20'),
  /** The least level that is logged. */
  SVC_LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  /** The least level of the security log, which names rejected callers and sign-ins; by default that of SVC_LOG_LEVEL. */
  SVC_SECURITY_LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).optional(),
  /** Additional logging, separated by commas: `sql` logs every statement. */
  SVC_DEBUG: z.string().default(''),
  /** How long a payer has to authorise a payment: 90 minutes (contract §Limits). */
  SVC_CONSENT_SECONDS: ConsentSeconds.default(5_400),
  /** How long a merchant has to submit evidence for a dispute: 14 days (decision 23). */
  SVC_DISPUTE_EVIDENCE_SECONDS: whole(1, 31_536_000).default(1_209_600),
  /** How many days after its creation a payment can be disputed (decision 22). */
  SVC_DISPUTE_WINDOW_DAYS: whole(1, 3_650).default(120),
  /** Whether the caps of mandates are enforced (decision 49): to be chosen in live mode; in the sandbox they are ignored. */
  SVC_VRP_CAPS: oneOf(['ignore', 'enforce']).optional(),
  /** The credentials of the mock bank's login page, which also accepts a scenario's name as user name (decision 44). */
  SVC_MOCK_BANK_USERNAME: z.string().min(1).max(64).default('payer'),
  /** The password of that page. */
  SVC_MOCK_BANK_PASSWORD: z.string().min(1).max(64).default('mock-password'),
  /** The one-time code of that page. */
  SVC_MOCK_BANK_CODE: z
    .string()
    .regex(/^\d{6}$/, 'must be 6 digits')
    .default('123456'),
  /**
   * The gateway for text messages: receives a POST of `{id, to, text}` for each, and responds with 2xx. Without it, the
   * sandbox keeps them for `svc sandbox mail`, and live mode sends links by e-mail only.
   */
  SVC_SMS_URL: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' }).optional(),
  /** The bearer token that is sent to SVC_SMS_URL. */
  SVC_SMS_TOKEN: z
    .string()
    .max(1_000)
    .regex(/^[!-~]+$/, 'must be printable ASCII characters without spaces')
    .optional(),
  /** Bank holidays that a proclamation adds, `2027-05-07`, or removes, `-2027-05-03`, separated by commas. */
  SVC_BANK_HOLIDAYS: BankHolidays.prefault(''),
  /** The accounts that payment files pay from: `GBP=20-20-15 55555555,EUR=DE89370400440532013000`. */
  SVC_PAYOUT_ACCOUNTS: PayoutAccounts.prefault(''),
  /** The name of those accounts, in the characters of payment messages. */
  SVC_PAYOUT_NAME: z
    .string()
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9/\-?:().,'+ ]{0,69}$/,
      "must be at most 70 of A-Z a-z 0-9 / - ? : ( ) . , ' + and spaces",
    )
    .default('svc'),
  /**
   * Further accounts of ours whose bank statements are imported, besides SVC_PAYOUT_ACCOUNTS and SVC_COLLECTION_ACCOUNT,
   * as the bank writes them; with `=`, which account that is: `DE89370400440532013000,55555555=20-20-15 55555555`.
   */
  SVC_STATEMENT_ACCOUNTS: StatementAccounts.prefault(''),
  /** The file of bank profiles (YAML or JSON): the banks that payments are made at, besides the mock bank of the sandbox. */
  SVC_BANK_PROFILES: z.string().min(1).max(4_096).optional(),
  /**
   * The file of the software statement: ids, assertion, certificate and keys from the Open Banking directory. Without
   * it, the one that `svc banks software-statement set` stored is used.
   */
  SVC_BANK_SOFTWARE_STATEMENT: z.string().min(1).max(4_096).optional(),
  /** The account that payments are credited to: `UK.OBIE.SortCodeAccountNumber:20000055779911:Name`. */
  SVC_COLLECTION_ACCOUNT: CollectionAccount.optional(),
  /** Who provides the payment service, as payers read it before they go to their bank. */
  SVC_PROVIDER_NAME: z.string().trim().min(1).max(140).optional(),
  /** The provider's terms for payers. */
  SVC_TERMS_URL: z.url({ protocol: /^https$/, error: 'must be an https:// address' }).optional(),
  /** What the provider does with payers' data. */
  SVC_PRIVACY_URL: z.url({ protocol: /^https$/, error: 'must be an https:// address' }).optional(),
  /** What sends payouts: the mock bank of the sandbox, or instruction files. */
  SVC_PAYOUT_CONNECTOR: z.enum(['mock', 'file']).optional(),
  /** How many days webhooks are kept, with their attempts: delivered, dead, or waiting for an endpoint. 36500 keeps them. */
  SVC_RETENTION_WEBHOOKS_DAYS: whole(30, 36_500).default(400),
  /** How many days the record of calls to banks is kept. */
  SVC_RETENTION_BANK_CALLS_DAYS: whole(30, 36_500).default(400),
  /** How many days daily reconciliations and verifications are kept, and alerts that are over. */
  SVC_RETENTION_RUNS_DAYS: whole(30, 36_500).default(400),
  /** How many days mails and text messages are kept. */
  SVC_RETENTION_MAILS_DAYS: whole(1, 36_500).default(30),
  /** Deliveries that one worker has in progress at once, over all merchants. */
  SVC_WEBHOOK_CONCURRENCY: Count.default(128),
  /** The same for one merchant. */
  SVC_WEBHOOK_CONCURRENCY_PER_MERCHANT: Count.default(8),
  /**
   * Whether webhooks may go to private addresses. Never in live mode, and by default only in a sandbox that only this
   * machine reaches, because the response of an address is shown to the merchant who set it.
   */
  SVC_WEBHOOK_ALLOW_PRIVATE: Flag.optional(),
  /** Divides the delays of the webhook retry schedule, for tests; 1 is the schedule of the contract. */
  SVC_WEBHOOK_TIME_SCALE: TimeScale.default(1),
})
export type Environment = z.infer<typeof Environment>

/** Every variable that the service reads, with its default; undefined if that depends on other variables. */
export const CONFIG_VARIABLES: readonly { name: string; unset: string | undefined }[] = Object.entries(
  Environment.shape,
).map(([name, schema]) => {
  const { data } = schema.safeParse(undefined)
  return { name, unset: typeof data === 'string' || typeof data === 'number' ? String(data) : undefined }
})
