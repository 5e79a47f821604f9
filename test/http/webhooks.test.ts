import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Test } from 'tap'
import type { Probe } from '../../src/webhooks/sending/probe.ts'
import { testService } from '../support/app.ts'
import type { Answer, TestMerchant } from '../support/app.ts'
import { settledPayment } from '../support/payments.ts'
import { startReceiver } from '../support/receiver.ts'
import { countRows } from '../support/rows.ts'
import { until } from '../support/until.ts'
import { plantDead, plantDeliveries } from '../support/webhooks.ts'

const endpoint = '/api/v1/portal/webhook-endpoint'
const webhooks = '/api/v1/portal/webhooks'
const outbox = '/api/v1/admin/outbox'

/** Addresses that were asked, and what is answered. */
const asked: string[] = []
const probe: Probe = {
  probe: async (url) => {
    asked.push(url)
    if (url.includes('busy')) return null
    return url.includes('down')
      ? { reachable: false, outcome: 'connect', http_status: null, duration_ms: 3 }
      : { reachable: true, outcome: 'answered', http_status: 405, duration_ms: 2 }
  },
  close: async () => undefined,
}

const service = await testService(t, { overrides: { probe } })
const { owner } = service

async function changesNothing(t: Test, run: () => Promise<void>): Promise<void> {
  const before = await countRows(owner)
  await run()
  t.same(await countRows(owner), before, 'the database is as it was')
}

/** An answer without what differs from one request to the next. */
function bytesOf({ status, text }: Answer): string {
  return `${status} ${text.replace(/"request_id":"[^"]*"/, '')}`
}

const url = 'https://shop.example/hook'

type Method = 'GET' | 'POST' | 'PUT'

t.test('an endpoint is set with a check of it, paused, resumed and removed', async (t) => {
  const merchant = await service.merchant()
  const put = (body: unknown) => service.call('PUT', endpoint, { merchant, body })
  const check = { reachable: true, outcome: 'answered', http_status: 405, duration_ms: 2 }
  const state = { webhook_url: url, paused: false, gone: false, alert: null }
  t.strictSame((await put({ webhook_url: url })).body, { ...state, check })
  t.strictSame((await put({ paused: true })).body, { ...state, paused: true, check: null })
  t.strictSame((await service.call('GET', endpoint, { merchant })).body, { ...state, paused: true })
  t.match(await service.call('POST', `${endpoint}/check`, { merchant }), { status: 200, body: check })
  t.match(
    await service.call('POST', `${endpoint}/check`, { merchant, body: {} }),
    { status: 200 },
    'with an empty body too',
  )
  const down = 'https://down.example/hook'
  t.match(
    await put({ webhook_url: down }),
    { status: 200, body: { webhook_url: down, paused: true, check: { reachable: false, outcome: 'connect' } } },
    'one that does not answer is set all the same, and stays paused',
  )
  t.match(await put({ paused: false }), { status: 200, body: { webhook_url: down, paused: false, check: null } })
  t.match(await put({ webhook_url: null }), { body: { webhook_url: null, paused: false, check: null } })
  t.strictSame(asked.slice(0, 4), [url, url, url, down])

  const { rows } = await owner.query('select action, actor_id from operator_actions where merchant_id = $1', [
    merchant.id,
  ])
  t.same(new Set(rows.map(({ action }) => action)), new Set(['webhook.endpoint']))
  t.equal(rows.length, 5)
})

t.test(
  'while too many endpoints are being checked, a check is rejected, and an address is set without one',
  async (t) => {
    const merchant = await service.merchant()
    const busy = 'https://busy.example/hook'
    t.match(await service.call('PUT', endpoint, { merchant, body: { webhook_url: busy } }), {
      status: 200,
      body: { webhook_url: busy, check: null },
    })
    t.match(await service.call('POST', `${endpoint}/check`, { merchant }), {
      status: 429,
      headers: { 'retry-after': '5' },
      body: { code: 'RATE_LIMITED', next: /Try again/ },
    })
  },
)

