import { randomUUID } from 'node:crypto'
import t from 'tap'
import { DatabaseBusyError } from '../../src/db/turns.ts'
import { listWebhooks } from '../../src/webhooks/list-webhooks.ts'
import { replayWebhook } from '../../src/webhooks/replay-webhook.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import {
  makeOutbox,
  plantDeliveries,
  plantMerchant,
  plantPayment,
  queueIsEmpty,
  readDelivery,
  startDeliveries,
} from '../support/webhooks.ts'

type Owner = Awaited<ReturnType<typeof makeOutbox>>['owner']

async function makeDead(owner: Owner, id: string): Promise<void> {
  await owner.query('delete from webhook_queue where delivery_id = $1', [id])
  await owner.query(
    `update webhook_deliveries set status = 'DEAD', attempt_count = 6, next_retry_at = 'infinity', last_http_status = 500, last_error = 'http_500' where id = $1`,
    [id],
  )
}

t.test('a DEAD delivery is sent again from its first attempt, with the same id and bytes', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const receiver = await startReceiver(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: receiver.url })
  const [id = ''] = await plantDeliveries(owner, merchantId)
  await makeDead(owner, id)
  const before = await readDelivery(owner, id)
  const woken: string[] = []
  const replayed = await replayWebhook(
    { ...app, wake: { ...app.wake, notify: (job) => woken.push(job) } },
    { merchantId, id },
  )
  t.match(replayed, {
    id,
    event_id: before.event_id,
    status: 'PENDING',
    attempt_count: 0,
    delivered_at: null,
    next_retry_at: /Z$/,
    created_at: /Z$/,
  })
  t.strictSame(woken, ['deliver-webhooks'])
  await t.rejects(
    replayWebhook(app, { merchantId, id }),
    { code: 'DELIVERY_NOT_DEAD', message: /PENDING/, next: /Wait for its next attempt/ },
    'a second replay',
  )
  startDeliveries(t, app)
  await until('it is delivered', async () => (await readDelivery(owner, id)).status === 'DELIVERED')
  t.equal(receiver.receipts[0]?.eventId, before.event_id)
  t.equal(receiver.receipts[0]?.body.toString(), before.payload)
  t.equal(receiver.receipts.length, 1)
  await t.rejects(replayWebhook(app, { merchantId, id }), {
    code: 'DELIVERY_NOT_DEAD',
    message: /DELIVERED/,
    next: /confirmed/,
  })
})

/** As clients do: what no connection was free for is repeated. */
async function replayWithRetry(...args: Parameters<typeof replayWebhook>): Promise<unknown> {
  for (;;) {
    try {
      return await replayWebhook(...args)
    } catch (error) {
      if (!(error instanceof DatabaseBusyError)) throw error
    }
  }
}

t.test('fifty concurrent replays queue it once', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: 'http://127.0.0.1:1/' })
  const [id = ''] = await plantDeliveries(owner, merchantId)
  await makeDead(owner, id)
  const ended = await Promise.allSettled(Array.from({ length: 50 }, () => replayWithRetry(app, { merchantId, id })))
  t.equal(ended.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const end of ended) if (end.status === 'rejected') t.match(end.reason, { code: 'DELIVERY_NOT_DEAD' })
  t.equal((await owner.query('select from webhook_queue')).rowCount, 1)
})

t.test('without an endpoint the replayed delivery waits for one', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: null })
  const [id = ''] = await plantDeliveries(owner, merchantId)
  await makeDead(owner, id)
  t.match(await replayWebhook(app, { merchantId, id }), { status: 'PENDING', attempt_count: 0, next_retry_at: null })
  t.equal(await queueIsEmpty(owner), true)
  await t.rejects(replayWebhook(app, { merchantId, id }), { code: 'DELIVERY_NOT_DEAD', next: /Set a webhook endpoint/ })
})

t.test('a delivery that was too old when the endpoint was set can be sent by hand', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: null })
  const [id = ''] = await plantDeliveries(owner, merchantId, { nextRetryAt: 'infinity' })
  await owner.query('update merchants set webhook_url = $2 where id = $1', [merchantId, 'http://127.0.0.1:1/'])
  t.match(await replayWebhook(app, { merchantId, id }), { status: 'PENDING', attempt_count: 0, next_retry_at: String })
  t.equal(await queueIsEmpty(owner), false)
})

t.test("only ids of the merchant's own deliveries are found", async (t) => {
  const { owner, app } = await makeOutbox(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: 'http://127.0.0.1:1/' })
  const other = await plantMerchant({ owner, app, webhookUrl: 'http://127.0.0.1:1/' })
  const [id = ''] = await plantDeliveries(owner, other)
  await makeDead(owner, id)
  for (const wrong of [id, randomUUID(), '', 'nonsense', `${id}'--`, id.slice(1), '\u0000']) {
    await t.rejects(
      replayWebhook(app, { merchantId, id: wrong }),
      { code: 'DELIVERY_NOT_FOUND' },
      JSON.stringify(wrong),
    )
  }
  t.match(await readDelivery(owner, id), { status: 'DEAD', attempt_count: 6 })
})

t.test('a merchant lists its own last 50 deliveries, the newest first', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: null })
  const other = await plantMerchant({ owner, app, webhookUrl: null })
  const waits = { nextRetryAt: 'infinity' }
  await plantDeliveries(owner, other, { ...waits, count: 3 })
  await plantDeliveries(owner, merchantId, { ...waits, count: 60, createdAt: '2026-01-01T00:00:00Z' })
  const paymentId = await plantPayment(owner, merchantId)
  const [newest = ''] = await plantDeliveries(owner, merchantId, { paymentId, createdAt: '2026-01-02T00:00:00Z' })
  await makeDead(owner, newest)
  const listed = await listWebhooks(app, { merchantId })
  t.equal(listed.length, 50)
  t.strictSame(listed[0], {
    id: newest,
    event_id: (await readDelivery(owner, newest)).event_id,
    event_type: 'payment.settled',
    payment_intent_id: paymentId,
    status: 'DEAD',
    last_http_status: 500,
    last_error: 'http_500',
    attempt_count: 6,
    next_retry_at: null,
    delivered_at: null,
    created_at: '2026-01-02T00:00:00.000Z',
  })
  const ids = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id)
  t.strictSame(ids(await listWebhooks(app, { merchantId, status: 'DEAD' })), [newest])
  t.strictSame(ids(await listWebhooks(app, { merchantId, paymentId })), [newest])
  t.strictSame(await listWebhooks(app, { merchantId, paymentId, status: 'PENDING' }), [])
  t.strictSame(await listWebhooks(app, { merchantId, paymentId: 'nonsense' }), [])
  t.equal((await listWebhooks(app, { merchantId: other })).length, 3)
  t.strictSame(await listWebhooks(app, { merchantId: other, paymentId }), [], "another merchant's payment")
  t.strictSame(await listWebhooks(app, { merchantId: randomUUID() }), [])
})
