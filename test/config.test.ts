import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { ConfigError } from '../src/config/parse.ts'
import { readConfig, readKeys } from '../src/config/read.ts'
import { bankHolidays } from '../src/lib/working-days.ts'

const KEY = Buffer.alloc(32, 1).toString('base64')
const GOOD = { SVC_DATABASE_URL: 'postgres://svc:c4n4ryPassword@db.example/svc', SVC_ENCRYPTION_KEY: KEY }

/** The message of the refusal; empty when there was none. */
function refusal(env: NodeJS.ProcessEnv): string {
  try {
    readConfig(env)
    return ''
  } catch (error) {
    return error instanceof ConfigError ? error.message : `not a ConfigError: ${String(error)}`
  }
}

t.test('an address and a key are enough, and the rest is as documented', async (t) => {
  t.same(readConfig(GOOD), {
    mode: 'sandbox',
    databaseUrl: GOOD.SVC_DATABASE_URL,
    migrationDatabaseUrl: GOOD.SVC_DATABASE_URL,
    databasePoolSize: 6,
    databaseTimeoutFactor: 1,
    encryptionKey: KEY,
    encryptionKeysPrevious: [],
    host: '127.0.0.1',
    port: 8080,
    publicUrl: undefined,
    observePort: undefined,
    drainSeconds: 0,
    identity: 'embedded',
    keycloak: undefined,
    sslRequired: 'none',
    trustProxy: false,
    portalUrl: undefined,
    inviteSeconds: 43_200,
    secondFactorRoles: new Set(),
    smtpUrl: undefined,
    mailFrom: 'svc <no-reply@localhost>',
    alerts: { url: undefined, mail: undefined },
    retentionDays: { webhooks: 400, bankCalls: 400, runs: 400, mails: 30 },
    rateLimits: false,
    feePercentage: '0.0100',
    feeFlat: '0.20',
    logLevel: 'info',
    securityLogLevel: 'info',
    debugSql: false,
    consentSeconds: 5_400,
    disputeEvidenceSeconds: 1_209_600,
    disputeWindowDays: 120,
    vrpCaps: 'ignore',
    mockBankLogin: { username: 'payer', password: 'mock-password', code: '123456' },
    sms: undefined,
    holidays: bankHolidays(),
    payoutAccounts: new Map(),
    payoutName: 'svc',
    statementAccounts: new Map(),
    provider: { name: undefined, termsUrl: undefined, privacyUrl: undefined },
    payoutConnector: 'mock',
    webhookConcurrency: 128,
    webhookConcurrencyPerMerchant: 8,
    webhookAllowPrivate: true,
    webhookTimeScale: 1,
  })
})

t.test("it can't be changed once it is read", async (t) => {
  const config = readConfig(GOOD)
  t.ok(Object.isFrozen(config))
  t.throws(() => Object.assign(config, { mode: 'live' }), TypeError)
})

t.test('everything that is wrong is named at once', async (t) => {
  const message = refusal({ SVC_PORT: 'x', SVC_MODE: 'production' })
  for (const name of ['SVC_DATABASE_URL', 'SVC_ENCRYPTION_KEY', 'SVC_PORT', 'SVC_MODE']) t.match(message, name)
})

t.test('missing variables are reported, with how to create a key, without texts of a library', async (t) => {
  t.equal(
    refusal({}),
    'invalid configuration:\n  SVC_DATABASE_URL: is missing\n' +
      '  SVC_ENCRYPTION_KEY: is missing; create one with: openssl rand -base64 32',
  )
  const wrong = {
    SVC_MODE: 'x',
    SVC_PORT: '99999',
    SVC_IDENTITY: 'x',
    SVC_SSL_REQUIRED: 'x',
    SVC_TRUST_PROXY: 'x',
    SVC_PORTAL_URL: 'x',
    SVC_INVITE_SECONDS: '1',
    SVC_SMTP_URL: 'x',
    SVC_RATE_LIMITS: 'x',
    SVC_FEE_PERCENTAGE: '1.5',
    SVC_FEE_FLAT: '0,20',
    SVC_BANK_HOLIDAYS: 'x',
    SVC_PUBLIC_URL: 'x',
    SVC_LOG_LEVEL: 'x',
    SVC_WEBHOOK_ALLOW_PRIVATE: 'x',
    SVC_WEBHOOK_TIME_SCALE: 'x',
    SVC_ENCRYPTION_KEY: '???',
    SVC_ENCRYPTION_KEY_PREVIOUS: '???',
  }
  const message = refusal(wrong)
  for (const name of Object.keys(wrong)) t.match(message, new RegExp(`${name}: must be `))
  t.notMatch(message, /Invalid|expected|received|Too/)
})