t.test('the audit trail keeps no more of an address than where it is', async (t) => {
  const merchant = await service.merchant()
  const secret = 'https://shop.example:8443/hook/a?token=c4n4ry&x=1'
  for (const body of [{ webhook_url: secret }, { paused: true }, { webhook_url: null }])
    t.match(await service.call('PUT', endpoint, { merchant, body }), { status: 200 })
  const { rows } = await owner.query(
    'select before, after from operator_actions where merchant_id = $1 order by ordinal',
    [merchant.id],
  )
  const at = 'https://shop.example:8443/hook/a'
  t.strictSame(
    rows.map(({ before, after }) => [before.webhook_url, after.webhook_url]),
    [
      [null, at],
      [at, at],
      [at, null],
    ],
  )
  t.notMatch(JSON.stringify(rows), /c4n4ry/)
})

t.test('operators see the address of a paused endpoint', async (t) => {
  const merchant = await service.merchant({ webhookUrl: url })
  await service.call('PUT', endpoint, { merchant, body: { paused: true } })
  const headers = await service.operator()
  t.match(await service.call('GET', `/api/v1/admin/merchants/${merchant.id}`, { headers }), {
    body: { webhook_url: url },
  })
})

t.test('operations that need an endpoint are rejected without one, and while it is paused', async (t) => {
  const merchant = await service.merchant()
  const live: [Method, string, unknown?][] = [
    ['POST', `${webhooks}/test`],
    ['POST', `${webhooks}/replay`, {}],
    ['POST', `${webhooks}/replay`, { dry_run: true }],
  ]
  const anyState: [Method, string, unknown?][] = [
    ['POST', `${endpoint}/check`],
    ['PUT', endpoint, { paused: true }],
    ['PUT', endpoint, { paused: false }],
  ]
  await changesNothing(t, async () => {
    for (const [method, path, body] of [...live, ...anyState])
      t.match(
        await service.call(method, path, { merchant, ...(body === undefined ? {} : { body }) }),
        { status: 409, body: { code: 'WEBHOOK_ENDPOINT_NOT_SET', next: /svc webhooks endpoint set/ } },
        `${method} ${path} ${JSON.stringify(body)}`,
      )
  })
  await service.call('PUT', endpoint, { merchant, body: { webhook_url: url, paused: true } })
  await changesNothing(t, async () => {
    for (const [method, path, body] of live)
      t.match(
        await service.call(method, path, { merchant, ...(body === undefined ? {} : { body }) }),
        { status: 409, body: { code: 'WEBHOOK_ENDPOINT_PAUSED', next: /resume/ } },
        `${method} ${path} ${JSON.stringify(body)}`,
      )
  })
})

t.test('an invalid request is rejected with every field, and changes nothing', async (t) => {
  const merchant = await service.merchant({ webhookUrl: url })
  await plantDead(owner, merchant.id)
  const cases: [Method, string, unknown, string[]][] = [
    ['PUT', endpoint, {}, ['']],
    ['PUT', endpoint, { paused: 'yes' }, ['paused']],
    ['PUT', endpoint, { paused: null }, ['paused']],
    ['PUT', endpoint, { webhook_url: 7, paused: 1 }, ['webhook_url', 'paused']],
    ['PUT', endpoint, { webhook_url: '', paused: true }, ['webhook_url']],
    ['PUT', endpoint, { webhook_url: 'ftp://shop.example/' }, ['webhook_url']],
    ['PUT', endpoint, { webhook_url: 'https://u:p@shop.example/', paused: true }, ['webhook_url']],
    ['PUT', endpoint, { paused: true, paused_webhook_url: url }, ['paused_webhook_url']],
    ['POST', `${endpoint}/check`, { url: 'https://other.example/' }, ['url']],
    ['POST', `${webhooks}/test`, { event_type: 'payment.invented' }, ['event_type']],
    ['POST', `${webhooks}/test`, { event_type: null }, ['event_type']],
    ['POST', `${webhooks}/test`, { event_type: 'payment.settled', payload: {} }, ['payload']],
    ['POST', `${webhooks}/replay`, { status: 'FAILED' }, ['status']],
    ['POST', `${webhooks}/replay`, { since: 'yesterday', until: '2026-02-30T00:00:00Z' }, ['since', 'until']],
    ['POST', `${webhooks}/replay`, { since: '2026-01-01' }, ['since']],
    ['POST', `${webhooks}/replay`, { event_type: 'x', dry_run: 'no' }, ['event_type', 'dry_run']],
    ['POST', `${webhooks}/replay`, { since: '2026-01-02T00:00:00Z', until: '2026-01-01T00:00:00Z' }, ['until']],
    ['POST', `${webhooks}/replay`, { since: '2026-01-01T01:00:00+01:00', until: '2026-01-01T00:00:00Z' }, ['until']],
    ['POST', `${webhooks}/replay`, { merchant_id: merchant.id }, ['merchant_id']],
    ['GET', `${webhooks}?status=dead`, undefined, ['status']],
    ['GET', `${webhooks}?event_type=payment`, undefined, ['event_type']],
    ['GET', `${webhooks}?status=DEAD&status=PENDING`, undefined, ['status']],
    ['GET', `${webhooks}?merchant_id=${merchant.id}`, undefined, ['merchant_id']],
  ]
  await changesNothing(t, async () => {
    for (const [method, path, body, fields] of cases) {
      const answer = await service.call(method, path, { merchant, ...(body === undefined ? {} : { body }) })
      t.match(answer, { status: 400, body: { code: 'VALIDATION_FAILED' } }, `${path} ${JSON.stringify(body)}`)
      const told: string[] = answer.body.errors.map(({ path: field }: { path: string }) => field)
      t.same(new Set(told), new Set(fields), `${path} ${JSON.stringify(body)}`)
    }
    t.match(await service.call('POST', `${webhooks}/replay`, { merchant }), { status: 400 }, 'many ask for a body')
  })
})

