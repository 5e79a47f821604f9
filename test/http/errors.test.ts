import { randomUUID } from 'node:crypto'
import t from 'tap'
import { request } from 'undici'
import { ERROR_STATUS } from '../../src/http/error-status.ts'
import { ROUTES } from '../../src/http/routes.ts'
import { ERROR_TEXTS } from '../../src/lib/error-texts.ts'
import type { ErrorCode } from '../../src/lib/errors.ts'
import { ErrorBody } from '../../src/wire/common.ts'
import type { Answer, TestMerchant } from '../support/app.ts'
import { atBank, authorisedPayment, createPayment, paymentBody, testService } from '../support/app.ts'
import { somePath } from '../support/realms.ts'
import { countRows } from '../support/rows.ts'

const service = await testService(t)
const merchant = await service.merchant()
const other = await service.merchant()

/** The body of decision 29, whole: no member missing, none too many, and none that shows the inside. */
function isErrorBody(answer: Answer, status: number, code: string): string | undefined {
  if (answer.status !== status) return `status ${answer.status} ${answer.text}`
  const body = ErrorBody.strict().safeParse(answer.body)
  if (!body.success) return body.error.message
  if (body.data.code !== code || body.data.status !== status) return answer.text
  if (Object.keys(answer.body)[0] !== 'error') return 'error does not come first'
  if (body.data.type !== `${service.app.publicUrl}/errors/${code.toLowerCase().replaceAll('_', '-')}`)
    return body.data.type
  if (answer.headers['x-request-id'] !== body.data.request_id) return 'another request id in the header'
  if (answer.headers['content-type'] !== 'application/json; charset=utf-8')
    return String(answer.headers['content-type'])
  if (answer.headers['cache-control'] !== 'no-store') return 'it may be cached'
  if (/\bat \/|node_modules|select |postgres|slonik/i.test(answer.text)) return 'it shows the inside'
  return undefined
}

async function create(of: TestMerchant, changes: Record<string, unknown> = {}): Promise<Answer> {
  return createPayment(service, of, changes)
}