const REFUSED: [name: string, env: NodeJS.ProcessEnv, message: RegExp][] = [
  ['no database', { SVC_DATABASE_URL: undefined }, /SVC_DATABASE_URL/],
  [
    'another kind of address',
    { SVC_DATABASE_URL: 'mysql://svc:c4n4ryPassword@db/svc' },
    /SVC_DATABASE_URL: must be a postgres/,
  ],
  [
    'another kind of address for migrations',
    { SVC_MIGRATION_DATABASE_URL: 'c4n4ryPassword' },
    /SVC_MIGRATION_DATABASE_URL/,
  ],
  ['no key', { SVC_ENCRYPTION_KEY: undefined }, /SVC_ENCRYPTION_KEY/],
  [
    'a key of 31 bytes',
    { SVC_ENCRYPTION_KEY: Buffer.alloc(31, 1).toString('base64') },
    /SVC_ENCRYPTION_KEY: must be 32 bytes/,
  ],
  [
    'a key of 33 bytes',
    { SVC_ENCRYPTION_KEY: Buffer.alloc(33, 1).toString('base64') },
    /SVC_ENCRYPTION_KEY: must be 32 bytes/,
  ],
  ['a key that is no base64', { SVC_ENCRYPTION_KEY: 'c4n4ryPassword c4n4ryPassword c4n4ry' }, /SVC_ENCRYPTION_KEY/],
  [
    'six previous keys',
    { SVC_ENCRYPTION_KEY_PREVIOUS: Array.from({ length: 6 }, () => randomBytes(32).toString('base64')).join(',') },
    /SVC_ENCRYPTION_KEY_PREVIOUS: must be at most 5 keys/,
  ],
  [
    'a previous key that is none',
    { SVC_ENCRYPTION_KEY_PREVIOUS: `${randomBytes(32).toString('base64')},c4n4ryPassword` },
    /SVC_ENCRYPTION_KEY_PREVIOUS: must be keys of 32 bytes/,
  ],
  ['the key as a previous one', { SVC_ENCRYPTION_KEY_PREVIOUS: KEY }, /SVC_ENCRYPTION_KEY_PREVIOUS repeats a key/],
  [
    'a previous key twice, written in two ways',
    {
      SVC_ENCRYPTION_KEY_PREVIOUS: `${Buffer.alloc(32, 7).toString('base64')}, ${Buffer.alloc(32, 7).toString('base64').replace('c=', 'd=')}`,
    },
    /SVC_ENCRYPTION_KEY_PREVIOUS repeats a key/,
  ],
  ['a key in hex', { SVC_ENCRYPTION_KEY: 'ab'.repeat(32) }, /SVC_ENCRYPTION_KEY/],
  ...['-1', '65536', '1.5', '1e3', '0x50', ' 80', '80 ', 'http', '80,81'].map(
    (port): [string, NodeJS.ProcessEnv, RegExp] => [`the port ${port}`, { SVC_PORT: port }, /SVC_PORT/],
  ),
  ...['c4n4ry', '2027-02-30', '2027-05-07,', '07.05.2027', '2027-05-07 2027-05-10', '2027-05-07,-2027-05-07'].map(
    (days): [string, NodeJS.ProcessEnv, RegExp] => [
      `the holidays ${days}`,
      { SVC_BANK_HOLIDAYS: days },
      /^invalid configuration:\n  SVC_BANK_HOLIDAYS: must be dates such as/,
    ],
  ),
  ...[
    'GBP',
    'GBP=1',
    'USD=20-20-15 55555555',
    'GBP=20201555555555,GBP=20201555555555',
    'EUR=DE89370400440532013001',
  ].map((accounts): [string, NodeJS.ProcessEnv, RegExp] => [
    `payout accounts ${accounts}`,
    { SVC_PAYOUT_ACCOUNTS: accounts },
    /^invalid configuration:\n  SVC_PAYOUT_ACCOUNTS: must be accounts by currency/,
  ]),
  ...['202', '20201555555555,', 'GBP=20201555555555', '55555555=5555', '55555555=', 'é'.repeat(8), '1'.repeat(65)].map(
    (accounts): [string, NodeJS.ProcessEnv, RegExp] => [
      `accounts of statements ${accounts}`,
      { SVC_STATEMENT_ACCOUNTS: accounts },
      /^invalid configuration:\n  SVC_STATEMENT_ACCOUNTS: must be accounts separated by commas, such as/,
    ],
  ),
  ...['20000055779911:Name', 'UK.OBIE.PAN:20000055779911:Name', 'UK.OBIE.SortCodeAccountNumber:2000005577991:Name'].map(
    (account): [string, NodeJS.ProcessEnv, RegExp] => [
      `the collection account ${account}`,
      { SVC_COLLECTION_ACCOUNT: account },
      /^invalid configuration:\n  SVC_COLLECTION_ACCOUNT: must be scheme, number and name/,
    ],
  ),
  [
    'banks without an account to credit',
    { SVC_BANK_PROFILES: '/etc/svc/profiles.yaml' },
    /SVC_BANK_PROFILES needs SVC_COLLECTION_ACCOUNT/,
  ],
  ['a payer that no bank could write', { SVC_PAYOUT_NAME: 'Café' }, /SVC_PAYOUT_NAME: must be at most 70 of/],
  ['no time for the database', { SVC_DATABASE_TIMEOUT_FACTOR: '0' }, /SVC_DATABASE_TIMEOUT_FACTOR/],
  ['hours for the database', { SVC_DATABASE_TIMEOUT_FACTOR: '11' }, /SVC_DATABASE_TIMEOUT_FACTOR/],
  ['a pool of none', { SVC_DATABASE_POOL: '0' }, /SVC_DATABASE_POOL/],
  ['a consent of no time', { SVC_CONSENT_SECONDS: '0' }, /SVC_CONSENT_SECONDS/],
  ['a consent of a fraction', { SVC_CONSENT_SECONDS: '1.5' }, /SVC_CONSENT_SECONDS/],
  ['a mode that is none', { SVC_MODE: 'Live' }, /SVC_MODE/],
  ['an identity that is none', { SVC_IDENTITY: 'ldap' }, /SVC_IDENTITY/],
  ['Keycloak that is nowhere', { SVC_IDENTITY: 'keycloak', SVC_KEYCLOAK_CLIENT_SECRET: 's' }, /needs SVC_AUTH_URL/],
  ['Keycloak without a secret', { SVC_IDENTITY: 'keycloak', SVC_AUTH_URL: 'https://id.example' }, /CLIENT_SECRET/],
  ['Keycloak by another protocol', { SVC_AUTH_URL: 'ldap://id.example' }, /SVC_AUTH_URL: must be an http/],
  [
    'live with Keycloak in clear',
    {
      SVC_MODE: 'live',
      SVC_IDENTITY: 'keycloak',
      SVC_AUTH_URL: 'http://id.example',
      SVC_KEYCLOAK_CLIENT_SECRET: 's',
    },
    /SVC_AUTH_URL must be an https/,
  ],
  ['a level that is none', { SVC_LOG_LEVEL: 'loud' }, /SVC_LOG_LEVEL/],
  ['a public address that is none', { SVC_PUBLIC_URL: 'pay.example' }, /SVC_PUBLIC_URL/],
  ['a public address that is a script', { SVC_PUBLIC_URL: 'javascript:alert(1)' }, /SVC_PUBLIC_URL/],
  ['a flag that is none', { SVC_WEBHOOK_ALLOW_PRIVATE: 'yes' }, /SVC_WEBHOOK_ALLOW_PRIVATE/],
  ['a time scale below one', { SVC_WEBHOOK_TIME_SCALE: '0.5' }, /SVC_WEBHOOK_TIME_SCALE/],
  ['live without identities', { SVC_MODE: 'live', SVC_IDENTITY: 'none' }, /SVC_IDENTITY=none.*live/],
  ['live without mail', { SVC_MODE: 'live' }, /SVC_SMTP_URL must be set/],
  ['live without a choice about caps', { SVC_MODE: 'live' }, /SVC_VRP_CAPS must be set/],
  ['live without a word about proxies', { SVC_MODE: 'live' }, /SVC_TRUST_PROXY must be set/],
  ['live without TLS', { SVC_MODE: 'live', SVC_SSL_REQUIRED: 'none' }, /SVC_SSL_REQUIRED=none/],
  ['fees of more than everything', { SVC_FEE_PERCENTAGE: '1' }, /SVC_FEE_PERCENTAGE/],
  ['a mail server that is a web server', { SVC_SMTP_URL: 'http://c4n4ry:c4n4ry@mail' }, /SVC_SMTP_URL/],
  ['alerts to what is no address', { SVC_ALERT_URL: 'c4n4ry' }, /SVC_ALERT_URL: must be an http/],
  ['alerts by mail to nobody', { SVC_ALERT_MAIL: 'c4n4ry' }, /SVC_ALERT_MAIL: must be a mail address/],
  ['alerts by mail without a server', { SVC_ALERT_MAIL: 'ops@pay.example' }, /SVC_ALERT_MAIL needs SVC_SMTP_URL/],
  ['texts by another protocol', { SVC_SMS_URL: 'sms://c4n4ry@texts.example' }, /SVC_SMS_URL: must be an http/],
  ['a token for texts that is no header', { SVC_SMS_TOKEN: 'c4n4ry\nx' }, /SVC_SMS_TOKEN: must be printable ASCII/],
  [
    'live with texts in clear',
    { SVC_MODE: 'live', SVC_SMS_URL: 'http://texts.example' },
    /SVC_SMS_URL must be an https/,
  ],
  [
    'live with alerts in clear',
    { SVC_MODE: 'live', SVC_ALERT_URL: 'http://pager.example' },
    /SVC_ALERT_URL must be an https/,
  ],
  ['live with shortened retries', { SVC_MODE: 'live', SVC_WEBHOOK_TIME_SCALE: '60' }, /SVC_WEBHOOK_TIME_SCALE/],
  [
    'live with payouts at the mock bank',
    { SVC_MODE: 'live', SVC_PAYOUT_CONNECTOR: 'mock' },
    /SVC_PAYOUT_CONNECTOR=mock/,
  ],
  ['payouts by another way', { SVC_PAYOUT_CONNECTOR: 'post' }, /SVC_PAYOUT_CONNECTOR/],
  ['live over http', { SVC_MODE: 'live', SVC_PUBLIC_URL: 'http://pay.example' }, /SVC_PUBLIC_URL must be an https/],
  ['live without an address of its own', { SVC_MODE: 'live' }, /SVC_PUBLIC_URL must be an https/],
  ['live to private addresses', { SVC_MODE: 'live', SVC_WEBHOOK_ALLOW_PRIVATE: 'true' }, /SVC_WEBHOOK_ALLOW_PRIVATE/],
  [
    'live on the loopback',
    { SVC_MODE: 'live', SVC_HOST: '127.0.0.1', SVC_IDENTITY: 'none' },
    /SVC_IDENTITY=none.*live/,
  ],
  ...['0.0.0.0', '::', '10.0.0.1', 'svc.example', '127.0.0.1.evil.example', '0', 'LOCALHOST.', '*'].map(
    (host): [string, NodeJS.ProcessEnv, RegExp] => [
      `no identities on ${host}`,
      { SVC_HOST: host, SVC_IDENTITY: 'none' },
      /SVC_IDENTITY=none trusts any caller/,
    ],
  ),
]

