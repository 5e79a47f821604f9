import { randomUUID } from 'node:crypto'
import t from 'tap'
import { replayWebhooks } from '../../src/webhooks/replay-webhooks.ts'
import type { ReplayWebhooksInput } from '../../src/webhooks/replay-webhooks.ts'
import { putWebhookEndpoint } from '../../src/webhooks/put-webhook-endpoint.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import {
  countByStatus,
  makeOutbox,
  plantDead,
  plantDeliveries,
  plantMerchant,
  queueIsEmpty,
  readDelivery,
  scheduleAll,
  startDeliveries,
} from '../support/webhooks.ts'

type Outbox = Awaited<ReturnType<typeof makeOutbox>>

const actor = { id: 'dev-1', name: 'Dev', role: 'DEVELOPER' }

function ask({ app }: Outbox, merchantId: string, filter: Partial<ReplayWebhooksInput> = {}) {
  return replayWebhooks(app, { merchantId, actor, dryRun: false, ...filter })
}

/** Where nobody listens: what is queued stays so, for no worker runs. */
const nowhere = 'http://127.0.0.1:1/'

/** How long after the first each queued delivery is due, in milliseconds, the oldest delivery first. */
async function dueAfterMs({ owner }: Outbox, merchantId: string): Promise<number[]> {
  const { rows } = await owner.query<{ ms: number }>(
    `select round(extract(epoch from q.due_at - min(q.due_at) over ()) * 1000)::int4 as ms
     from webhook_queue q join webhook_deliveries d on d.merchant_id = q.merchant_id and d.id = q.delivery_id
     where d.merchant_id = $1
     order by d.created_at, d.id`,
    [merchantId],
  )
  return rows.map(({ ms }) => ms)
}

async function actionsOf({ owner }: Outbox, merchantId: string) {
  const { rows } = await owner.query(
    'select actor_id, action, subject_id, after from operator_actions where merchant_id = $1 order by ordinal',
    [merchantId],
  )
  return rows
}

t.test('dead deliveries are sent again, oldest first, from their first attempt', async (t) => {
  const outbox = await makeOutbox(t)
  const { owner, app } = outbox
  const receiver = await startReceiver(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: receiver.url })
  const other = await plantMerchant({ owner, app, webhookUrl: receiver.url })
  const ids = await plantDead(owner, merchantId, { count: 30 })
  const [foreign = ''] = await plantDead(owner, other)
  const [waiting = ''] = await plantDeliveries(owner, merchantId, { nextRetryAt: '2099-01-01T00:00:00Z' })
  t.strictSame(await ask(outbox, merchantId), { matching: 30, queued: 30, hasMore: false })
  t.match(await readDelivery(owner, ids[0] ?? ''), { status: 'PENDING', attempt_count: 0 })
  t.strictSame(await ask(outbox, merchantId), { matching: 0, queued: 0, hasMore: false }, 'and then none is left')
  startDeliveries(t, app)
  await until('they are delivered', async () => (await countByStatus(owner))['DELIVERED'] === 30)
  t.equal(receiver.receipts.length, 30)
  t.equal(new Set(receiver.receipts.map(({ eventId }) => eventId)).size, 30)
  t.match(await readDelivery(owner, foreign), { status: 'DEAD' }, "another merchant's")
  t.match(await readDelivery(owner, waiting), { status: 'PENDING', next_retry_at: /^2099/ }, 'one that is not DEAD')
})

t.test('the first hundred go at once, and the rest at fifty a second, the oldest first', async (t) => {
  const outbox = await makeOutbox(t)
  const { owner, app } = outbox
  const merchantId = await plantMerchant({ owner, app, webhookUrl: nowhere })
  await plantDead(owner, merchantId, { count: 2_250 })
  t.strictSame(await ask(outbox, merchantId), { matching: 2_250, queued: 2_250, hasMore: false })
  const due = await dueAfterMs(outbox, merchantId)
  t.strictSame(
    due.slice(0, 100),
    Array.from({ length: 100 }, () => 0),
  )
  t.strictSame(
    due.slice(100, 2_250),
    Array.from({ length: 2_150 }, (_, index) => (index + 1) * 20),
    'over the batches as well',
  )
  const { rows } = await owner.query(
    'select bool_and(q.due_at = d.next_retry_at) as same from webhook_queue q join webhook_deliveries d on d.id = q.delivery_id',
  )
  t.equal(rows[0].same, true, 'the queue and the delivery tell the same time')

  await plantDead(owner, merchantId, { count: 10, from: '2026-03-01T00:00:00Z' })
  await ask(outbox, merchantId)
  const later = await dueAfterMs(outbox, merchantId)
  t.strictSame(
    later.slice(2_250),
    Array.from({ length: 10 }, (_, index) => (2_150 + index + 1) * 20),
    'a second request goes on behind the first',
  )
})