t.test('the log shows the payload, the outcome of every attempt, and the response of the endpoint', async (t) => {
  const own = await testService(t, { worker: true, env: { SVC_WEBHOOK_TIME_SCALE: '600' } })
  const receiver = await startReceiver(t, ({ response, count }) =>
    count === 1 ? response.writeHead(503).end('the shop is closed') : response.writeHead(200).end('thanks'),
  )
  const merchant = await own.merchant({ webhookUrl: receiver.url })
  const { body: sent } = await own.call('POST', `${webhooks}/test`, {
    merchant,
    body: { event_type: 'dispute.opened' },
  })
  await until('it is delivered', async () => {
    const { body } = await own.call('GET', `${webhooks}/${sent.id}`, { merchant })
    return body.status === 'DELIVERED'
  })
  const { body } = await own.call('GET', `${webhooks}/${sent.id}`, { merchant })
  t.match(body, {
    id: sent.id,
    event_type: 'dispute.opened',
    status: 'DELIVERED',
    attempt_count: 2,
    last_http_status: 200,
    payload: receiver.receipts[0]?.body.toString(),
    attempts: [
      { attempt: 1, outcome: 'http_503', http_status: 503, response_body: 'the shop is closed', duration_ms: Number },
      { attempt: 2, outcome: 'delivered', http_status: 200, response_body: 'thanks', duration_ms: Number },
    ],
  })
  t.ok(body.attempts[0].started_at <= body.attempts[1].started_at, 'the oldest first')
  const { body: listed } = await own.call('GET', webhooks, { merchant })
  const { payload: _payload, attempts: _attempts, ...row } = body
  t.strictSame(listed, { data: [row], has_more: false, next_cursor: null, alert: null })
  t.strictSame((await own.call('GET', `${webhooks}?event_type=payment.settled`, { merchant })).body.data, [])
  t.equal((await own.call('GET', `${webhooks}?event_type=dispute.opened`, { merchant })).body.data.length, 1)
})

t.test('of many attempts the last fifty are returned, oldest first', async (t) => {
  const merchant = await service.merchant({ webhookUrl: url })
  const [id = ''] = await plantDead(owner, merchant.id)
  await owner.query(
    `insert into webhook_attempts (merchant_id, delivery_id, attempt, worker, started_at, duration_ms, outcome)
     select $1, $2, 1 + (n - 1) % 6, 'w', '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 hour', n, 'timeout'
     from generate_series(1, 60) n`,
    [merchant.id, id],
  )
  const { body } = await service.call('GET', `${webhooks}/${id}`, { merchant })
  t.same(
    body.attempts.map(({ duration_ms }: { duration_ms: number }) => duration_ms),
    Array.from({ length: 50 }, (_, index) => index + 11),
  )
})