t.test('invalid or unsafe variables are rejected by name, without their values', async (t) => {
  for (const [name, changes, message] of REFUSED) {
    const told = refusal({ ...GOOD, ...changes })
    t.match(told, message, name)
    t.notMatch(told, /c4n4ry/, name)
    t.notOk(told.includes(KEY) || told.includes('ababab'), name)
  }
})

const LIVE = {
  ...GOOD,
  SVC_MODE: 'live',
  SVC_PUBLIC_URL: 'https://pay.example',
  SVC_SMTP_URL: 'smtps://svc:c4n4ryPassword@mail.example',
  SVC_TRUST_PROXY: 'true',
  SVC_VRP_CAPS: 'enforce',
}

t.test('live mode accepts a valid configuration on any address', async (t) => {
  const config = readConfig({ ...LIVE, SVC_HOST: '0.0.0.0' })
  t.match(config, { identity: 'embedded', sslRequired: 'external', rateLimits: true, webhookAllowPrivate: false })
  t.equal(readConfig({ ...LIVE, SVC_SSL_REQUIRED: 'all' }).sslRequired, 'all')
  const always = ['OWNER', 'OPS', 'ADMIN', 'DEVELOPER']
  t.same(config.secondFactorRoles, new Set(always))
  t.same(readConfig({ ...LIVE, SVC_SECOND_FACTOR: 'FINANCE' }).secondFactorRoles, new Set([...always, 'FINANCE']))
  t.same(readConfig({ ...GOOD, SVC_SECOND_FACTOR: 'SUPPORT, ADMIN' }).secondFactorRoles, new Set(['SUPPORT', 'ADMIN']))
  t.throws(() => readConfig({ ...GOOD, SVC_SECOND_FACTOR: 'BOSS' }), /SVC_SECOND_FACTOR: must be roles/)
  const texts = { SVC_SMS_URL: 'https://texts.example/send', SVC_SMS_TOKEN: 't' }
  t.same(readConfig({ ...LIVE, ...texts }).sms, { url: 'https://texts.example/send', token: 't' })
})

