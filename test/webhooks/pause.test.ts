import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { App } from '../../src/app.ts'
import { getWebhookEndpoint } from '../../src/webhooks/get-webhook-endpoint.ts'
import { replayWebhook } from '../../src/webhooks/replay-webhook.ts'
import { putWebhookEndpoint } from '../../src/webhooks/put-webhook-endpoint.ts'
import type { PutWebhookEndpointInput } from '../../src/webhooks/put-webhook-endpoint.ts'
import { retryUnavailable } from '../support/retry.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import {
  countByStatus,
  makeOutbox,
  passDelays,
  plantDead,
  plantDeliveries,
  plantMerchant,
  plantPayment,
  queueIsEmpty,
  readDelivery,
  scheduleAll,
  startDeliveries,
} from '../support/webhooks.ts'

type Owner = Awaited<ReturnType<typeof makeOutbox>>['owner']

const actor = { id: 'dev-1', name: 'Dev', role: 'DEVELOPER' }

function put(app: App, merchantId: string, wish: Pick<PutWebhookEndpointInput, 'webhookUrl' | 'paused'>) {
  return putWebhookEndpoint(app, { merchantId, actor, ...wish })
}

async function rowOf(owner: Owner, merchantId: string) {
  const { rows } = await owner.query(
    'select webhook_url, paused_webhook_url, webhook_url_set_at::text as set_at from merchants where id = $1',
    [merchantId],
  )
  return rows[0]
}

async function actionsOf(owner: Owner, merchantId: string) {
  const { rows } = await owner.query(
    `select actor_id, action, before, after from operator_actions where merchant_id = $1 order by ordinal`,
    [merchantId],
  )
  return rows
}

t.test('a pause under traffic loses nothing, uses no attempt, and the held deliveries go out in order', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const paused = Promise.withResolvers<void>()
  const receiver = await startReceiver(t, async ({ response, count }) => {
    // However late the pause comes, most are still to be sent.
    if (count > 20) await paused.promise
    response.writeHead(200).end()
  })
  const merchantId = await plantMerchant({ owner, app, webhookUrl: receiver.url })
  const paymentIds = await Array.fromAsync({ length: 20 }, () => plantPayment(owner, merchantId))
  const order = new Map<string, string[]>()
  async function plantRound(sequence: number, nextRetryAt?: string): Promise<void> {
    for (const paymentId of paymentIds) {
      const [id = ''] = await plantDeliveries(owner, merchantId, {
        paymentId,
        sequence,
        ...(nextRetryAt === undefined ? {} : { nextRetryAt }),
      })
      const { event_id } = await readDelivery(owner, id)
      order.set(paymentId, [...(order.get(paymentId) ?? []), event_id])
    }
  }
  for (const sequence of [1, 2, 3, 4]) await plantRound(sequence)
  const deliveries = startDeliveries(t, app)
  await until('some are delivered', () => receiver.receipts.length >= 10)
  t.match(await put(app, merchantId, { paused: true }), { webhook_url: receiver.url, paused: true, check: null })
  paused.resolve()
  await until('what was under way has ended', () => queueIsEmpty(owner))
  const sent = receiver.receipts.length
  t.ok(sent < 80, `${sent} of 80 were sent before`)
  // As a payment's own statement inserts them while there is no address.
  await plantRound(5, 'infinity')
  const waiting = await owner.query(
    `select count(*)::int4 as count from webhook_deliveries where status = 'PENDING' and attempt_count = 0 and next_retry_at = 'infinity'`,
  )
  t.equal(waiting.rows[0].count, 100 - sent, 'all others wait, without an attempt')
  await new Promise((resolve) => setTimeout(resolve, 200))
  t.equal(receiver.receipts.length, sent, 'nothing is sent while it is paused')

  t.match(await put(app, merchantId, { paused: false }), { webhook_url: receiver.url, paused: false })
  deliveries.wake()
  await until('all are delivered', async () => (await countByStatus(owner))['DELIVERED'] === 100)
  t.equal(receiver.receipts.length, 100, 'each was sent once')
  const arrived = receiver.receipts.map(({ eventId }) => eventId)
  for (const [paymentId, expected] of order)
    t.strictSame(
      arrived.filter((eventId) => expected.includes(eventId)),
      expected,
      `the events of payment ${paymentId} in their order`,
    )
  const attempts = await owner.query('select max(attempt)::int4 as most, count(*)::int4 as count from webhook_attempts')
  t.strictSame(attempts.rows[0], { most: 1, count: 100 })
})

