import { Writable } from 'node:stream'
import t from 'tap'
import { makeLog, redactText } from '../../src/observe/log.ts'

/** Logs with `write` and answers the lines, each as it was written. */
function logged(write: (log: ReturnType<typeof makeLog>) => void, level = 'trace'): string[] {
  const chunks: string[] = []
  const destination = new Writable({
    write: (chunk, _encoding, done) => {
      chunks.push(String(chunk))
      done()
    },
  })
  write(makeLog(level, destination))
  return chunks
    .join('')
    .split('\n')
    .filter((line) => line !== '')
}

const CANARY = 'c4n4ryValue'
const HEX = 'ab'.repeat(32)
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')

const NAMES = [
  'authorization',
  'Authorization',
  'cookie',
  'code',
  'state',
  'token',
  'session_token',
  'sessionToken',
  'checkout_token',
  'checkoutToken',
  'payment_state',
  'paymentState',
  'secret',
  'password',
  'webhook_signing_secret',
  'webhookSigningSecret',
  'webhook_secret',
  'encryptionKey',
  'encryptionKeysPrevious',
  'databaseUrl',
  'migrationDatabaseUrl',
  'redirect_url',
  'redirectUrl',
  'redirect_uri',
  'redirectUri',
  'return_url',
  'returnUrl',
  'debtor_identification',
  'account_number',
  'sort_code',
  'iban',
  'payer_email',
  'payer_phone',
  'contact_normalised',
  'bank_consent_id',
  'SVC_ENCRYPTION_KEY',
  'SVC_ENCRYPTION_KEY_PREVIOUS',
  'SVC_DATABASE_URL',
  'x-payment-state',
  'X-Payment-State',
  'x-checkout-token',
  'X-Checkout-Token',
  'x-service-signature',
  'x-mock-bank-signature',
]

t.test('a secret is redacted by its name, at any depth', async (t) => {
  for (const name of NAMES) {
    const lines = logged((log) => {
      log.info({ [name]: CANARY })
      log.info({ a: { [name]: CANARY } })
      log.info({ a: { b: { c: { d: { [name]: CANARY } } } } })
      log.info({ list: [{ [name]: CANARY }] })
      log.info({ [name]: [CANARY, CANARY] })
      log.info({ [name]: { inner: CANARY } })
      log.info({ [name]: `a "quoted" \\ ${CANARY}` })
      log.child({ [name]: CANARY }).info('bound')
      log.error({ err: new Error('x'), headers: { [name]: CANARY } }, 'failed')
    })
    t.equal(lines.length, 9)
    for (const line of lines) {
      t.notOk(line.includes(CANARY), name)
      t.type(JSON.parse(line), 'object')
    }
  }
})

const TEXTS: [name: string, text: string, canary: string][] = [
  ['64 hex characters', `the secret is ${HEX}.`, HEX],
  ['64 hex characters in capitals', HEX.toUpperCase(), HEX.toUpperCase()],
  ['a bearer token', `Authorization: Bearer abc.${CANARY}-def== and more`, CANARY],
  ['a basic credential', 'authorization: basic YzRuNHJ5OnB3', 'YzRuNHJ5'],
  ['the password of a database', `can't reach postgres://svc:${CANARY}@db.example:5432/svc`, CANARY],
  ['a password without a user', `postgresql://:${CANARY}@db.example/svc`, CANARY],
  ['a code in an address', `GET /payments/return?code=${CANARY}&state=x`, CANARY],
  ['a state in an address', `see "https://a.example/?a=b&state=${CANARY}"`, CANARY],
  ['a signed request in an address', `/redirect-stub?request=${CANARY}.sig`, CANARY],
  ['the master key', `SVC_ENCRYPTION_KEY=${MASTER_KEY}`, MASTER_KEY],
  ['a JWT', `the bank said eyJhbGciOiJQUzI1NiJ9.${CANARY}.c2ln, and more`, CANARY],
  ['a detached signature', `eyJhbGciOiJQUzI1NiJ9..${CANARY}`, CANARY],
  ['a private key', `-----BEGIN PRIVATE KEY-----\n${CANARY}/+a=\n-----END PRIVATE KEY-----`, CANARY],
  ['an IBAN', 'payer GB33BUKB20201555555555 refused', 'GB33BUKB20201555555555'],
  ['a sort code and account number', 'account 20201512345678 refused', '20201512345678'],
]

t.test('a secret is removed by its form, in messages, members and errors', async (t) => {
  for (const [name, text, canary] of TEXTS) {
    const lines = logged((log) => {
      log.info(text)
      log.info({ url: text, nested: { list: [text] } })
      log.error({ err: new Error(text, { cause: new Error(text) }) }, 'failed')
    })
    t.equal(lines.length, 3)
    for (const line of lines) {
      t.notOk(line.includes(canary), name)
      t.type(JSON.parse(line), 'object', 'it is still a line of JSON')
    }
  }
})

t.test('members beside a secret are kept', async (t) => {
  t.equal(
    redactText('postgres://db.example:5432/svc for a@b.example'),
    'postgres://db.example:5432/svc for a@b.example',
  )
  t.equal(redactText('postgres://svc:pw@db.example/svc'), 'postgres://svc:[redacted]@db.example/svc')
  t.equal(redactText('/return?state=abc&x=1'), '/return?state=[redacted]&x=1')
  t.equal(redactText('SVC0307dcff805d4646927a92684c318d83'), 'SVC0307dcff805d4646927a92684c318d83')
  t.equal(
    redactText('01a1fd06-d2d8-79cd-82e1-816a8e7fc1eb evt_1795000000000_abcdefghijklmnop'),
    '01a1fd06-d2d8-79cd-82e1-816a8e7fc1eb evt_1795000000000_abcdefghijklmnop',
  )
  const [line = ''] = logged((log) =>
    log.info({ a: 'postgres://h:5432/db', email: 'x@y.example', n: 12_345_678_901_234 }),
  )
  t.match(JSON.parse(line), { a: 'postgres://h:5432/db', email: 'x@y.example', n: 12_345_678_901_234 })
})

t.test('an error is logged with name, message, code and cause, without its values', async (t) => {
  const error = Object.assign(
    new Error('outer', { cause: Object.assign(new Error('inner'), { code: 'ECONNREFUSED' }) }),
    { values: [CANARY], sql: CANARY, code: '23505' },
  )
  const [line = ''] = logged((log) => log.error({ err: error }, 'failed'))
  t.notOk(line.includes(CANARY))
  t.match(JSON.parse(line), {
    level: 'error',
    msg: 'failed',
    err: {
      type: 'Error',
      message: 'outer',
      error_code: '23505',
      cause: { message: 'inner', error_code: 'ECONNREFUSED' },
    },
  })
})

t.test('a line is one line, whatever is logged', async (t) => {
  const lines = logged((log) =>
    log.info({ path: 'a\nb\r\n{"level":"error","msg":"forged"}' }, 'x\u2028y\n{"forged":true}'),
  )
  t.equal(lines.length, 1)
  t.match(JSON.parse(lines[0] ?? ''), { level: 'info', time: /^\d{4}-\d\d-\d\dT.*Z$/ })
})

t.test('the level is kept', async (t) => {
  t.same(
    logged((log) => log.info('x'), 'warn'),
    [],
  )
  t.same(
    logged((log) => log.fatal('x'), 'silent'),
    [],
  )
})