t.test('Keycloak is found by its address, with the client that is made for the service', async (t) => {
  const env = {
    SVC_IDENTITY: 'keycloak',
    SVC_AUTH_URL: 'https://id.example/auth/',
    SVC_KEYCLOAK_CLIENT_SECRET: 's3cret',
  }
  const keycloak = { authUrl: 'https://id.example/auth', clientId: 'svc-provisioner', clientSecret: 's3cret' }
  t.match(readConfig({ ...LIVE, ...env }), { identity: 'keycloak', keycloak })
  t.match(
    readConfig({ ...GOOD, ...env }),
    { keycloak, sslRequired: 'external' },
    'where Keycloak has TLS it is asked for',
  )
  t.equal(readConfig({ ...GOOD, ...env, SVC_IDENTITY: 'embedded' }).keycloak, undefined)
})

t.test('live mode reports missing variables, and no problem of unset ones', async (t) => {
  t.notMatch(refusal({ ...GOOD, SVC_MODE: 'live' }), /SVC_SSL_REQUIRED|SVC_IDENTITY/)
})

t.test('callers are authenticated unless every condition of the exception holds', async (t) => {
  for (const identity of ['embedded', 'none'])
    for (const host of ['127.0.0.1', '0.0.0.0'])
      for (const base of [GOOD, LIVE]) {
        const message = refusal({ ...base, SVC_HOST: host, SVC_IDENTITY: identity })
        const isFine = identity === 'embedded' || (host === '127.0.0.1' && base === GOOD)
        t.equal(message === '', isFine, `${identity} on ${host}${base === LIVE ? ', live' : ''}`)
      }
})