t.test(
  'the attempt in progress at a slow endpoint is recorded after a pause, and the next one waits for its end',
  async (t) => {
    const { owner, app } = await makeOutbox(t)
    const held = Promise.withResolvers<void>()
    const receiver = await startReceiver(t, async ({ response, count }) => {
      await held.promise
      response.writeHead(count === 1 ? 503 : 200).end('busy')
    })
    const merchantId = await plantMerchant({ owner, app, webhookUrl: receiver.url })
    const [id = ''] = await plantDeliveries(owner, merchantId)
    const deliveries = startDeliveries(t, app)
    await until('it is under way', () => receiver.receipts.length === 1)
    await put(app, merchantId, { paused: true })
    t.equal(await queueIsEmpty(owner), false, 'it stays with its worker')
    held.resolve()
    await until('it is recorded', async () => (await readDelivery(owner, id)).status === 'FAILED')
    await passDelays(owner)
    deliveries.wake()
    await until('it waits', () => queueIsEmpty(owner))
    t.match(await readDelivery(owner, id), { status: 'FAILED', attempt_count: 1, next_retry_at: 'infinity' })
    t.equal(receiver.receipts.length, 1)
    await put(app, merchantId, { paused: false })
    await until('it is delivered', async () => (await readDelivery(owner, id)).status === 'DELIVERED')
    t.match(await readDelivery(owner, id), { attempt_count: 2 })
  },
)

t.test("the endpoint's state after each change", async (t) => {
  const { owner, app } = await makeOutbox(t)
  const receiver = await startReceiver(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: null })
  const one = receiver.url
  const two = `${receiver.url}/two`
  const notSet = { code: 'WEBHOOK_ENDPOINT_NOT_SET', next: /webhooks endpoint set/ }
  await t.rejects(put(app, merchantId, { paused: true }), notSet, 'a pause without an address')
  await t.rejects(put(app, merchantId, { paused: false }), notSet, 'an end of a pause without an address')
  await t.rejects(put(app, merchantId, { webhookUrl: null, paused: true }), notSet)
  t.match(await put(app, merchantId, { webhookUrl: null }), { webhook_url: null, paused: false, check: null })
  t.strictSame(await actionsOf(owner, merchantId), [], 'nothing has changed')

  const steps: [Pick<PutWebhookEndpointInput, 'webhookUrl' | 'paused'>, string | null, boolean][] = [
    [{ webhookUrl: one }, one, false],
    [{ paused: true }, one, true],
    [{ paused: true }, one, true],
    [{ webhookUrl: two }, two, true],
    [{ webhookUrl: one, paused: false }, one, false],
    [{ webhookUrl: two, paused: true }, two, true],
    [{ paused: false }, two, false],
    [{ paused: false }, two, false],
    [{ webhookUrl: two }, two, false],
    [{ paused: true }, two, true],
    [{ webhookUrl: null }, null, false],
    [{ webhookUrl: one, paused: true }, one, true],
    [{ webhookUrl: null, paused: false }, null, false],
  ]
  let before = { url: null as string | null, paused: false }
  let changes = 0
  for (const [wish, url, paused] of steps) {
    const said = JSON.stringify(wish)
    const { set_at: setAt } = await rowOf(owner, merchantId)
    const reply = await put(app, merchantId, wish)
    t.match(reply, { webhook_url: url, paused }, said)
    t.equal(reply.check !== null, typeof wish.webhookUrl === 'string', 'a check where an address was given')
    t.match(await getWebhookEndpoint(app, merchantId), { webhook_url: url, paused })
    const row = await rowOf(owner, merchantId)
    t.match(row, { webhook_url: paused ? null : url, paused_webhook_url: paused ? url : null }, said)
    t.equal(row.set_at === setAt, url === before.url, 'the time is that of the address')
    const isChange = url !== before.url || paused !== before.paused
    changes += isChange ? 1 : 0
    const actions = await actionsOf(owner, merchantId)
    t.equal(actions.length, changes, said)
    if (isChange)
      t.match(actions.at(-1), {
        actor_id: 'dev-1',
        action: 'webhook.endpoint',
        before: { webhook_url: before.url, paused: before.paused },
        after: { webhook_url: url, paused },
      })
    before = { url, paused }
  }
})

t.test('an address that breaks a rule changes nothing, paused or not', async (t) => {
  const { owner, app } = await makeOutbox(t, { webhookAllowPrivate: false })
  const merchantId = await plantMerchant({ owner, app, webhookUrl: 'https://shop.example/' })
  for (const paused of [undefined, true, false]) {
    const row = await rowOf(owner, merchantId)
    await t.rejects(put(app, merchantId, { webhookUrl: 'http://127.0.0.1/', paused }), { code: 'VALIDATION_FAILED' })
    t.strictSame(await rowOf(owner, merchantId), row)
  }
  t.strictSame(await actionsOf(owner, merchantId), [])
  await t.rejects(put(app, randomUUID(), { paused: true }), { code: 'MERCHANT_NOT_FOUND' })
})

