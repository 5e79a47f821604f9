import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Test } from 'tap'
import type { Answer, CallOptions } from '../support/app.ts'
import { paymentBody, testService } from '../support/app.ts'
import { rawRequest } from '../support/raw-http.ts'
import { countRows } from '../support/rows.ts'

const service = await testService(t)
const merchant = await service.merchant()

/** Posts a payment with a new idempotency key. */
async function post(options: CallOptions): Promise<Answer> {
  return service.call('POST', '/api/v1/payments', {
    merchant,
    ...options,
    headers: { 'x-idempotency-key': randomUUID(), ...options.headers },
  })
}

type FieldError = { path: string; code: string; message: string }

/** The status of an answer and of its body, its code, and the fields that it rejects. */
function verdict(answer: Answer): [number, number, string, [string, string][]] {
  return [answer.status, answer.body.status, answer.body.code, fields(answer)]
}

/** The result of a check for each named case. */
async function mapCases<C extends readonly [string, ...unknown[]], T>(
  cases: readonly C[],
  check: (each: C) => Promise<T>,
) {
  const entries: [string, T][] = []
  if (new Set(cases.map(([name]) => name)).size < cases.length) throw new TypeError('two cases have the same name')
  for (const each of cases) entries.push([each[0], await check(each)])
  return Object.fromEntries(entries)
}

function fields(answer: Answer): [string, string][] {
  return (answer.body.errors ?? []).map(({ path, code }: FieldError) => [path, code.toUpperCase()])
}

/** Runs an action, and checks that every table has as many rows as before. */
async function changesNothing(t: Test, run: () => Promise<void>): Promise<void> {
  const before = await countRows(service.owner)
  await run()
  t.same(await countRows(service.owner), before, 'every table has as many rows as before')
}

type Case = [name: string, changes: Record<string, unknown>, errors: [string, string][], code?: string]

const INVALID: Case[] = [
  ['a JSON number', { amount: 50 }, [['amount', 'INVALID_TYPE']]],
  ['a float', { amount: 50.1 }, [['amount', 'INVALID_TYPE']]],
  ['an amount of another type', { amount: ['50.00'] }, [['amount', 'INVALID_TYPE']]],
  ['null', { amount: null }, [['amount', 'INVALID_TYPE']]],
  ['no amount', { amount: undefined }, [['amount', 'REQUIRED']]],
  ...[
    '1e3',
    '-1.00',
    '+1.00',
    '',
    ' 50.00',
    '50.00 ',
    '50,00',
    '1,000.00',
    '.50',
    '50.',
    '0x10',
    'NaN',
    'Infinity',
    '٥٠',
    '50.00001',
    '12345678901234',
    '5_0',
  ].map((amount): Case => [`the amount ${JSON.stringify(amount)}`, { amount }, [['amount', 'INVALID']]]),
  ['a tenth of a penny', { amount: '50.001' }, [['amount', 'TOO_PRECISE']]],
  ['a hundredth of a penny', { amount: '0.0001' }, [['amount', 'TOO_PRECISE']]],
  ...['0', '0.00', '0.0000'].map((amount): Case => [`the amount ${amount}`, { amount }, [['amount', 'TOO_SMALL']]]),
  ['a penny above the most', { amount: '1000000.01' }, [['amount', 'TOO_LARGE']]],
  ['13 digits', { amount: '9999999999999.99' }, [['amount', 'TOO_LARGE']]],
  ['no more than the fee', { amount: '0.20' }, [['amount', 'AMOUNT_BELOW_FEE']], 'AMOUNT_BELOW_FEE'],
  ...['gbp', 'GB', 'GBPX', 'G1P', '', 'ＧＢＰ'].map((currency): Case => [
    `the currency ${JSON.stringify(currency)}`,
    { currency },
    [['currency', 'INVALID_FORMAT']],
  ]),
  ['a currency that is a number', { currency: 826 }, [['currency', 'INVALID_TYPE']]],
  ['another valid currency', { currency: 'USD' }, [['currency', 'UNSUPPORTED_CURRENCY']], 'UNSUPPORTED_CURRENCY'],
  ['a payer name of 141 characters', { payer_name: 'x'.repeat(141) }, [['payer_name', 'TOO_LONG']]],
  [
    'a reference that turns its line around',
    { remittance_reference: 'a\u202eb' },
    [['remittance_reference', 'INVALID_FORMAT']],
  ],
  ['a reference of two lines', { remittance_reference: 'a\nb' }, [['remittance_reference', 'INVALID_FORMAT']]],
  [
    'a reference that looks like an end-to-end id',
    { remittance_reference: 'svc0A1b2c3d4e5f6a7' },
    [['remittance_reference', 'INVALID']],
  ],
  ['a reference of 19 characters', { remittance_reference: 'x'.repeat(19) }, [['remittance_reference', 'TOO_LONG']]],
  ['a bank id of 51 characters', { debtor_bank_id: 'x'.repeat(51) }, [['debtor_bank_id', 'TOO_LONG']]],
  [
    'an account of 35 characters',
    { debtor_account_scheme: 'UK.OBIE.IBAN', debtor_identification: `GB${'1'.repeat(33)}` },
    [
      ['debtor_identification', 'TOO_LONG'],
      ['debtor_identification', 'INVALID'],
    ],
  ],
  [
    'an unknown account scheme',
    { debtor_account_scheme: 'UK.OBIE.PAN', debtor_identification: '12345678901234' },
    [['debtor_account_scheme', 'INVALID_VALUE']],
  ],
  [
    'a sort code that is too short',
    { debtor_account_scheme: 'UK.OBIE.SortCodeAccountNumber', debtor_identification: '1234567890123' },
    [['debtor_identification', 'INVALID']],
  ],
  ['an invalid e-mail address', { payer_email: 'nobody' }, [['payer_email', 'INVALID_FORMAT']]],
  ['a phone number without its country', { payer_phone: '07700900123' }, [['payer_phone', 'INVALID_FORMAT']]],
  [
    '21 keys of metadata',
    { metadata: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, 'v'])) },
    [['metadata', 'INVALID']],
  ],
  ['metadata with a number', { metadata: { a: 1 } }, [['metadata.a', 'INVALID_TYPE']]],
  ['an unknown scenario', { scenario: 'no-such-thing' }, [['scenario', 'UNKNOWN_SCENARIO']]],
]