t.test('the list includes the alert, also with a filter for other deliveries', async (t) => {
  const merchant = await service.merchant({ webhookUrl: url })
  const dead = await plantDead(owner, merchant.id, { count: 3 })
  const alert = { code: 'DELIVERIES_DEAD', dead_deliveries: 3, next: /svc webhooks replay --status DEAD/ }
  t.match(await service.call('GET', webhooks, { merchant }), { body: { data: { length: 3 }, alert } })
  t.match(await service.call('GET', `${webhooks}?status=PENDING`, { merchant }), { body: { data: [], alert } })
  t.match(await service.call('GET', endpoint, { merchant }), { body: { alert, gone: false } })
  const { body } = await service.call('GET', `${webhooks}?status=DEAD`, { merchant })
  t.same(
    body.data.map(({ id }: { id: string }) => id),
    dead.toReversed(),
  )
  t.match(await service.call('POST', `${webhooks}/replay`, { merchant, body: { dry_run: true } }), {
    status: 202,
    body: { matching: 3, queued: 0, has_more: false },
  })
  t.match(
    await service.call('POST', `${webhooks}/replay`, { merchant, body: { until: '2026-01-01T00:00:02+00:00' } }),
    { status: 202, body: { matching: 2, queued: 2, has_more: false } },
  )
  t.match(await service.call('GET', webhooks, { merchant }), { body: { alert: { dead_deliveries: 1 } } })
})

t.test("another merchant's deliveries, unknown ones and nonsense are one and the same 404", async (t) => {
  const [one, two] = [await service.merchant({ webhookUrl: url }), await service.merchant({ webhookUrl: url })]
  const [foreign = ''] = await plantDead(owner, two.id)
  const ids = [foreign, randomUUID(), 'nonsense', '%00', `${foreign}x`, foreign.toUpperCase()]
  const headers = await service.operator()
  await changesNothing(t, async () => {
    const answers: string[] = []
    for (const id of ids) {
      answers.push(bytesOf(await service.call('GET', `${webhooks}/${id}`, { merchant: one })))
      answers.push(bytesOf(await service.call('POST', `${webhooks}/${id}/replay`, { merchant: one })))
      const path = `/api/v1/admin/merchants/${one.id}/webhooks/${id}/replay`
      answers.push(bytesOf(await service.call('POST', path, { headers })))
    }
    t.equal(new Set(answers).size, 1, [...new Set(answers)].join('\n'))
    t.match(answers[0], /^404 .*DELIVERY_NOT_FOUND/)
  })
  t.match(await service.call('GET', webhooks, { merchant: one }), { body: { data: [], alert: null } })
  t.match(await service.call('POST', `${webhooks}/replay`, { merchant: one, body: {} }), {
    body: { matching: 0, queued: 0, has_more: false },
  })
  t.match(await service.call('GET', `${webhooks}/${foreign}`, { merchant: two }), { status: 200 })
})

type Row = { id: string; merchant_id: string }

async function pagesOf(query: string, limit: number): Promise<string[]> {
  const headers = await service.operator('SUPPORT')
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const path: string = `${outbox}?${query}&limit=${limit}${cursor === null ? '' : `&cursor=${cursor}`}`
    const { status, body, text } = await service.call('GET', path, { headers })
    if (status !== 200) throw new Error(text)
    ids.push(...body.data.map(({ id }: Row) => id))
    cursor = body.next_cursor
  } while (cursor !== null)
  return ids
}

t.test('the outbox of all merchants is paged without gaps or repeats, however equal the times are', async (t) => {
  const merchants: TestMerchant[] = [await service.merchant(), await service.merchant(), await service.merchant()]
  const waits = { nextRetryAt: 'infinity' }
  for (const { id } of merchants) {
    await plantDeliveries(owner, id, { ...waits, count: 7, createdAt: '2026-02-01T00:00:00.000001Z' })
    await plantDeliveries(owner, id, { ...waits, count: 7, createdAt: '2026-02-01T00:00:00.000002Z' })
  }
  const { rows } = await owner.query<{ id: string }>(
    'select id from webhook_deliveries order by created_at desc, id desc',
  )
  const all = rows.map(({ id }) => id)
  for (const limit of [5, 100]) t.same(await pagesOf('', limit), all, `pages of ${limit}`)
  const [one] = merchants
  const own = await owner.query<{ id: string }>(
    'select id from webhook_deliveries where merchant_id = $1 order by created_at desc, id desc',
    [one?.id],
  )
  t.same(
    await pagesOf(`merchant_id=${one?.id}`, 4),
    own.rows.map(({ id }) => id),
  )
  const dead = await owner.query("select from webhook_deliveries where status = 'DEAD'")
  t.equal((await pagesOf('status=DEAD', 2)).length, dead.rowCount)
  t.same(await pagesOf(`merchant_id=${one?.id}&status=DEAD`, 10), [])
  t.same(await pagesOf(`merchant_id=${randomUUID()}`, 10), [])
  t.same(await pagesOf('merchant_id=nonsense', 10), [])
  t.same(await pagesOf('payment_id=nonsense', 10), [])
})