t.test('the loopback has several names', async (t) => {
  for (const host of ['127.0.0.1', '::1', 'localhost'])
    t.equal(readConfig({ ...GOOD, SVC_HOST: host, SVC_IDENTITY: 'none' }).host, host)
})

t.test('webhooks reach private addresses unasked only in a sandbox that no others reach', async (t) => {
  const allows = (env: NodeJS.ProcessEnv) => readConfig({ ...GOOD, ...env }).webhookAllowPrivate
  for (const SVC_HOST of ['127.0.0.1', '::1', 'localhost'])
    for (const SVC_PUBLIC_URL of ['', 'http://localhost:8080', 'http://127.0.0.1:8080/', 'http://[::1]:8080'])
      t.equal(allows({ SVC_HOST, SVC_PUBLIC_URL }), true, `${SVC_HOST} as ${SVC_PUBLIC_URL}`)
  for (const env of [
    { SVC_HOST: '0.0.0.0' },
    { SVC_HOST: '::' },
    { SVC_HOST: '10.0.0.5' },
    { SVC_HOST: '0.0.0.0', SVC_PUBLIC_URL: 'http://localhost:8080' },
    { SVC_PUBLIC_URL: 'https://sandbox.example' },
    { SVC_PUBLIC_URL: 'http://localhost.example' },
    { SVC_PUBLIC_URL: 'http://192.168.1.5:8080' },
  ]) {
    t.equal(allows(env), false, JSON.stringify(env))
    t.equal(allows({ ...env, SVC_WEBHOOK_ALLOW_PRIVATE: 'true' }), true, 'where it is asked for')
  }
  t.equal(allows({ SVC_WEBHOOK_ALLOW_PRIVATE: 'false' }), false)
})