t.test('every invalid field is rejected with its path and changes nothing', async (t) => {
  await changesNothing(t, async () => {
    t.same(
      await mapCases(INVALID, async ([, changes]) => verdict(await post({ body: paymentBody(changes) }))),
      Object.fromEntries(
        INVALID.map(([name, , errors, code = 'VALIDATION_FAILED']) => [name, [400, 400, code, errors]]),
      ),
    )
  })
})

t.test('all invalid fields are reported at once', async (t) => {
  await changesNothing(t, async () => {
    const answer = await post({
      body: { amount: 1, currency: 'x', payer_name: '', nonsense: true },
      headers: { 'x-idempotency-key': 'x'.repeat(256) },
    })
    t.equal(answer.status, 400)
    t.same(
      fields(answer)
        .map(([path]) => path)
        .toSorted(),
      ['amount', 'currency', 'nonsense', 'payer_name', 'redirect_uri', 'x-idempotency-key'],
    )
  })
})

t.test('no column of the database can be set by naming it', async (t) => {
  const known = new Set([
    'amount',
    'currency',
    'redirect_uri',
    'consent_id',
    'consent_type',
    'control_parameters',
    'valid_to',
    'payer_name',
    'debtor_account_scheme',
    'debtor_identification',
    'remittance_reference',
    'debtor_bank_id',
    'payer_email',
    'payer_phone',
    'metadata',
    'scenario',
  ])
  const { rows } = await service.owner.query<{ name: string }>(
    `select distinct column_name as name from information_schema.columns where table_schema = 'public'`,
  )
  const columns = rows.map(({ name }) => name).filter((name) => !known.has(name))
  t.ok(
    columns.length > 60 &&
      columns.includes('status') &&
      columns.includes('merchant_id') &&
      columns.includes('fee_amount'),
  )
  await changesNothing(t, async () => {
    const cases = columns.map((column) => [column] as const)
    t.same(
      await mapCases(cases, async ([column]) => verdict(await post({ body: paymentBody({ [column]: '1' }) }))),
      Object.fromEntries(
        columns.map((column) => [column, [400, 400, 'VALIDATION_FAILED', [[column, 'UNKNOWN_FIELD']]]]),
      ),
    )
  })
})