t.test('the outbox of one payment, and of one type', async (t) => {
  const merchant = await service.merchant()
  const id = await settledPayment(service, merchant)
  const headers = await service.operator()
  const { body } = await service.call('GET', `${outbox}?payment_id=${id}`, { headers })
  t.match(body, {
    data: ['payment.settled', 'payment.authorized', 'payment.initiated'].map((event_type) => ({
      event_type,
      payment_id: id,
      merchant_id: merchant.id,
      realm_slug: merchant.realm,
      trading_name: 'Acme',
      status: 'PENDING',
    })),
    has_more: false,
    next_cursor: null,
  })
  t.equal(body.data.length, 3)
  t.equal((await pagesOf(`merchant_id=${merchant.id}&event_type=payment.settled`, 1)).length, 1)
  t.same(
    await pagesOf(`merchant_id=${(await service.merchant()).id}&payment_id=${id}`, 10),
    [],
    "not another merchant's",
  )
})

t.test('an invalid page of the outbox is rejected', async (t) => {
  const headers = await service.operator()
  const encode = (text: string): string => Buffer.from(text).toString('base64url')
  for (const query of [
    'limit=0',
    'limit=101',
    'status=dead',
    'event_type=x',
    'order=newest',
    'cursor=x',
    `cursor=${encode(randomUUID())}`,
    `cursor=${encode(`1.${randomUUID()}.1`)}`,
    `cursor=${encode(`-1.${randomUUID()}`)}`,
    `cursor=${encode(`99999999999999999.${randomUUID()}`)}`,
  ]) {
    t.match(
      await service.call('GET', `${outbox}?${query}`, { headers }),
      { status: 400, body: { code: 'VALIDATION_FAILED' } },
      query,
    )
  }
  t.match(
    await service.call('GET', `${outbox}?cursor=${encode(`9999999999999999.${randomUUID()}`)}`, { headers }),
    { status: 200 },
    'a place far ahead is one',
  )
})

t.test("an operator sends a merchant's DEAD delivery again, in the operator's name", async (t) => {
  const merchant = await service.merchant({ webhookUrl: url })
  const [id = ''] = await plantDead(owner, merchant.id)
  const headers = await service.operator()
  const path = (merchantId: string): string => `/api/v1/admin/merchants/${merchantId}/webhooks/${id}/replay`
  await changesNothing(t, async () => {
    for (const unknown of [randomUUID(), 'nonsense'])
      t.match(await service.call('POST', path(unknown), { headers }), {
        status: 404,
        body: { code: 'MERCHANT_NOT_FOUND' },
      })
    for (const body of [{ reason: '' }, { reason: 'x'.repeat(501) }, { reason: 'ok', by: 'me' }])
      t.match(await service.call('POST', path(merchant.id), { headers, body }), { status: 400 })
  })
  const answer = await service.call('POST', path(merchant.id), { headers, body: { reason: 'The shop asked for it.' } })
  t.match(answer, {
    status: 200,
    body: { id, status: 'PENDING', attempt_count: 0, merchant_id: merchant.id, realm_slug: merchant.realm },
  })
  const { rows } = await owner.query('select * from operator_actions where merchant_id = $1', [merchant.id])
  t.match(rows, [{ action: 'webhook.replay', subject_id: id, reason: 'The shop asked for it.', actor_id: 'ada' }])
  await changesNothing(t, async () => {
    t.match(await service.call('POST', path(merchant.id), { headers }), {
      status: 409,
      body: { code: 'DELIVERY_NOT_DEAD' },
    })
  })
})