t.test('a variable that is set to nothing is not set', async (t) => {
  t.match(readConfig({ ...GOOD, SVC_PORT: '', SVC_PUBLIC_URL: '', SVC_WEBHOOK_ALLOW_PRIVATE: '' }), {
    port: 8080,
    webhookAllowPrivate: true,
  })
  t.match(refusal({ ...GOOD, SVC_ENCRYPTION_KEY: '' }), /SVC_ENCRYPTION_KEY/)
})

t.test('bank holidays are those that are known, with the configured ones added and taken away', async (t) => {
  const holidays = (SVC_BANK_HOLIDAYS: string) => readConfig({ ...GOOD, SVC_BANK_HOLIDAYS }).holidays
  const changed = holidays(' 2027-05-07, -2027-05-03')
  t.same(
    ['2027-05-07', '2027-05-03', '2027-12-27'].map((day) => changed.has(day)),
    [true, false, true],
  )
  t.same(holidays(''), bankHolidays(), 'nothing changes nothing')
})

t.test('accounts of payment files are kept as digits and IBANs, however they are written', async (t) => {
  const { payoutAccounts } = readConfig({
    ...GOOD,
    SVC_PAYOUT_ACCOUNTS: 'GBP=20-20-15 55555555, EUR = de89 3704 0044 0532 0130 00',
  })
  t.same(
    [...payoutAccounts],
    [
      ['GBP', '20201555555555'],
      ['EUR', 'DE89370400440532013000'],
    ],
  )
})

t.test('accounts of statements are kept once each, a British IBAN as its sort code and account number', async (t) => {
  const { statementAccounts } = readConfig({
    ...GOOD,
    SVC_STATEMENT_ACCOUNTS:
      '20-20-15 55555555, GB33 BUKB 2020 1555 5555 55,de89 3704 0044 0532 0130 00,' +
      '19-2000145399/0800, 5555 5555 = GB33 BUKB 2020 1555 5555 55',
  })
  t.same(
    [...statementAccounts],
    [
      ['20201555555555', '20201555555555'],
      ['DE89370400440532013000', 'DE89370400440532013000'],
      ['192000145399/0800', '192000145399/0800'],
      ['55555555', '20201555555555'],
    ],
  )
})