t.test('three concurrent requests queue each of 5000 once, at one rate', async (t) => {
  const outbox = await makeOutbox(t)
  const { owner, app } = outbox
  const merchantId = await plantMerchant({ owner, app, webhookUrl: nowhere })
  await plantDead(owner, merchantId, { count: 5_000 })
  const begun = performance.now()
  const replies = await Promise.all([1, 2, 3].map(() => ask(outbox, merchantId)))
  const tookMs = performance.now() - begun
  t.equal(
    replies.reduce((sum, { queued }) => sum + queued, 0),
    5_000,
    JSON.stringify(replies),
  )
  t.strictSame(await countByStatus(owner), { PENDING: 5_000 })
  t.equal((await owner.query('select from webhook_queue')).rowCount, 5_000)
  t.ok(tookMs < 100_000, `${Math.round(tookMs)} ms`)
  const due = (await dueAfterMs(outbox, merchantId)).toSorted((a, b) => a - b)
  for (let second = 0; second * 50 + 101 < due.length; second += 1) {
    const within = due.filter((ms) => ms > second * 1_000 && ms <= (second + 1) * 1_000).length
    if (within > 50) t.fail(`${within} in second ${second}`)
  }
  t.equal(due.filter((ms) => ms === 0).length, 100, 'one burst, not three')
  const actions = await actionsOf(outbox, merchantId)
  t.equal(actions.length, replies.filter(({ queued }) => queued > 0).length, 'each that queued something is recorded')
})

t.test('a window, a type and a dry run', async (t) => {
  const outbox = await makeOutbox(t)
  const { owner, app } = outbox
  const merchantId = await plantMerchant({ owner, app, webhookUrl: nowhere })
  const ids = await plantDead(owner, merchantId, { count: 10, from: '2026-01-01T00:00:00Z' })
  const [refunded = ''] = await plantDead(owner, merchantId, {
    from: '2026-01-01T00:00:05.500Z',
    eventType: 'payment.refunded',
  })
  const window = { since: '2026-01-01T00:00:03.000Z', until: '2026-01-01T00:00:07.000Z' }
  t.strictSame(await ask(outbox, merchantId, { ...window, dryRun: true }), { matching: 5, queued: 0, hasMore: false })
  t.strictSame(await countByStatus(owner), { DEAD: 11 }, 'a dry run changes nothing')
  t.strictSame(await actionsOf(outbox, merchantId), [])
  t.strictSame(await ask(outbox, merchantId, { ...window, eventType: 'payment.refunded' }), {
    matching: 1,
    queued: 1,
    hasMore: false,
  })
  t.match(await readDelivery(owner, refunded), { status: 'PENDING' })
  t.strictSame(await ask(outbox, merchantId, { ...window, eventType: 'payment.refunded' }), {
    matching: 0,
    queued: 0,
    hasMore: false,
  })
  t.strictSame(await ask(outbox, merchantId, window), { matching: 4, queued: 4, hasMore: false })
  const { rows } = await owner.query("select id from webhook_log where status = 'PENDING'")
  t.strictSame(
    new Set(rows.map(({ id }) => id)),
    new Set([...ids.slice(3, 7), refunded]),
    'since is within, until is not',
  )
  t.match(await actionsOf(outbox, merchantId), [
    {
      actor_id: 'dev-1',
      action: 'webhook.replay_many',
      subject_id: merchantId,
      after: { matching: 1, event_type: 'payment.refunded', ...window },
    },
    { after: { matching: 4, event_type: null, ...window } },
  ])
  t.strictSame(await ask(outbox, merchantId, { since: '2026-01-01T00:00:07.000Z' }), {
    matching: 3,
    queued: 3,
    hasMore: false,
  })
  t.strictSame(await ask(outbox, merchantId), { matching: 3, queued: 3, hasMore: false })
})