t.test('every failure that can be reached has its status, its code and the one body', async (t) => {
  const { body: payment } = await create(merchant)
  const path = `/api/v1/payments/${payment.payment_id}`
  const key = randomUUID()
  await createPayment(service, merchant, {}, key)
  const pending = await service.merchant({ kybStatus: 'PENDING' })
  const [suspended, held, inactive] = [await service.merchant(), await service.merchant(), await service.merchant()]
  await service.owner.query(`update merchants set kyb_status = 'SUSPENDED' where id = $1`, [suspended.id])
  await service.owner.query('update merchants set payout_held = true, payout_held_at = now() where id = $1', [held.id])
  await service.owner.query('update merchants set is_active = false where id = $1', [inactive.id])
  const { body: expired } = await create(merchant)
  await service.owner.query("update payment_consents set expires_at = now() - interval '1 minute' where id = $1", [
    expired.consent_id,
  ])
  const stateOf = (created: Answer['body']) => new URL(created.redirect_url).searchParams.get('state') ?? ''
  const authorised = await authorisedPayment(service, merchant)
  const { body: down } = await create(merchant, { scenario: 'bank-down' })
  const broughtBack = await atBank(down.redirect_url, 'approve')
  const delivery = (await service.call('GET', '/api/v1/portal/webhooks', { merchant })).body.data[0]
  const unknown = randomUUID()
  const before = await countRows(service.owner)

  const cases: [code: string, status: number, answer: Promise<Answer>][] = [
    ['IDEMPOTENCY_KEY_MISSING', 400, service.call('POST', '/api/v1/payments', { merchant, body: paymentBody() })],
    ['IDEMPOTENCY_KEY_REUSED', 422, createPayment(service, merchant, { amount: '50.01' }, key)],
    ['UNSUPPORTED_CURRENCY', 400, create(merchant, { currency: 'USD' })],
    ['AMOUNT_BELOW_FEE', 400, create(merchant, { amount: '0.20' })],
    ['UNAUTHENTICATED', 401, service.call('GET', '/api/v1/payments')],
    ['UNAUTHENTICATED', 401, service.call('GET', '/api/v1/payments', { headers: { 'x-merchant-client-id': '' } })],
    ['UNAUTHENTICATED', 401, service.call('GET', '/api/v1/payments', { headers: { authorization: 'Bearer abc' } })],
    ['UNKNOWN_CLIENT', 401, service.call('GET', '/api/v1/payments', { headers: { 'x-merchant-client-id': 'nobody' } })],
    [
      'UNKNOWN_CLIENT',
      401,
      service.call('GET', '/api/v1/payments', { headers: { 'x-merchant-client-id': 'x'.repeat(300) } }),
    ],
    [
      'UNKNOWN_CLIENT',
      401,
      service.call('GET', '/api/v1/payments', {
        headers: { 'x-merchant-client-id': `${merchant.clientId}, ${merchant.clientId}` },
      }),
    ],
    ['MERCHANT_NOT_APPROVED', 403, create(pending)],
    ['MERCHANT_NOT_APPROVED', 403, create(suspended)],
    ['PAYOUT_HELD', 403, create(held)],
    ['MERCHANT_INACTIVE', 403, create(inactive)],
    ['STATE_MISMATCH', 403, service.call('POST', `${path}/sca-complete`, { body: { state: 'forged', code: 'x' } })],
    [
      'STATE_MISMATCH',
      403,
      service.call('POST', `${path}/sca-complete`, { body: { state: authorised.state, code: 'x' } }),
    ],
    [
      'STATE_MISMATCH',
      403,
      service.call('POST', `${path}/sca-complete`, { body: { state: 'forged', error: 'access_denied' } }),
    ],
    [
      'CODE_INVALID',
      400,
      service.call('POST', `${path}/sca-complete`, { body: { state: stateOf(payment), code: 'made-up' } }),
    ],
    [
      'CONSENT_EXPIRED',
      409,
      service.call('POST', `/api/v1/payments/${expired.payment_id}/sca-complete`, {
        body: { state: stateOf(expired), code: 'x' },
      }),
    ],
    ['PAYMENT_NOT_FOUND', 404, service.call('GET', `/api/v1/payments/${unknown}`, { merchant })],
    [
      'PAYMENT_NOT_FOUND',
      404,
      service.call('POST', `/api/v1/payments/${unknown}/sca-complete`, { body: { state: 'x', code: 'y' } }),
    ],
    ['PAYMENT_NOT_SETTLED', 409, service.call('POST', `${path}/refund`, { merchant })],
    ['PAYMENT_NOT_CANCELLABLE', 409, service.call('POST', `/api/v1/payments/${authorised.id}/cancel`, { merchant })],
    ['DELIVERY_NOT_FOUND', 404, service.call('POST', `/api/v1/portal/webhooks/${unknown}/replay`, { merchant })],
    ['DELIVERY_NOT_DEAD', 409, service.call('POST', `/api/v1/portal/webhooks/${delivery.id}/replay`, { merchant })],
    ['CONNECTOR_NOT_FOUND', 404, service.call('POST', '/api/v1/bank/callbacks/nobody', { body: {} })],
    [
      'UNAUTHENTICATED',
      401,
      service.call('POST', '/api/v1/bank/callbacks/mock', {
        body: { state: stateOf(payment), outcome: 'authorised', settle_in_seconds: 0 },
      }),
    ],
    [
      'BANK_UNAVAILABLE',
      502,
      service.call('POST', `/api/v1/payments/${down.payment_id}/sca-complete`, { body: broughtBack }),
    ],
  ]
  for (const [code, status, answer] of cases)
    t.equal(isErrorBody(await answer, status, code), undefined, `${status} ${code}`)

  const after = await countRows(service.owner)
  // The expired consent ended its payment: one event and one webhook, and nothing else happened at all.
  for (const table of ['payment_events', 'webhook_deliveries'])
    t.equal(Number(after[`public.${table}`]), Number(before[`public.${table}`]) + 1)
  for (const table of ['payment_intents', 'payment_consents', 'payment_refunds', 'merchants'])
    t.equal(after[`public.${table}`], before[`public.${table}`])
  t.match(await service.call('GET', path, { merchant }), { body: { status: 'AwaitingAuthorisation' } })
})

t.test('a 401 says how to prove oneself, and a 502 when to try again', async (t) => {
  t.match((await service.call('GET', '/api/v1/payments')).headers, { 'www-authenticate': 'Bearer' })
  const { body } = await create(merchant, { scenario: 'bank-down' })
  const answer = await service.call('POST', `/api/v1/payments/${body.payment_id}/sca-complete`, {
    body: await atBank(body.redirect_url, 'approve'),
  })
  t.match(answer, { status: 502, headers: { 'retry-after': /^\d+$/ } })
})