t.test('the collection account is kept as its parts', async (t) => {
  const { collectionAccount } = readConfig({
    ...GOOD,
    SVC_COLLECTION_ACCOUNT: 'UK.OBIE.SortCodeAccountNumber:20-00-00 55779911:svc Collections',
  })
  t.same(collectionAccount, {
    scheme: 'UK.OBIE.SortCodeAccountNumber',
    identification: '20000055779911',
    name: 'svc Collections',
  })
})

t.test('a slash at the end of the public address is taken off', async (t) => {
  t.equal(readConfig({ ...GOOD, SVC_PUBLIC_URL: 'https://pay.example/' }).publicUrl, 'https://pay.example')
})

t.test('every variable may stand in a file', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-config-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const env = {
    SVC_DATABASE_URL_FILE: file('url', `${GOOD.SVC_DATABASE_URL}\n`),
    SVC_ENCRYPTION_KEY_FILE: file('key', `${KEY}\n`),
    SVC_PORT_FILE: file('port', '9090\n'),
  }
  t.match(readConfig(env), { databaseUrl: GOOD.SVC_DATABASE_URL, encryptionKey: KEY, port: 9090 })
  t.equal(readConfig({ ...env, SVC_PORT: '7070' }).port, 7070, 'the variable itself wins')
  t.match(
    refusal({ ...env, SVC_ENCRYPTION_KEY_FILE: file('bad', 'c4n4ryPassword') }),
    /^(?!.*c4n4ry)[^]*SVC_ENCRYPTION_KEY/,
  )
  t.match(refusal({ ...env, SVC_ENCRYPTION_KEY_FILE: file('empty', '') }), /SVC_ENCRYPTION_KEY/)
})

t.test(
  'an unreadable file is reported by its variable, not by its path, which may be a misplaced secret',
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-config-'))
    t.teardown(() => rmSync(folder, { recursive: true }))
    for (const path of ['c4n4ryPassword', '/nowhere/c4n4ryPassword', folder, '']) {
      const message = refusal({ SVC_DATABASE_URL: GOOD.SVC_DATABASE_URL, SVC_ENCRYPTION_KEY_FILE: path })
      t.match(message, /SVC_ENCRYPTION_KEY/)
      t.notMatch(message, /c4n4ry/)
    }
    writeFileSync(join(folder, 'key'), KEY)
    chmodSync(join(folder, 'key'), 0)
    const message = refusal({ ...GOOD, SVC_ENCRYPTION_KEY: undefined, SVC_ENCRYPTION_KEY_FILE: join(folder, 'key') })
    t.notOk(message.includes(KEY))
  },
)

t.test('previous keys are listed with commas, in a variable or in a file', async (t) => {
  const previous = [randomBytes(32), randomBytes(32)].map((key) => key.toString('base64'))
  t.same(readConfig({ ...GOOD, SVC_ENCRYPTION_KEY_PREVIOUS: previous.join(', ') }).encryptionKeysPrevious, previous)
  const file = join(t.testdir({ previous: `${previous.join(',')}\n` }), 'previous')
  t.same(readConfig({ ...GOOD, SVC_ENCRYPTION_KEY_PREVIOUS_FILE: file }).encryptionKeysPrevious, previous)
  t.same(readKeys({ ...GOOD, SVC_DATABASE_URL: undefined, SVC_ENCRYPTION_KEY_PREVIOUS_FILE: file }), {
    encryptionKey: KEY,
    encryptionKeysPrevious: previous,
  })
  t.throws(() => readKeys({ SVC_ENCRYPTION_KEY: KEY, SVC_ENCRYPTION_KEY_PREVIOUS: KEY }), /repeats a key/)
  t.throws(() => readKeys({}), /SVC_ENCRYPTION_KEY: is missing/)
})