t.test('without an active endpoint nothing is queued or counted', async (t) => {
  const outbox = await makeOutbox(t)
  const { owner, app } = outbox
  const merchantId = await plantMerchant({ owner, app, webhookUrl: null })
  await plantDead(owner, merchantId, { count: 3 })
  for (const dryRun of [true, false]) {
    await t.rejects(ask(outbox, merchantId, { dryRun }), { code: 'WEBHOOK_ENDPOINT_NOT_SET', next: /endpoint set/ })
  }
  await putWebhookEndpoint(app, { merchantId, actor, webhookUrl: nowhere, paused: true })
  for (const dryRun of [true, false]) {
    await t.rejects(ask(outbox, merchantId, { dryRun }), { code: 'WEBHOOK_ENDPOINT_PAUSED', next: /resume/ })
  }
  await t.rejects(ask(outbox, randomUUID()), { code: 'MERCHANT_NOT_FOUND' })
  t.strictSame(await countByStatus(owner), { DEAD: 3 })
})

t.test('a pause during a long replay holds all of it, and its end releases all of it', async (t) => {
  const outbox = await makeOutbox(t)
  const { owner, app } = outbox
  const merchantId = await plantMerchant({ owner, app, webhookUrl: nowhere })
  await plantDead(owner, merchantId, { count: 10_000, from: new Date(Date.now() - 6 * 3_600_000).toISOString() })
  const replaying = ask(outbox, merchantId)
  await until('it has begun', async () => !(await queueIsEmpty(owner)))
  await putWebhookEndpoint(app, { merchantId, actor, paused: true })
  const { queued } = await replaying
  t.ok(queued >= 2_500 && queued <= 10_000, `${queued} were queued before`)
  t.equal(await queueIsEmpty(owner), true)
  const { rows } = await owner.query(
    `select count(*)::int4 as count from webhook_deliveries where status = 'PENDING' and next_retry_at = 'infinity' and attempt_count = 0`,
  )
  t.equal(rows[0].count, queued)
  t.equal((await countByStatus(owner))['DEAD'] ?? 0, 10_000 - queued)
  await putWebhookEndpoint(app, { merchantId, actor, paused: false })
  await scheduleAll(app)
  t.equal((await owner.query('select from webhook_queue')).rowCount, queued)
})

t.test(
  'beyond the maximum count: ten thousand are reported, fifty thousand queued, and the next request queues the rest',
  async (t) => {
    const outbox = await makeOutbox(t)
    const { owner, app } = outbox
    const merchantId = await plantMerchant({ owner, app, webhookUrl: nowhere })
    await plantDead(owner, merchantId, { count: 50_010 })
    t.strictSame(await ask(outbox, merchantId, { dryRun: true }), { matching: 10_000, queued: 0, hasMore: true })
    const begun = performance.now()
    t.strictSame(await ask(outbox, merchantId), { matching: 50_000, queued: 50_000, hasMore: true })
    const tookMs = performance.now() - begun
    t.ok(tookMs < 100_000, `${Math.round(tookMs)} ms`)
    t.strictSame(await ask(outbox, merchantId), { matching: 10, queued: 10, hasMore: false })
    t.strictSame(await countByStatus(owner), { PENDING: 50_010 })
  },
)

t.test('the sandbox clock moves the schedule of a replay, and a second replay continues after it', async (t) => {
  const outbox = await makeOutbox(t)
  const { owner, app } = outbox
  const merchantId = await plantMerchant({ owner, app, webhookUrl: nowhere })
  await plantDead(owner, merchantId, { count: 1_100 })
  await ask(outbox, merchantId)
  await owner.query(`select advance_sandbox_clock($1, '{}', '1 hour')`, [merchantId])
  await plantDead(owner, merchantId, { count: 10, from: '2026-03-01T00:00:00Z' })
  await ask(outbox, merchantId)
  const { rows } = await owner.query(
    `select count(*)::int4 as due, bool_and(d.next_retry_at = q.due_at) as same
     from webhook_queue q join webhook_deliveries d on d.merchant_id = q.merchant_id and d.id = q.delivery_id
     where q.due_at <= now()`,
  )
  t.strictSame(rows, [{ due: 1_110, same: true }], 'the first plan has passed: the second begins at once')
})