t.test('malformed, unknown and foreign ids are one and the same answer, apart from the request id', async (t) => {
  const { body: foreign } = await create(other)
  const ids = [
    foreign.payment_id,
    randomUUID(),
    '00000000-0000-0000-0000-000000000000',
    'x',
    '1',
    '-1',
    '%2F',
    '%00',
    '%ff',
    '%',
    '..%2f..',
    'null',
    `${foreign.payment_id}x`,
    `%20${foreign.payment_id}`,
    `{${foreign.payment_id}}`,
    foreign.payment_id.replaceAll('-', ''),
    "'%20or%201=1--",
    'x'.repeat(4000),
    '%F0%9F%92%B8',
  ]
  const operations = [
    ['GET', ''],
    ['GET', '/events'],
    ['POST', '/cancel'],
    ['POST', '/refund'],
  ] as const
  for (const [method, suffix] of operations) {
    const texts = new Set<string>()
    for (const id of ids) {
      const answer = await service.call(method, `/api/v1/payments/${id}${suffix}`, { merchant })
      t.equal(answer.status, 404, `${method} ${id}${suffix}`)
      texts.add(answer.text.replace(/"request_id":"[^"]+"/, ''))
    }
    t.equal(texts.size, 1, `${method} ${suffix}`)
  }
  t.match(await service.call('GET', `/api/v1/payments/${foreign.payment_id}`, { merchant: other }), { status: 200 })
})

t.test('a delivery of another merchant is as unknown as one that does not exist', async (t) => {
  const { id } = (await service.call('GET', '/api/v1/portal/webhooks', { merchant: other })).body.data[0]
  const texts = new Set<string>()
  for (const tried of [id, randomUUID(), 'x', '%00', '%ff']) {
    const answer = await service.call('POST', `/api/v1/portal/webhooks/${tried}/replay`, { merchant })
    t.equal(answer.status, 404, tried)
    texts.add(answer.text.replace(/"request_id":"[^"]+"/, ''))
  }
  t.equal(texts.size, 1)
  for (const payment of [randomUUID(), 'x', '%00']) {
    t.match(await service.call('GET', `/api/v1/portal/webhooks?payment_id=${payment}`, { merchant }), {
      status: 200,
      body: { data: [] },
    })
  }
})

t.test("lists hold the merchant's own payments only", async (t) => {
  await create(other)
  const { body } = await service.call('GET', '/api/v1/payments?limit=100', { merchant: other })
  const { rows } = await service.owner.query('select id from payment_intents where merchant_id = $1', [other.id])
  t.same(
    body.data.map((each: { payment_id: string }) => each.payment_id).toSorted(),
    rows.map(({ id }) => id).toSorted(),
  )
  const cursor = Buffer.from((await create(merchant)).body.payment_id).toString('base64url')
  t.match(await service.call('GET', `/api/v1/payments?cursor=${cursor}`, { merchant: other }), {
    status: 200,
    body: { data: [], has_more: false },
  })
})

t.test('an unknown route gets a bare message without the error envelope', async (t) => {
  const tried: [string, string, string][] = [
    ['GET', '/x', '/x'],
    ['GET', '/x?secret=1', '/x'],
    ['POST', '/api/v1/nothing', '/api/v1/nothing'],
    ['GET', '/api/v1', '/api/v1'],
    ['GET', '/api/v2/payments', '/api/v2/payments'],
    ['GET', '/', '/'],
    ['GET', '/%ff', '/%ff'],
    ['GET', '/%00', '/%00'],
    ['GET', '/__proto__', '/__proto__'],
    ['GET', '/errors/no-such-code', '/errors/no-such-code'],
    ['GET', '/errors/constructor', '/errors/constructor'],
    ['GET', '/api/v1/payments/x/y/z', '/api/v1/payments/x/y/z'],
    ['GET', '//evil.example/x', '//evil.example/x'],
  ]
  for (const [method, path, shown] of tried) {
    const response = await request(service.url + path, { method: method as 'GET' })
    t.equal(response.statusCode, 404, path)
    t.same(await response.body.json(), { message: `Route ${method}:${shown} not found` })
  }
})

function formOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}

t.test('a method that a path does not have is an unknown route, but for Surface A, which says 405', async (t) => {
  for (const { operation } of ROUTES) {
    const path = somePath(operation.path)
    // `/webhooks/test` is also a `/webhooks/{id}`, whose method it has then.
    const known = new Set(
      ROUTES.filter((row) => formOf(row.operation.path).test(path)).map((row) => row.operation.method as string),
    )
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'].filter(
      (each) => !known.has(each),
    )) {
      const response = await request(service.url + path, {
        method: method as 'GET',
        headers: { 'x-merchant-client-id': merchant.clientId },
      })
      const body = await response.body.json()
      if (operation.access.includes('customer')) {
        t.equal(response.statusCode, 405, `${method} ${path}`)
        t.match(body, { Code: '405 MethodNotAllowed' })
        continue
      }
      t.equal(response.statusCode, 404, `${method} ${path}`)
      t.same(body, { message: `Route ${method}:${path} not found` })
    }
  }
})

