import { randomUUID } from 'node:crypto'
import t from 'tap'
import { getWebhookEndpoint } from '../../src/webhooks/get-webhook-endpoint.ts'
import { findEndpoint } from '../../src/webhooks/endpoint-sql.ts'
import { replayWebhooks } from '../../src/webhooks/replay-webhooks.ts'
import { putWebhookEndpoint } from '../../src/webhooks/put-webhook-endpoint.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { statementOf } from '../support/statement-of.ts'
import {
  countByStatus,
  makeOutbox,
  passDelays,
  plantDead,
  plantDeliveries,
  plantMerchant,
  startDeliveries,
} from '../support/webhooks.ts'

const actor = { id: 'dev-1', name: 'Dev', role: 'DEVELOPER' }

t.test('DEAD deliveries are reported with their number, until they are replayed', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: 'http://127.0.0.1:1/' })
  const other = await plantMerchant({ owner, app, webhookUrl: 'http://127.0.0.1:1/' })
  t.match(await getWebhookEndpoint(app, merchantId), { gone: false, alert: null })
  await plantDeliveries(owner, merchantId)
  t.match(await getWebhookEndpoint(app, merchantId), { alert: null }, 'one that is PENDING is no alert')
  await plantDead(owner, merchantId)
  t.match(await getWebhookEndpoint(app, merchantId), {
    gone: false,
    alert: {
      code: 'DELIVERIES_DEAD',
      message: /^1 delivery has failed six times/,
      dead_deliveries: 1,
      next: /svc webhooks replay --status DEAD/,
    },
  })
  await plantDead(owner, merchantId, { count: 10_500, from: '2025-01-01T00:00:00Z' })
  t.match(await getWebhookEndpoint(app, merchantId), { alert: { dead_deliveries: 10_000 } }, 'counted up to 10,000')
  t.match(await getWebhookEndpoint(app, other), { alert: null }, "another merchant's are its own affair")
  await putWebhookEndpoint(app, { merchantId, actor, paused: true })
  t.match(
    await getWebhookEndpoint(app, merchantId),
    { paused: true, alert: { code: 'DELIVERIES_DEAD' } },
    'paused as well',
  )
  await putWebhookEndpoint(app, { merchantId, actor, paused: false })
  await replayWebhooks(app, { merchantId, actor, dryRun: false })
  t.match(await getWebhookEndpoint(app, merchantId), { alert: null })
  await t.rejects(getWebhookEndpoint(app, randomUUID()), { code: 'MERCHANT_NOT_FOUND' })
})

t.test('an endpoint that answers 410 is reported as gone, until it delivers or is changed', async (t) => {
  const { owner, app } = await makeOutbox(t)
  let status = 410
  const receiver = await startReceiver(t, ({ response }) => response.writeHead(status).end())
  const merchantId = await plantMerchant({ owner, app, webhookUrl: receiver.url })
  const deliveries = startDeliveries(t, app)
  async function attempt(answer: number, ended: number): Promise<void> {
    status = answer
    await passDelays(owner)
    deliveries.wake()
    await until('the attempt is recorded', async () => {
      const { rows } = await owner.query(
        'select count(*)::int4 as count from webhook_attempts where merchant_id = $1',
        [merchantId],
      )
      return rows[0].count === ended
    })
  }
  await plantDeliveries(owner, merchantId)
  await attempt(410, 1)
  t.match(await getWebhookEndpoint(app, merchantId), {
    gone: true,
    alert: { code: 'ENDPOINT_GONE', dead_deliveries: 0, next: /svc webhooks endpoint set <url>/ },
  })
  await plantDead(owner, merchantId, { count: 2 })
  t.match(await getWebhookEndpoint(app, merchantId), {
    alert: { code: 'ENDPOINT_GONE', message: /2 deliveries/, dead_deliveries: 2, next: /replay --status DEAD/ },
  })
  await attempt(500, 2)
  t.match(
    await getWebhookEndpoint(app, merchantId),
    { gone: false, alert: { code: 'DELIVERIES_DEAD' } },
    'a newer failure',
  )
  await attempt(410, 3)
  t.match(await getWebhookEndpoint(app, merchantId), { gone: true })
  await putWebhookEndpoint(app, { merchantId, actor, paused: true })
  t.match(await getWebhookEndpoint(app, merchantId), { gone: true, paused: true }, 'a pause is no other address')
  await putWebhookEndpoint(app, { merchantId, actor, webhookUrl: `${receiver.url}/new` })
  t.match(
    await getWebhookEndpoint(app, merchantId),
    { gone: false },
    'what the old address said is not about the new one',
  )
  status = 200
  await putWebhookEndpoint(app, { merchantId, actor, paused: false })
  deliveries.wake()
  await until('it is delivered', async () => (await countByStatus(owner))['DELIVERED'] === 1)

  await plantDeliveries(owner, merchantId)
  await attempt(410, 5)
  t.match(await getWebhookEndpoint(app, merchantId), { gone: true })
  await attempt(200, 6)
  t.match(await getWebhookEndpoint(app, merchantId), { gone: false }, 'the same delivery went through')
  await plantDeliveries(owner, merchantId)
  await attempt(410, 7)
  await owner.query(`update webhook_queue set due_at = now() + interval '1 hour'`)
  t.match(await getWebhookEndpoint(app, merchantId), { gone: true })
  status = 200
  await plantDeliveries(owner, merchantId)
  deliveries.wake()
  await until('another one went through', async () => (await countByStatus(owner))['DELIVERED'] === 3)
  t.match(await getWebhookEndpoint(app, merchantId), { gone: false })
  await putWebhookEndpoint(app, { merchantId, actor, webhookUrl: null })
  t.match(await getWebhookEndpoint(app, merchantId), {
    webhook_url: null,
    gone: false,
    alert: { code: 'DELIVERIES_DEAD' },
  })
})

t.test('with a long history of successful deliveries the alert is read from its index', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: 'http://127.0.0.1:1/' })
  await owner.query(
    `insert into webhook_deliveries (id, merchant_id, event_id, event_type, payload, status, attempt_count, next_retry_at, delivered_at)
     select gen_random_uuid(), $1, 'evt_1700000000000_' || n, 'payment.settled', '{}', 'DELIVERED', 1, 'infinity', now()
     from generate_series(1, 50000) n`,
    [merchantId],
  )
  await owner.query(
    `insert into webhook_attempts (merchant_id, delivery_id, attempt, worker, started_at, duration_ms, outcome, http_status)
     select merchant_id, id, 1, 'w', now(), 3, 'delivered', 200 from webhook_deliveries`,
  )
  await plantDead(owner, merchantId, { count: 5 })
  await owner.query('analyze webhook_deliveries, webhook_attempts')
  t.match(await getWebhookEndpoint(app, merchantId), { alert: { dead_deliveries: 5 } })
  const { text, values } = await statementOf((tx) => findEndpoint(tx, merchantId))
  const { rows } = await owner.query(`explain ${text}`, [...values])
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  t.notMatch(plan, /Seq Scan on webhook_/, plan)
  t.match(plan, /webhook_attempts__failed/)
  t.match(plan, /webhook_deliveries__dead/)
})