t.test('a repeated request continues where a crash interrupted the first one', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: 'http://127.0.0.1:1/' })
  const ids = await plantDeliveries(owner, merchantId, { count: 1_100, nextRetryAt: '2099-01-01T00:00:00Z' })
  // As a pause that ended after its first statement.
  await owner.query('update merchants set paused_webhook_url = webhook_url, webhook_url = null where id = $1', [
    merchantId,
  ])
  await put(app, merchantId, { paused: true })
  t.equal(await queueIsEmpty(owner), true)
  await owner.query('update merchants set webhook_url = paused_webhook_url, paused_webhook_url = null where id = $1', [
    merchantId,
  ])
  const woken: string[] = []
  const wake = { ...app.wake, notify: (job: string) => woken.push(job) }
  await put({ ...app, wake }, merchantId, { paused: false })
  t.ok(woken.includes('schedule-deliveries'))
  await scheduleAll(app)
  t.equal((await owner.query('select from webhook_queue')).rowCount, 1_100)
  t.equal(ids.length, 1_100)
})

t.test('twenty pauses and resumes at once end in one of the two, with the queue to match', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: 'http://127.0.0.1:1/' })
  await plantDeliveries(owner, merchantId, { count: 50 })
  await Promise.all(
    Array.from({ length: 20 }, (_, index) => retryUnavailable(() => put(app, merchantId, { paused: index % 2 === 0 }))),
  )
  const { paused } = await getWebhookEndpoint(app, merchantId)
  const queued = (await owner.query('select from webhook_queue')).rowCount
  t.equal(queued, paused ? 0 : 50)
  const actions = await actionsOf(owner, merchantId)
  for (const [index, action] of actions.entries())
    t.equal(action.after.paused, index % 2 === 0, 'each recorded change follows from the one before')
})

t.test('a delivery that is replayed while the endpoint is paused waits, and the response says so', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const receiver = await startReceiver(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: receiver.url })
  const [id = ''] = await plantDead(owner, merchantId, { from: new Date().toISOString() })
  await owner.query(
    `insert into webhook_attempts (merchant_id, delivery_id, attempt, worker, started_at, duration_ms, outcome, http_status)
     values ($1, $2, 6, 'test', now(), 1, 'http_500', 500)`,
    [merchantId, id],
  )
  await put(app, merchantId, { paused: true })
  t.match(await replayWebhook(app, { merchantId, id }), { status: 'PENDING', attempt_count: 0, next_retry_at: null })
  await t.rejects(replayWebhook(app, { merchantId, id }), { code: 'DELIVERY_NOT_DEAD', next: /Resume/ })
  const deliveries = startDeliveries(t, app)
  await put(app, merchantId, { paused: false })
  deliveries.wake()
  await until('it is delivered', async () => (await readDelivery(owner, id)).status === 'DELIVERED')
  t.match(await readDelivery(owner, id), { last_error: null, last_http_status: 200, attempt_count: 1 })
})

t.test('the address is checked after it was written, outside any transaction', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: null })
  const seen: unknown[] = []
  const probe: App['probe'] = {
    probe: async () => {
      const { rows } = await owner.query(
        `select (select webhook_url from merchants where id = $1),
           (select count(*)::int4 from pg_stat_activity
            where datname = current_database() and state like 'idle in transaction%') as open`,
        [merchantId],
      )
      seen.push(rows[0])
      return { reachable: false, outcome: 'timeout', http_status: null, duration_ms: 5_000 }
    },
    close: async () => undefined,
  }
  const webhookUrl = 'https://shop.example/hook'
  const reply = await putWebhookEndpoint({ ...app, probe }, { merchantId, actor, webhookUrl })
  t.match(reply, { webhook_url: webhookUrl, check: { reachable: false, outcome: 'timeout' } })
  t.strictSame(seen, [{ webhook_url: webhookUrl, open: 0 }])
})

t.test('an event inserted while a long pause ends does not overtake the earlier ones of its payment', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const receiver = await startReceiver(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: receiver.url })
  const paymentId = await plantPayment(owner, merchantId)
  await put(app, merchantId, { paused: true })
  const [first = ''] = await plantDeliveries(owner, merchantId, { paymentId, nextRetryAt: 'infinity' })
  startDeliveries(t, app)
  // The second event waits for the endpoint's lock, and goes in at the very moment that it is let go.
  const resuming = put(app, merchantId, { paused: false })
  const [second = ''] = await plantDeliveries(owner, merchantId, { paymentId, sequence: 2, nextRetryAt: 'infinity' })
  await resuming
  await until('both are delivered', async () => (await countByStatus(owner))['DELIVERED'] === 2)
  const expected = [(await readDelivery(owner, first)).event_id, (await readDelivery(owner, second)).event_id]
  t.strictSame(
    receiver.receipts.map(({ eventId }) => eventId),
    expected,
  )
})

t.test('deliveries that wait behind a long history are scheduled as well', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: 'http://127.0.0.1:1/' })
  await put(app, merchantId, { paused: true })
  await plantDeliveries(owner, merchantId, { nextRetryAt: 'infinity', count: 5_200 })
  await put(app, merchantId, { paused: false })
  t.equal((await owner.query('select from webhook_queue')).rowCount, 1_000)
  await scheduleAll(app)
  t.equal((await owner.query('select from webhook_queue')).rowCount, 5_200)
})
