import { randomUUID } from 'node:crypto'
import t from 'tap'
import { getWebhookEndpoint } from '../../src/webhooks/get-webhook-endpoint.ts'
import { putWebhookEndpoint } from '../../src/webhooks/put-webhook-endpoint.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import {
  countByStatus,
  makeOutbox,
  passDelays,
  plantDeliveries,
  plantMerchant,
  queueIsEmpty,
  readDelivery,
  scheduleAll,
  startDeliveries,
} from '../support/webhooks.ts'

const day = 86_400_000
const actor = { id: 'dev', name: 'Dev', role: 'DEVELOPER' }

t.test('setting an endpoint queues the waiting deliveries that are younger than seven days', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const receiver = await startReceiver(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: null })
  const waits = { nextRetryAt: 'infinity' }
  const [old = ''] = await plantDeliveries(owner, merchantId, {
    ...waits,
    createdAt: new Date(Date.now() - 8 * day).toISOString(),
  })
  const [young = ''] = await plantDeliveries(owner, merchantId, {
    ...waits,
    createdAt: new Date(Date.now() - 6 * day).toISOString(),
  })
  await plantDeliveries(owner, merchantId, { ...waits, count: 1_100 })
  const other = await plantMerchant({ owner, app, webhookUrl: null })
  const [foreign = ''] = await plantDeliveries(owner, other, waits)
  t.equal(await queueIsEmpty(owner), true)
  t.strictSame(await getWebhookEndpoint(app, merchantId), {
    webhook_url: null,
    paused: false,
    gone: false,
    alert: null,
  })
  t.match(await putWebhookEndpoint(app, { actor, merchantId, webhookUrl: receiver.url }), { webhook_url: receiver.url })
  t.match(await getWebhookEndpoint(app, merchantId), { webhook_url: receiver.url, paused: false })
  const queued = await owner.query('select delivery_id from webhook_queue where merchant_id = $1', [merchantId])
  t.equal(queued.rowCount, 1_000, 'the first of them at once')
  t.ok(
    queued.rows.some(({ delivery_id }) => delivery_id === young),
    'the oldest among them',
  )
  await scheduleAll(app)
  t.equal((await owner.query('select from webhook_queue where merchant_id = $1', [merchantId])).rowCount, 1_101)
  startDeliveries(t, app)
  await until('they are delivered', () => queueIsEmpty(owner))
  t.match(await readDelivery(owner, young), { status: 'DELIVERED' })
  t.match(await readDelivery(owner, old), { status: 'PENDING', attempt_count: 0, next_retry_at: 'infinity' }, 'too old')
  t.match(await readDelivery(owner, foreign), { status: 'PENDING', next_retry_at: 'infinity' }, "another merchant's")
})

t.test(
  'removing the endpoint takes rows out of the queue, and setting it again continues their attempts',
  async (t) => {
    const { owner, app } = await makeOutbox(t)
    const receiver = await startReceiver(t, ({ response }) => response.writeHead(500).end())
    const merchantId = await plantMerchant({ owner, app, webhookUrl: receiver.url })
    const other = await plantMerchant({ owner, app, webhookUrl: receiver.url })
    const [id = ''] = await plantDeliveries(owner, merchantId)
    const [foreign = ''] = await plantDeliveries(owner, other)
    const deliveries = startDeliveries(t, app)
    await until('both failed', async () => (await countByStatus(owner))['FAILED'] === 2)
    await plantDeliveries(owner, merchantId, { nextRetryAt: new Date(Date.now() + day).toISOString(), count: 1_200 })
    t.match(await putWebhookEndpoint(app, { actor, merchantId, webhookUrl: null }), { webhook_url: null })
    t.equal((await owner.query('select from webhook_queue where merchant_id = $1', [merchantId])).rowCount, 0)
    t.match(await readDelivery(owner, id), { status: 'FAILED', attempt_count: 1, next_retry_at: 'infinity' })
    t.not((await readDelivery(owner, foreign)).next_retry_at, 'infinity')
    await putWebhookEndpoint(app, { actor, merchantId, webhookUrl: receiver.url })
    await passDelays(owner)
    deliveries.wake()
    await until('its second attempt', async () => (await readDelivery(owner, id)).attempt_count === 2)
  },
)

t.test('an attempt in progress when the endpoint is removed is recorded, and then waits', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const held = Promise.withResolvers<void>()
  const receiver = await startReceiver(t, async ({ response }) => {
    await held.promise
    response.writeHead(500).end()
  })
  const merchantId = await plantMerchant({ owner, app, webhookUrl: receiver.url })
  const [id = ''] = await plantDeliveries(owner, merchantId)
  const deliveries = startDeliveries(t, app)
  await until('it is under way', () => receiver.receipts.length === 1)
  await putWebhookEndpoint(app, { actor, merchantId, webhookUrl: null })
  held.resolve()
  await until('it is recorded', async () => (await readDelivery(owner, id)).status === 'FAILED')
  await passDelays(owner)
  deliveries.wake()
  await until('it waits', () => queueIsEmpty(owner))
  t.match(await readDelivery(owner, id), { status: 'FAILED', attempt_count: 1, next_retry_at: 'infinity' })
  t.equal(receiver.receipts.length, 1)
})

t.test('a delivery that is inserted while the endpoint is being set is not forgotten', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: null })
  // The transaction of a payment that saw no endpoint: its row goes in before, or after, the endpoint is set.
  await owner.query('begin')
  const [before = ''] = await plantDeliveries(owner, merchantId, { nextRetryAt: 'infinity' })
  const setting = putWebhookEndpoint(app, { actor, merchantId, webhookUrl: 'http://127.0.0.1:1/' })
  await until('setting waits for the payment', async () => {
    const { rowCount } = await owner.query(
      "select from pg_locks where not granted and locktype in ('transactionid', 'tuple')",
    )
    return rowCount !== 0
  })
  await owner.query('commit')
  await setting
  const [after = ''] = await plantDeliveries(owner, merchantId, { nextRetryAt: 'infinity' })
  const { rows } = await owner.query<{ delivery_id: string }>('select delivery_id from webhook_queue')
  t.strictSame(new Set(rows.map(({ delivery_id }) => delivery_id)), new Set([before, after]))
  for (const id of [before, after]) t.not((await readDelivery(owner, id)).next_retry_at, 'infinity')
})

t.test('an address that breaks a rule changes nothing', async (t) => {
  const { owner, app } = await makeOutbox(t, { webhookAllowPrivate: false })
  const merchantId = await plantMerchant({ owner, app, webhookUrl: 'https://shop.example/' })
  for (const webhookUrl of ['http://shop.example/', 'https://10.0.0.1/', 'https://user@shop.example/', 'nonsense']) {
    await t.rejects(
      putWebhookEndpoint(app, { actor, merchantId, webhookUrl }),
      { code: 'VALIDATION_FAILED', errors: [{ path: 'webhook_url' }] },
      webhookUrl,
    )
  }
  t.match(await getWebhookEndpoint(app, merchantId), { webhook_url: 'https://shop.example/' })
  await t.rejects(putWebhookEndpoint(app, { actor, merchantId: randomUUID(), webhookUrl: null }), {
    code: 'MERCHANT_NOT_FOUND',
  })
  await t.rejects(getWebhookEndpoint(app, randomUUID()), { code: 'MERCHANT_NOT_FOUND' })
})
