import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { authorisedPayment, createPayment, testService, untilStatus } from '../support/app.ts'
import type { TestService } from '../support/app.ts'

const OPERATOR = { 'x-platform-user': 'olga' }

async function advance(service: TestService, merchantId: string, by: string) {
  return service.call('POST', '/api/v1/sandbox/clock/advance', {
    headers: OPERATOR,
    body: { merchant_id: merchantId, by },
  })
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
  const service = await testService(t, { worker: true })
  const { url, received } = await endpoint(t, 500)
  const merchant = await service.merchant({ webhookUrl: url })
  const { id } = await authorisedPayment(service, merchant)
  await untilStatus(service, merchant, id, 'Settled')
  const advanced = await advance(service, merchant.id, '11h')
  t.equal(advanced.status, 200, advanced.text)
  t.match(advanced.body, { merchant_id: merchant.id, advanced_ms: 39_600_000 })
  const { rows: actions } = await service.owner.query(
    'select action, actor_name, merchant_id, after from operator_actions',
  )
  const entry = { action: 'sandbox.clock', actor_name: 'olga', merchant_id: merchant.id }
  t.same(actions, [{ ...entry, after: { advance_ms: 39_600_000 } }], 'and the trail tells of it, once')
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

t.test('a consent expires when its ninety minutes have passed, and not before', async (t) => {
  const service = await testService(t, { worker: true })
  const merchant = await service.merchant()
  const { body: payment } = await createPayment(service, merchant)
  await advance(service, merchant.id, '89m')
  t.equal(
    (await service.call('GET', `/api/v1/payments/${payment.payment_id}`, { merchant })).body.status,
    'AwaitingAuthorisation',
  )
  await advance(service, merchant.id, '2m')
  const { body } = await service.call('GET', `/api/v1/payments/${payment.payment_id}`, { merchant })
  t.match(body, {
    status: 'Failed',
    consent_status: 'EXPIRED',
    failure: { code: 'CONSENT_EXPIRED', source: 'PLATFORM' },
  })
  t.equal(body.status_history.at(-1).changed_by, 'BATCH_JOB')
})

t.test('a slow settlement comes when its time has passed', async (t) => {
  const service = await testService(t, { worker: true })
  const merchant = await service.merchant()
  const { id } = await authorisedPayment(service, merchant, { scenario: 'success-slow-settle:2h' })
  await advance(service, merchant.id, '119m')
  t.equal((await service.call('GET', `/api/v1/payments/${id}`, { merchant })).body.status, 'Authorised')
  const advanced = await advance(service, merchant.id, '1m')
  t.equal(advanced.status, 200, advanced.text)
  await untilStatus(service, merchant, id, 'Settled')
})

t.test('time passes for the one merchant only', async (t) => {
  const service = await testService(t, { worker: true })
  const [merchant, other] = [await service.merchant(), await service.merchant()]
  const { body: payment } = await createPayment(service, other)
  await advance(service, merchant.id, '3h')
  const { body } = await service.call('GET', `/api/v1/payments/${payment.payment_id}`, { merchant: other })
  t.match(body, { status: 'AwaitingAuthorisation', expires_at: payment.expires_at })
})

t.test('audit events keep their real time', async (t) => {
  const service = await testService(t, { worker: true })
  const merchant = await service.merchant()
  const { body: payment } = await createPayment(service, merchant)
  await advance(service, merchant.id, '91m')
  const { rows } = await service.owner.query(
    "select now() - max(created_at) < interval '1 minute' as real from payment_events where payment_intent_id = $1",
    [payment.payment_id],
  )
  t.same(rows, [{ real: true }])
})

t.test('bad requests to the clock say what is wrong and move nothing', async (t) => {
  const service = await testService(t, { worker: true })
  const merchant = await service.merchant()
  const cases = [
    { by: 'soon', path: 'by' },
    { by: '0s', path: 'by' },
    { by: '401d', path: 'by' },
  ]
  for (const { by, path } of cases) {
    const refused = await advance(service, merchant.id, by)
    t.match(refused, { status: 400, body: { code: 'VALIDATION_FAILED', errors: [{ path }] } }, by)
  }
  t.match(await advance(service, 'nobody', '1h'), { status: 404, body: { code: 'MERCHANT_NOT_FOUND' } })
  const nameless = await service.call('POST', '/api/v1/sandbox/clock/advance', {
    headers: { 'x-platform-user': 'two words' },
    body: { merchant_id: merchant.id, by: '1h' },
  })
  t.match(nameless, { status: 401, body: { code: 'UNAUTHENTICATED' } })
})

t.test('without an identity provider the sandbox asks for no name', async (t) => {
  const service = await testService(t, { worker: true })
  const merchant = await service.merchant()
  const body = { merchant_id: merchant.id, by: '1h' }
  t.match(await service.call('POST', '/api/v1/sandbox/clock/advance', { body }), { status: 200 })
})
