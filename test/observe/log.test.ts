import { Writable } from 'node:stream'
import t from 'tap'
import { inSpan } from '../../src/lib/trace.ts'
import { logPlain, makeLog, redactText } from '../../src/observe/log.ts'

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

const BEGINNINGS: [text: string, canary: string][] = [
  [`${HEX} was sent`, HEX],
  [`Bearer abc.${CANARY}-def==`, CANARY],
  ['basic YzRuNHJ5OnB3', 'YzRuNHJ5'],
  [`postgres://svc:${CANARY}@db.example:5432/svc`, CANARY],
  [`eyJhbGciOiJQUzI1NiJ9.${CANARY}.c2ln`, CANARY],
  [`-----BEGIN PRIVATE KEY-----\n${CANARY}/+a=\n-----END PRIVATE KEY-----`, CANARY],
  [`${MASTER_KEY} is the key`, MASTER_KEY],
  ['GB33BUKB20201555555555 refused', 'GB33BUKB20201555555555'],
  ['20201512345678 refused', '20201512345678'],
]

/** In JSON each of these is a backslash with letters, the last of which would be taken for the beginning of a word. */
const ESCAPED = ['\n', '\r\n', '\t', '\b', '\f', '\v', '\u0000', '\u001f', '\ud800', '\\', '"', '\\\n', '\\n', '\\\\b']

const LINES: typeof TEXTS = ESCAPED.flatMap((before) =>
  BEGINNINGS.flatMap(([text, canary]): typeof TEXTS => [
    [`${JSON.stringify(before)} before ${canary}`, `it said:${before}${text}`, canary],
    [`the same within JSON`, JSON.stringify({ it: [`${before}${text}`] }), canary],
  ]),
)

t.test('a secret is removed by its form, in messages, members and errors', async (t) => {
  for (const [name, text, canary] of [...TEXTS, ...LINES]) {
    const lines = logged((log) => {
      log.info(text)
      log.info({ url: text, nested: { list: [text] } })
      log.error({ err: new Error(text, { cause: new Error(text) }) }, 'failed')
      logPlain(log, { client: text }, text)
    })
    t.equal(lines.length, 4)
    for (const line of lines) {
      t.notOk(line.includes(canary), name)
      t.type(JSON.parse(line), 'object', 'it is still a line of JSON')
    }
  }
})

t.test('the letter of an escape is no part of a secret, and stays behind its backslash', async (t) => {
  for (const text of [
    `\n${'A'.repeat(42)}==`,
    `\t${'k'.repeat(42)}=`,
    `\f${HEX.slice(1)}`,
    `\b${HEX.slice(1)}`,
    `\nB33BUKB20201555555555`,
    '\n0201512345678',
  ]) {
    const lines = logged((log) => {
      log.info({ text })
      logPlain(log, { text }, 'plain')
    })
    t.equal(lines.length, 2)
    for (const line of lines) t.equal(JSON.parse(line).text, text)
  }
})

/** Lines without their times, which differ. */
const timeless = (lines: string[]) => lines.map((line) => line.replace(/"time":"[^"]+"/, '"time":""'))

t.test('a plain line is the line of the log itself, whatever is in it', async (t) => {
  const texts = [
    ...TEXTS.map(([, text]) => text),
    ...TEXTS.map(([, , canary]) => canary),
    '',
    'req-12345678901234',
    '12345678901234',
    '12345678901234-0000-7000-8000-000000000000',
    '01a1fd06-d2d8-79cd-82e1-816a8e7fc1eb',
    '01A1FD06-D2D8-79CD-82E1-816A8E7FC1EB',
    'a "quoted" \\ line\n, \u0000 \u2028 \ud800 é',
    '","state":"x',
    '{"state":"x"}',
    'eyJhbGciOi.eyJzdWIi.c2ln',
    HEX.slice(1),
    'x'.repeat(5_000),
  ]
  const values = [
    ...texts,
    200,
    1.5,
    -0,
    12_345_678_901_234,
    0.123_456_789_012_34,
    1e21,
    Number.NaN,
    true,
    null,
    undefined,
  ]
  function compare(name: string, value: string | number | boolean | null | undefined): void {
    const members = { first: 1, [name]: value, last: 'x' }
    const message = typeof value === 'string' ? value : 'request'
    const own = timeless(logged((log) => log.info(members, message)))
    const twice = timeless(
      logged((log) => {
        logPlain(log, members, message)
        logPlain(log, members, message)
      }),
    )
    if (JSON.stringify(twice) !== JSON.stringify([...own, ...own]))
      t.same(twice, [...own, ...own], `${name}: ${JSON.stringify(value)}`)
  }
  for (const value of values)
    for (const name of ['request_id', 'client', 'a "quoted" name', ...NAMES]) compare(name, value)
  // Half of a surrogate pair is an escape in the one line and not in the other, if the text is long.
  const lines = LINES.map(([, text]) => text).filter((text) => text.isWellFormed())
  for (const text of lines) for (const name of ['client', 'secret']) compare(name, text)
  t.same(
    logged((log) => logPlain(log, { a: 1 }, 'quiet'), 'warn'),
    [],
  )
})

t.test('a plain line of a child has its members, and one in a trace the names of the trace', async (t) => {
  const [bound = ''] = logged((log) => logPlain(log.child({ part: 'x' }), { a: 1 }, 'bound'))
  t.match(JSON.parse(bound), { part: 'x', a: 1, msg: 'bound' })
  const traceId = 'ab'.repeat(16)
  const lines: string[] = []
  await inSpan({ name: 'work' }, `00-${traceId}-${'cd'.repeat(8)}-01`, async () => {
    lines.push(...logged((log) => logPlain(log, { a: 1 }, 'traced')))
  })
  t.match(JSON.parse(lines[0] ?? ''), { trace_id: traceId, a: 1, msg: 'traced' })
})

t.test('a log forgets texts, and redacts them again', async (t) => {
  const many = Array.from({ length: 2_500 }, (_, n) => `${n} 20201512345678`)
  const lines = logged((log) => {
    for (const text of [...many, ...many]) logPlain(log, { client: text }, 'request')
  })
  t.equal(lines.length, 5_000)
  t.notOk(lines.some((line) => line.includes('20201512345678')))
  t.equal(JSON.parse(lines.at(-1) ?? '').client, '2499 [redacted]')
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
