import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { advanceSandboxClock } from '../../src/sandbox/advance-sandbox-clock.ts'
import { authorisedPayment, createPayment, testService, untilStatus } from '../support/app.ts'
import { addCustomer } from '../support/customers.ts'

const OPERATOR = { 'x-platform-user': 'olga' }

const service = await testService(t, { worker: true })

async function advance(merchantId: string, by: string) {
  return ask({ merchant_id: merchantId, by })
}

/** A request to the clock as an operator makes it. */
async function ask(body: Record<string, unknown>) {
  return service.call('POST', '/api/v1/sandbox/clock/advance', { headers: OPERATOR, body })
}

async function clockOf(query: Record<string, string>) {
  return service.call('GET', `/api/v1/sandbox/clock?${new URLSearchParams(query).toString()}`, { headers: OPERATOR })
}

/** A merchant's server that answers every webhook with `status`. */
async function endpoint(t: Test, status: number): Promise<{ url: string; received: string[] }> {
  const received: string[] = []
  const server = createServer((req, res) => {
    received.push(String(req.headers['webhook-id']))
    req.resume().on('end', () => res.writeHead(status).end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received }
}

t.test('ten hours of retries end in DEAD after six attempts, in their order and within one call', async (t) => {
  const { url, received } = await endpoint(t, 500)
  const merchant = await service.merchant({ webhookUrl: url })
  const { id } = await authorisedPayment(service, merchant)
  await untilStatus(service, merchant, id, 'Settled')
  const advanced = await advance(merchant.id, '11h')
  t.equal(advanced.status, 200, advanced.text)
  t.match(advanced.body, { merchant_id: merchant.id, advanced_ms: 39_600_000 })
  const { rows: actions } = await service.owner.query(
    'select action, actor_name, merchant_id, after from operator_actions where merchant_id = $1',
    [merchant.id],
  )
  const entry = { action: 'sandbox.clock', actor_name: 'olga', merchant_id: merchant.id }
  t.same(actions, [{ ...entry, after: { advance_ms: 39_600_000 } }], 'the audit trail records it once')
  const { body } = await service.call('GET', '/api/v1/portal/webhooks', { merchant })
  t.same(
    body.data.map((row: { status: string; attempt_count: number }) => [row.status, row.attempt_count]),
    [
      ['DEAD', 6],
      ['DEAD', 6],
      ['DEAD', 6],
    ],
  )
  t.equal(received.length, 18)
})

t.test('concurrent advances of the same merchant are serialised, and no due time is skipped', async (t) => {
  const { url, received } = await endpoint(t, 500)
  const merchant = await service.merchant({ webhookUrl: url })
  await createPayment(service, merchant)
  const answers = await Promise.all(['4h', '4h', '4h'].map((by) => advance(merchant.id, by)))
  for (const { status, text } of answers) t.equal(status, 200, text)
  t.equal((await clockOf({ merchant_id: merchant.id })).body.ahead_ms, 43_200_000, 'the whole advance was made')
  t.equal(received.length, 12)
  const stops = answers.reduce((sum, { body }) => sum + body.stops, 0)
  // Five retries of each of two events, and the end of the consent's ninety minutes between them; two may be of one moment.
  t.ok(stops === 11 || stops === 10, `${stops} stops`)
})

t.test(
  'work that repeats for ever ends the advance with an error that names it and the time advanced so far',
  async (t) => {
    const merchant = await service.merchant()
    await authorisedPayment(service, merchant, { scenario: 'success-slow-settle:1h' })
    const faults = { merchant_id: merchant.id, unavailable: '100%' }
    await service.call('PUT', '/api/v1/sandbox/bank/faults', { headers: OPERATOR, body: faults })
    const actor = { id: 'olga', name: 'olga', role: 'OPS' } as const
    const refused = advanceSandboxClock(service.app, { merchantId: merchant.id, by: '11h', actor }, 3)
    const message = /^\d+s of 39600s were advanced: .*settle-payments/
    await t.rejects(refused, { code: 'SERVICE_UNAVAILABLE', message })
    const { body } = await clockOf({ merchant_id: merchant.id })
    t.ok(body.ahead_ms > 3_600_000 && body.ahead_ms < 39_600_000)
  },
)

t.test('a consent expires after exactly ninety minutes', async (t) => {
  const merchant = await service.merchant()
  const { body: payment } = await createPayment(service, merchant)
  await advance(merchant.id, '89m')
  t.equal(
    (await service.call('GET', `/api/v1/payments/${payment.payment_id}`, { merchant })).body.status,
    'AwaitingAuthorisation',
  )
  await advance(merchant.id, '2m')
  const { body } = await service.call('GET', `/api/v1/payments/${payment.payment_id}`, { merchant })
  t.match(body, {
    status: 'Failed',
    consent_status: 'EXPIRED',
    failure: { code: 'CONSENT_EXPIRED', source: 'PLATFORM' },
  })
  t.equal(body.status_history.at(-1).changed_by, 'BATCH_JOB')
})

t.test('a slow settlement executes at its time', async (t) => {
  const merchant = await service.merchant()
  const { id } = await authorisedPayment(service, merchant, { scenario: 'success-slow-settle:2h' })
  await advance(merchant.id, '119m')
  t.equal((await service.call('GET', `/api/v1/payments/${id}`, { merchant })).body.status, 'Authorised')
  const advanced = await advance(merchant.id, '1m')
  t.equal(advanced.status, 200, advanced.text)
  await untilStatus(service, merchant, id, 'Settled')
})

t.test('an advance moves one merchant only', async (t) => {
  const [merchant, other] = [await service.merchant(), await service.merchant()]
  const { body: payment } = await createPayment(service, other)
  await advance(merchant.id, '3h')
  const { body } = await service.call('GET', `/api/v1/payments/${payment.payment_id}`, { merchant: other })
  t.match(body, { status: 'AwaitingAuthorisation', expires_at: payment.expires_at })
})

t.test('audit events keep their real time', async (t) => {
  const merchant = await service.merchant()
  const { body: payment } = await createPayment(service, merchant)
  await advance(merchant.id, '91m')
  const { rows } = await service.owner.query(
    "select now() - max(created_at) < interval '1 minute' as real from payment_events where payment_intent_id = $1",
    [payment.payment_id],
  )
  t.same(rows, [{ real: true }])
})

t.test('invalid requests to the clock name the problem and change nothing', async (t) => {
  const merchant = await service.merchant()
  const cases = [
    { by: 'soon', path: 'by' },
    { by: '0s', path: 'by' },
    { by: '401d', path: 'by' },
  ]
  for (const { by, path } of cases) {
    const refused = await advance(merchant.id, by)
    t.match(refused, { status: 400, body: { code: 'VALIDATION_FAILED', errors: [{ path }] } }, by)
  }
  t.match(await advance('nobody', '1h'), { status: 404, body: { code: 'MERCHANT_NOT_FOUND' } })
  const nameless = await service.call('POST', '/api/v1/sandbox/clock/advance', {
    headers: { 'x-platform-user': 'two words' },
    body: { merchant_id: merchant.id, by: '1h' },
  })
  t.match(nameless, { status: 401, body: { code: 'UNAUTHENTICATED' } })
})

t.test('without an identity provider the sandbox needs no credentials', async (t) => {
  const merchant = await service.merchant()
  const body = { merchant_id: merchant.id, by: '1h' }
  t.match(await service.call('POST', '/api/v1/sandbox/clock/advance', { body }), { status: 200 })
})

t.test('a clock reports how far it is ahead, and moves only forwards', async (t) => {
  const merchant = await service.merchant()
  const mine = { merchant_id: merchant.id }
  t.match(await clockOf(mine), { status: 200, body: { ...mine, customer_id: null, ahead_ms: 0 } })
  await advance(merchant.id, '36h')
  const { body: clock } = await clockOf(mine)
  t.equal(clock.ahead_ms, 129_600_000)
  const real = Date.parse(clock.now) - clock.ahead_ms
  t.ok(Math.abs(real - Date.now()) < 60_000, 'its time is the real time plus its lead')

  const to = new Date(Date.parse(clock.now) + 3_600_000).toISOString()
  const set = await ask({ ...mine, to })
  t.match(set, { status: 200, body: { stops: 0 } })
  t.ok(set.body.advanced_ms > 3_540_000 && set.body.advanced_ms <= 3_600_000, 'the rest of the hour was advanced')
  const { body: after } = await clockOf(mine)
  t.equal(after.ahead_ms, clock.ahead_ms + set.body.advanced_ms, 'the steps add up to exactly the requested advance')
  t.ok(after.now >= to)
  const back = await ask({ ...mine, to })
  t.match(back, { status: 400, body: { errors: [{ path: 'to', code: 'IN_THE_PAST', message: /in the past/ }] } })
  t.equal((await clockOf(mine)).body.ahead_ms, after.ahead_ms, 'nothing was moved')
})

t.test('contradictory or missing subjects and durations are rejected', async (t) => {
  const merchant = await service.merchant()
  const { externalId } = await addCustomer(service)
  await ask({ customer_ids: [externalId], by: '1h' })
  const mine = { merchant_id: merchant.id }
  const both = { ...mine, customer_ids: [externalId] }
  const cases = [
    { body: { by: '1h' }, error: { path: 'merchant_id', code: 'REQUIRED' } },
    { body: { customer_ids: [], by: '1h' }, error: { path: 'merchant_id', code: 'REQUIRED' } },
    { body: { customer_ids: [externalId, 'nobody'], by: '1h' }, error: { path: 'customer_ids.1', code: 'UNKNOWN' } },
    { body: mine, error: { path: 'by', code: 'REQUIRED' } },
    { body: { ...mine, by: '1h', to: '2999-01-01T00:00:00Z' }, error: { path: 'to', code: 'CONTRADICTORY' } },
    { body: { ...mine, to: '2999-01-01T00:00:00Z' }, error: { path: 'to', code: 'OUT_OF_RANGE' } },
    { body: { ...mine, to: '2999-01-01' }, error: { path: 'to' } },
    {
      body: { ...both, to: new Date(Date.now() + 86_400_000).toISOString() },
      error: { path: 'to', code: 'CONTRADICTORY' },
    },
  ]
  for (const { body, error } of cases)
    t.match(
      await ask(body),
      { status: 400, body: { code: 'VALIDATION_FAILED', errors: [error] } },
      JSON.stringify(body),
    )
  t.match(await clockOf({ ...mine, customer_id: externalId }), {
    status: 400,
    body: { errors: [{ path: 'customer_id' }] },
  })
  t.match(await clockOf({ customer_id: 'nobody' }), { status: 400, body: { errors: [{ path: 'customer_id' }] } })
  t.match(await clockOf({}), { status: 400, body: { errors: [{ path: 'merchant_id' }] } })
  t.match(await clockOf({ merchant_id: 'nobody' }), { status: 404, body: { code: 'MERCHANT_NOT_FOUND' } })
  t.equal((await clockOf(mine)).body.ahead_ms, 0)
  t.equal((await clockOf({ customer_id: externalId })).body.ahead_ms, 3_600_000)
})

t.test('moments before and after shifts convert both ways, for every order of shifts', async (t) => {
  const subject = randomUUID()
  await service.owner.query(
    `insert into sandbox_clock_shifts (subject_id, made_at, moved_by)
     values ($1, '2026-01-10T00:00:00Z', '2 days'), ($1, '2026-01-12T00:00:00Z', '5 days')`,
    [subject],
  )
  const { rows } = await service.owner.query(
    `select m.moment, sandbox_moved_moment($1, m.moment) as moved,
       -- The earliest one that lies there by now, by trying them all.
       (
         select min(h) from generate_series('2025-12-20'::timestamptz, '2026-02-01', '6 hours') h
         where sandbox_moved_moment($1, h) >= m.moment
       ) = sandbox_unmoved_moment($1, m.moment) as is_inverse,
       sandbox_unmoved_moment(gen_random_uuid(), m.moment) = m.moment as is_still
     from generate_series('2026-01-01'::timestamptz, '2026-01-20', '6 hours') as m (moment)`,
    [subject],
  )
  t.equal(rows.length, 77)
  t.ok(rows.every(({ is_inverse, is_still }) => is_inverse && is_still))
  const movedAt = (iso: string) => rows.find(({ moment }) => new Date(moment).toISOString() === iso)?.moved
  t.equal(new Date(movedAt('2026-01-05T00:00:00.000Z')).toISOString(), '2025-12-29T00:00:00.000Z')
  t.equal(new Date(movedAt('2026-01-11T00:00:00.000Z')).toISOString(), '2026-01-06T00:00:00.000Z')
  t.equal(new Date(movedAt('2026-01-13T00:00:00.000Z')).toISOString(), '2026-01-13T00:00:00.000Z')
})