t.test('HEAD is GET without a body, and changes nothing', async (t) => {
  const before = await countRows(service.owner)
  for (const [path, status] of [
    ['/api/v1/payments', 200],
    [`/api/v1/payments/${randomUUID()}`, 404],
    ['/healthz', 200],
    ['/x', 404],
    [`/api/v1/payments/${randomUUID()}/refund`, 404],
  ] as const) {
    const response = await request(service.url + path, {
      method: 'HEAD',
      headers: { 'x-merchant-client-id': merchant.clientId },
    })
    t.equal(response.statusCode, status, path)
    t.equal(await response.body.text(), '')
  }
  t.same(await countRows(service.owner), before)
})

t.test('the type of every error leads to a page about it', async (t) => {
  for (const [code, status] of Object.entries(ERROR_STATUS)) {
    const answer = await service.call('GET', `/errors/${code.toLowerCase().replaceAll('_', '-')}`)
    const { meaning, next } = ERROR_TEXTS[code as ErrorCode]
    t.match(answer, { status: 200, body: { code, status, meaning, next } }, code)
  }
  const browser = await service.call('GET', '/errors/payment-not-found', { headers: { accept: 'text/html,*/*;q=0.8' } })
  t.match(browser, { status: 200, headers: { 'content-type': /^text\/html/, vary: 'accept' } })
  t.match(browser.text, /<h1>PAYMENT_NOT_FOUND<\/h1>[^]*What to do[^]*GET \/api\/v1\/payments\/\{id\}/)
})

t.test('a valid request id of the caller is kept, and any other is replaced', async (t) => {
  for (const id of ['abcdefgh', 'A.b-c_9'.padEnd(64, 'x')]) {
    t.match((await service.call('GET', '/api/v1/payments', { merchant, headers: { 'x-request-id': id } })).headers, {
      'x-request-id': id,
    })
    t.match((await service.call('GET', '/api/v1/payments', { headers: { 'x-request-id': id } })).body, {
      request_id: id,
    })
  }
  for (const id of ['short', 'x'.repeat(65), 'with space', 'a"b<script>', 'semi;colon']) {
    const answer = await service.call('GET', '/api/v1/payments', { merchant, headers: { 'x-request-id': id } })
    t.match(answer.headers['x-request-id'], /^[0-9a-f-]{36}$/, id)
  }
  const created = await create(merchant)
  t.match(created.headers, {
    'x-request-id': /^[0-9a-f-]{36}$/,
    location: `/api/v1/payments/${created.body.payment_id}`,
    'x-content-type-options': 'nosniff',
  })
})

t.test('an invalid status does not reach the database', async (t) => {
  for (const query of [
    'state=%00',
    'state=%00&code=x',
    `state=${'x'.repeat(300)}`,
    'state=',
    '',
    'state=%ff',
    'state=a&state=b',
  ]) {
    t.equal((await service.call('GET', `/payments/return?${query}`)).status, 404, query)
  }
  const { body } = await create(merchant)
  const state = new URL(body.redirect_url).searchParams.get('state')
  for (const query of [`state=${state}&code=%00`, `state=${state}&code=`, `state=${state}&error=%00`]) {
    t.equal((await service.call('GET', `/payments/return?${query}`)).status, 404, query)
  }
  t.match(await service.call('GET', `/api/v1/payments/${body.payment_id}`, { merchant }), {
    body: { status: 'AwaitingAuthorisation' },
  })
  for (const form of [
    'client_id=%00',
    `client_id=${merchant.clientId}&idempotency_key=%00`,
    `client_id=${merchant.clientId}&idempotency_key=${'x'.repeat(256)}`,
  ]) {
    const answer = await service.call('POST', '/dev/merchant-harness', {
      raw: form,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    t.equal(answer.status, 400, form)
  }
})