const base = JSON.stringify(paymentBody())
function withMember(member: string): string {
  return base.replace('{', `{${member},`)
}

type RawCase = [name: string, options: CallOptions, status: number, code: string]
const MALFORMED: RawCase[] = [
  ['broken JSON', { raw: base.slice(0, -1) }, 400, 'INVALID_JSON'],
  ['two values', { raw: base + base }, 400, 'INVALID_JSON'],
  ['a comment', { raw: `/* hello */${base}` }, 400, 'INVALID_JSON'],
  ['white space only', { raw: '  \n' }, 400, 'INVALID_JSON'],
  ['a byte order mark', { raw: `\uFEFF${base}` }, 400, 'INVALID_JSON'],
  [
    'bytes that are not UTF-8',
    { raw: Buffer.from(withMember('"payer_name":"\xff\xfe"'), 'latin1') },
    400,
    'INVALID_JSON',
  ],
  ['U+0000 written out', { raw: withMember(String.raw`"payer_name":"a\u0000b"`) }, 400, 'INVALID_JSON'],
  ['U+0000 as a byte', { raw: withMember('"payer_name":"a\u0000b"') }, 400, 'INVALID_JSON'],
  ['U+0000 in a key', { raw: withMember(String.raw`"metadata":{"a\u0000":"b"}`) }, 400, 'INVALID_JSON'],
  ['half of a surrogate pair', { raw: withMember(String.raw`"payer_name":"a\ud800b"`) }, 400, 'INVALID_JSON'],
  ['the other half', { raw: withMember(String.raw`"payer_name":"\udc00"`) }, 400, 'INVALID_JSON'],
  [
    'arrays 40,000 deep',
    { raw: withMember(`"metadata":${'['.repeat(40_000)}${']'.repeat(40_000)}`) },
    400,
    'INVALID_JSON',
  ],
  ['objects 33 deep', { raw: withMember(`"metadata":${'{"a":'.repeat(33)}1${'}'.repeat(33)}`) }, 400, 'INVALID_JSON'],
  [
    '3,000 members',
    { raw: withMember(Array.from({ length: 3_000 }, (_, i) => `"k${i}":1`).join(',')) },
    400,
    'INVALID_JSON',
  ],
  ['__proto__', { raw: withMember('"__proto__":{"amount":"1.00"}') }, 400, 'INVALID_JSON'],
  ['__proto__ in metadata', { raw: withMember('"metadata":{"__proto__":"x"}') }, 400, 'INVALID_JSON'],
  ['a length that is no number', { raw: '{"amount":{"length":{"valueOf":"x","toString":"y"}}}' }, 400, 'INVALID_JSON'],
  ['a list as length', { raw: withMember('"metadata":{"length":[]}') }, 400, 'INVALID_JSON'],
  ['a length that is a text', { raw: '{"amount":{"length":"x"}}' }, 400, 'VALIDATION_FAILED'],
  ['constructor', { raw: withMember('"constructor":"x"') }, 400, 'VALIDATION_FAILED'],
  ['an array', { raw: '[]' }, 400, 'VALIDATION_FAILED'],
  ['null', { raw: 'null' }, 400, 'VALIDATION_FAILED'],
  ['a string', { raw: '"amount"' }, 400, 'VALIDATION_FAILED'],
  ['no body', {}, 400, 'VALIDATION_FAILED'],
  ['an empty body', { raw: '' }, 400, 'VALIDATION_FAILED'],
  ['no media type', { raw: base, headers: { 'content-type': '' } }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  [
    'a form',
    { raw: 'amount=50.00', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    415,
    'UNSUPPORTED_MEDIA_TYPE',
  ],
  ['text', { raw: base, headers: { 'content-type': 'text/plain' } }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
  [
    'a media type that only begins like JSON',
    { raw: base, headers: { 'content-type': 'application/jsonp' } },
    415,
    'UNSUPPORTED_MEDIA_TYPE',
  ],
  ['one byte too many', { raw: base.padEnd(100 * 1024 + 1) }, 413, 'BODY_TOO_LARGE'],
]

t.test('a body is rejected where the operation takes none', async (t) => {
  await service.call('POST', '/api/v1/portal/team', { merchant, body: { email: 'ada@acme.example', role: 'ADMIN' } })
  const { body: member } = await service.call('POST', '/api/v1/portal/team', {
    merchant,
    body: { email: 'bea@acme.example', role: 'FINANCE' },
  })
  const path = `/api/v1/portal/team/${member.id}`
  for (const raw of ['{}', 'not JSON', base.padEnd(100 * 1024 + 1)]) {
    for (const type of ['application/json', 'text/plain']) {
      const answer = await service.call('DELETE', path, { merchant, raw, headers: { 'content-type': type } })
      t.match(answer, {
        status: 400,
        body: { code: 'VALIDATION_FAILED', errors: [{ path: '', code: 'NOT_APPLICABLE', message: 'must be omitted' }] },
      })
    }
  }
  t.match((await service.call('GET', '/api/v1/portal/team', { merchant })).body, { data: { length: 2 } })
  const raw = (chunks: string) =>
    rawRequest(
      service.app.config.port,
      `DELETE ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Merchant-Client-Id: ${merchant.clientId}\r\n${chunks}`,
    )
  t.match(await raw('Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n'), { status: 400, text: /must be omitted/ })
  const chunks = `4000\r\n${' '.repeat(0x4000)}\r\n`.repeat(10)
  const both = await rawRequest(
    service.app.config.port,
    `GET /api/v1/banks HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n` +
      'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
  )
  t.same(
    [...both.text.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]),
    ['400', '200'],
    'its connection carries the next request',
  )
  t.equal((await raw('Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n')).status, 200, 'an empty body is none')
  t.equal((await raw('Content-Length: 0\r\n\r\n')).status, 200)
  t.match(await service.call('DELETE', path, { merchant }), { status: 200 })
})

t.test('a malformed body is rejected as a whole and changes nothing', async (t) => {
  await changesNothing(t, async () => {
    t.same(
      await mapCases(MALFORMED, async ([, options]) => {
        const { status, body } = await post(options)
        return [status, body.code, body.status]
      }),
      Object.fromEntries(MALFORMED.map(([name, , status, code]) => [name, [status, code, status]])),
    )
  })
})

t.test('the largest body that is allowed is read', async (t) => {
  t.equal((await post({ raw: base.padEnd(100 * 1024) })).status, 201)
})

t.test('JSON with a charset is JSON', async (t) => {
  t.equal((await post({ raw: base, headers: { 'content-type': 'Application/JSON; charset=utf-8' } })).status, 201)
})

t.test('of a duplicate key the last value counts, and the audit trail keeps both', async (t) => {
  const raw = withMember('"amount": "1.00"')
  const answer = await post({ raw })
  t.match(answer, { status: 201, body: { gross_amount: '50.00' } })
  const { rows } = await service.owner.query(
    'select raw_payload::text as text from payment_events where payment_intent_id = $1',
    [answer.body.payment_id],
  )
  t.same(rows, [{ text: raw }])
})

t.test('an idempotency key is 1 to 255 printable characters', async (t) => {
  await changesNothing(t, async () => {
    const missing = await service.call('POST', '/api/v1/payments', { merchant, body: paymentBody() })
    t.match(missing, { status: 400, body: { code: 'IDEMPOTENCY_KEY_MISSING', next: /UUID/ } })
    for (const key of ['', 'x'.repeat(256), 'a\tb', 'caf\u00e9']) {
      const answer = await post({ body: paymentBody(), headers: { 'x-idempotency-key': key } })
      t.match(answer, { status: 400, body: { code: 'VALIDATION_FAILED' } }, JSON.stringify(key))
      t.same(fields(answer), [['x-idempotency-key', 'INVALID_FORMAT']])
    }
  })
  t.equal((await post({ body: paymentBody(), headers: { 'x-idempotency-key': 'x'.repeat(255) } })).status, 201)
})

// Addresses that a browser must not be sent to, or that parsers read differently.

const HOSTILE_URLS = [
  '',
  ' ',
  'shop',
  '/return',
  '//evil.example',
  '///evil.example',
  '\\\\evil.example',
  'https:',
  'https://',
  'https:///evil.example',
  'https:evil.example',
  'https:/evil.example',
  'https:\\\\evil.example',
  'https:/\\evil.example',
  'https://shop.example\\@evil.example',
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'java\nscript:alert(1)',
  ' javascript:alert(1)',
  '\tjavascript:alert(1)',
  'javascript://shop.example/%0aalert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  'file:///etc/passwd',
  'blob:https://shop.example/x',
  'ftp://shop.example/',
  'ws://shop.example/',
  'mailto:a@shop.example',
  'about:blank',
  'view-source:https://shop.example/',
  'http://shop.example/return',
  'http://localhost.evil.example/',
  'http://127.0.0.1.evil.example/',
  'http://10.0.0.1/',
  'http://169.254.169.254/latest',
  'https://good.example@evil.example/',
  'https://user:password@shop.example/',
  'https://:@shop.example/',
  'https://shop.example%40evil.example/',
  'https://203.0.113.7/',
  'https://192.168.0.1/',
  'https://[2001:db8::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://0/',
  'https://3405803783/',
  'https://2130706433/',
  'https://0x7f.1/',
  'https://0x7f000001/',
  'https://0177.0.0.1/',
  'https://127.1/',
  'https://shop.example/a b',
  'https://shop.example/\u0000',
  'https://shop.example/\r\nset-cookie: a=b',
  'https://shop.example/\u007f',
  'https://shop\u3002example/',
  'https://shop\uFF0Eexample/',
  'https://\u0455hop.example/',
  'https://%65vil.example/',
  'https://shop.example:99999/',
  'https://shop.example:x/',
  'https://shop.example /',
  'https://exa mple/',
  'https://<script>/',
  `https://shop.example/${'x'.repeat(2048)}`,
]

t.test('a hostile redirect_uri is rejected and changes nothing', async (t) => {
  t.ok(HOSTILE_URLS.length >= 60)
  await changesNothing(t, async () => {
    const cases = HOSTILE_URLS.map((url) => [url] as const)
    t.same(
      await mapCases(cases, async ([redirect_uri]) => {
        const answer = await post({ body: paymentBody({ redirect_uri }) })
        const isNamed = fields(answer).some(([path]) => path === 'redirect_uri')
        return [answer.status, answer.body.code === 'INVALID_JSON' || isNamed]
      }),
      Object.fromEntries(HOSTILE_URLS.map((url) => [url, [400, true]])),
    )
  })
})

t.test('the addresses that shops have are accepted', async (t) => {
  const good = [
    'https://shop.example',
    'https://shop.example/',
    'https://SHOP.example/Return',
    'https://shop.example:8443/r?order=1&x=%20#part',
    'https://shop.example:443/',
    'https://xn--hop-e7c.example/',
    'http://localhost:3000/return',
    'http://127.0.0.1:3000/',
    'http://[::1]:3000/',
  ]
  const cases = good.map((url) => [url] as const)
  t.same(
    await mapCases(cases, async ([redirect_uri]) => (await post({ body: paymentBody({ redirect_uri }) })).status),
    Object.fromEntries(good.map((url) => [url, 201])),
  )
})

type QueryCase = [query: string, paths: string[]]
const BAD_QUERIES: QueryCase[] = [
  ['limit=0', ['limit']],
  ['limit=101', ['limit']],
  ['limit=-1', ['limit']],
  ['limit=abc', ['limit']],
  ['limit=1.5', ['limit']],
  ['limit=', ['limit']],
  ['limit=1e1', ['limit']],
  ['limit=0x10', ['limit']],
  ['limit=5&limit=6', ['limit']],
  ['limit=%ff', ['limit']],
  ['status=settled', ['status']],
  ['status=Settled&status=Failed', ['status']],
  ['status=', ['status']],
  ['from=yesterday', ['from']],
  ['from=2026-01-01', ['from']],
  ['from=2026-02-30T00:00:00Z', ['from']],
  ['from=0000-01-01T00:00:00Z', ['from']],
  ['to=9999-12-31T23:59:59-23:00', ['to']],
  ['from=2026-01-01T00:00:00', ['from']],
  ['min_amount=1e3', ['min_amount']],
  ['max_amount=-1', ['max_amount']],
  ['currency=gbp', ['currency']],
  ['end_to_end_id=%00', ['end_to_end_id']],
  [`end_to_end_id=${'x'.repeat(36)}`, ['end_to_end_id']],
  ['bank_id=a%00b', ['bank_id']],
  ['cursor=x', ['cursor']],
  ['cursor=%00', ['cursor']],
  [`cursor=${'x'.repeat(257)}`, ['cursor']],
  ['nope=1', ['nope']],
  ['__proto__=1', ['__proto__']],
  ['constructor=1', ['constructor']],
  ['merchant_id=1&limit=0', ['limit', 'merchant_id']],
]

t.test('an invalid query is rejected with the name of the parameter', async (t) => {
  t.same(
    await mapCases(BAD_QUERIES, async ([query]) => {
      const answer = await service.call('GET', `/api/v1/payments?${query}`, { merchant })
      const paths = fields(answer).map(([path]) => path)
      return [answer.status, answer.body.code, paths.toSorted()]
    }),
    Object.fromEntries(BAD_QUERIES.map(([query, paths]) => [query, [400, 'VALIDATION_FAILED', paths]])),
  )
  t.match(await service.call('GET', '/api/v1/payments?limit=100&from=2024-01-01T00:00:00%2B23:00', { merchant }), {
    status: 200,
  })
})

t.test('an operation without query parameters rejects one', async (t) => {
  const answer = await service.call('POST', '/api/v1/payments?amount=1.00', {
    merchant,
    headers: { 'x-idempotency-key': randomUUID() },
    body: paymentBody(),
  })
  t.match(answer, { status: 400, body: { errors: [{ path: 'amount', code: 'UNKNOWN_FIELD' }] } })
})

t.test('the body of sca-complete is strict, and its errors are of the form that was meant', async (t) => {
  const { body } = await post({ body: paymentBody() })
  const path = `/api/v1/payments/${body.payment_id}/sca-complete`
  await changesNothing(t, async () => {
    for (const sent of [
      {},
      { state: 'x' },
      { state: 'x', code: 1 },
      { state: 'x', code: 'y', error: 'z' },
      { code: 'y' },
      { state: 'x', code: 'y', status: 'Settled' },
    ]) {
      const answer = await service.call('POST', path, { body: sent })
      t.match(answer, { status: 400, body: { code: 'VALIDATION_FAILED' } }, JSON.stringify(sent))
      t.ok(fields(answer).length > 0)
    }
  })
  t.match(await service.call('POST', path, { body: { state: 'x', code: 1 } }), {
    body: { errors: [{ path: 'code', code: 'INVALID_TYPE' }] },
  })
})

t.test('the bodies of refunds and of the webhook endpoint reject unknown fields', async (t) => {
  const { body } = await post({ body: paymentBody() })
  await changesNothing(t, async () => {
    for (const sent of [
      { amount: 10 },
      { amount: '-1' },
      { status: 'Refunded' },
      { refunded_amount: '1.00' },
      { reason: 'x'.repeat(256) },
    ]) {
      t.match(await service.call('POST', `/api/v1/payments/${body.payment_id}/refund`, { merchant, body: sent }), {
        status: 400,
        body: { code: 'VALIDATION_FAILED' },
      })
    }
    t.match(
      await service.call('POST', `/api/v1/payments/${body.payment_id}/cancel`, {
        merchant,
        body: { status: 'Failed' },
      }),
      { status: 400 },
    )
    for (const sent of [{}, { webhook_url: 1 }, { webhook_url: 'https://a.example/', extra: 1 }, { webhook_url: '' }]) {
      t.match(await service.call('PUT', '/api/v1/portal/webhook-endpoint', { merchant, body: sent }), {
        status: 400,
        body: { code: 'VALIDATION_FAILED' },
      })
    }
  })
})
