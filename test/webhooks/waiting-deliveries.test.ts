import t from 'tap'
import { scheduleWaitingDeliveries } from '../../src/webhooks/schedule-waiting-deliveries.ts'
import { firstMerchant } from '../../src/webhooks/claim.ts'
import { findSchedulable } from '../../src/webhooks/waiting-sql.ts'
import { replayWebhook } from '../../src/webhooks/replay-webhook.ts'
import { putWebhookEndpoint } from '../../src/webhooks/put-webhook-endpoint.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { startWorker } from '../../src/worker.ts'
import { retryUnavailable } from '../support/retry.ts'
import {
  countByStatus,
  makeOutbox,
  plantDead,
  plantDeliveries,
  plantMerchant,
  queueIsEmpty,
  scheduleAll,
  startDeliveries,
} from '../support/webhooks.ts'

type Owner = Awaited<ReturnType<typeof makeOutbox>>['owner']

const actor = { id: 'dev-1', name: 'Dev', role: 'DEVELOPER' }
const nowhere = 'http://127.0.0.1:1/'
const day = 86_400_000
const never = new AbortController().signal

async function waitingOf(owner: Owner, merchantId: string): Promise<string[]> {
  const { rows } = await owner.query<{ delivery_id: string }>(
    'select delivery_id from webhook_waiting where merchant_id = $1 order by created_at, delivery_id',
    [merchantId],
  )
  return rows.map(({ delivery_id }) => delivery_id)
}

/** The invariants of what waits: rows that are planted have no payment's books behind them. */
async function broken(owner: Owner): Promise<string[]> {
  return (await brokenInvariants(owner)).filter((name) => name.startsWith('I7'))
}

/** The endpoint as a crash right after the commit leaves it. */
async function crashLive(owner: Owner, merchantId: string): Promise<void> {
  await owner.query('update merchants set webhook_url = $2, paused_webhook_url = null where id = $1', [
    merchantId,
    nowhere,
  ])
}

t.test(
  'a delivery waits for an endpoint from its insert, its pause or its replay, until it is scheduled or replayed',
  async (t) => {
    const { owner, app } = await makeOutbox(t)
    const merchantId = await plantMerchant({ owner, app, webhookUrl: null })
    const [inserted = ''] = await plantDeliveries(owner, merchantId, { nextRetryAt: 'infinity' })
    t.strictSame(await waitingOf(owner, merchantId), [inserted], 'an insert without an endpoint')
    const [dead = ''] = await plantDead(owner, merchantId, { from: new Date().toISOString() })
    t.strictSame(await waitingOf(owner, merchantId), [inserted], 'a DEAD one waits for nothing')
    await replayWebhook(app, { merchantId, id: dead })
    t.strictSame(new Set(await waitingOf(owner, merchantId)), new Set([inserted, dead]), 'a replay without an endpoint')
    t.strictSame(await broken(owner), [])

    await putWebhookEndpoint(app, { merchantId, actor, webhookUrl: nowhere })
    t.strictSame(await waitingOf(owner, merchantId), [], 'all are scheduled')
    t.strictSame(await broken(owner), [])
    await plantDeliveries(owner, merchantId, { nextRetryAt: 'infinity' })
    t.strictSame(await waitingOf(owner, merchantId), [], 'an insert that did not see the address')
    await putWebhookEndpoint(app, { merchantId, actor, paused: true })
    t.equal((await waitingOf(owner, merchantId)).length, 3, 'a pause')
    t.strictSame(await broken(owner), [])
    await crashLive(owner, merchantId)
    await replayWebhook(app, { merchantId, id: inserted })
    t.notOk((await waitingOf(owner, merchantId)).includes(inserted), 'one that is sent by hand')
    t.strictSame(await broken(owner), [])
  },
)

t.test('a worker moves the rows that it holds to waiting when the endpoint is removed', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: nowhere })
  const ids = await plantDeliveries(owner, merchantId, { count: 3 })
  await owner.query('update merchants set webhook_url = null where id = $1', [merchantId])
  startDeliveries(t, app)
  await until('they wait', () => queueIsEmpty(owner))
  t.strictSame(new Set(await waitingOf(owner, merchantId)), new Set(ids))
  t.strictSame(await broken(owner), [])
})

t.test('the job schedules what a crash left waiting, oldest first, and nothing that must wait', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const waits = { nextRetryAt: 'infinity' }
  const merchantId = await plantMerchant({ owner, app, webhookUrl: null })
  const at = (ago: number) => ({ ...waits, createdAt: new Date(Date.now() - ago).toISOString() })
  const old = await plantDeliveries(owner, merchantId, { ...at(8 * day), count: 3 })
  await plantDeliveries(owner, merchantId, { ...at(day), count: 1_500 })
  const first = await plantDeliveries(owner, merchantId, { ...at(6 * day), count: 900 })
  const without = await plantMerchant({ owner, app, webhookUrl: null })
  await plantDeliveries(owner, without, { ...waits, count: 5 })
  const paused = await plantMerchant({ owner, app, webhookUrl: nowhere })
  await putWebhookEndpoint(app, { merchantId: paused, actor, paused: true })
  await plantDeliveries(owner, paused, { ...waits, count: 5 })
  t.strictSame(await scheduleWaitingDeliveries(app, never), { more: false }, 'nobody has an endpoint')
  t.equal(await queueIsEmpty(owner), true)

  await crashLive(owner, merchantId)
  const stopping = new AbortController()
  const woken: string[] = []
  const notify = (job: string) => {
    woken.push(job)
    stopping.abort()
  }
  t.strictSame(await scheduleWaitingDeliveries({ ...app, wake: { ...app.wake, notify } }, stopping.signal), {
    more: true,
  })
  t.strictSame(woken, ['deliver-webhooks'])
  const { rows } = await owner.query<{ delivery_id: string }>('select delivery_id from webhook_queue')
  const queued = new Set(rows.map(({ delivery_id }) => delivery_id))
  t.equal(queued.size, 1_000, 'a batch at a time, and no further after the signal to stop')
  t.ok(
    first.every((id) => queued.has(id)),
    'the oldest are in it',
  )
  await scheduleAll(app)
  t.equal((await owner.query('select from webhook_queue where merchant_id = $1', [merchantId])).rowCount, 2_400)
  t.equal((await owner.query('select from webhook_queue')).rowCount, 2_400)
  t.strictSame(new Set(await waitingOf(owner, merchantId)), new Set(old), 'too old')
  t.equal((await waitingOf(owner, without)).length + (await waitingOf(owner, paused)).length, 10)
  t.strictSame(
    await findSchedulable(app.pool, { after: firstMerchant, limit: 20 }),
    [],
    'and it is not looked at again',
  )
  t.strictSame(await broken(owner), [])
})

t.test('a worker schedules it without the job', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const receiver = await startReceiver(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: receiver.url })
  await putWebhookEndpoint(app, { merchantId, actor, paused: true })
  await plantDeliveries(owner, merchantId, { nextRetryAt: 'infinity', count: 1_200 })
  const worker = startWorker(app)
  t.teardown(() => worker.stop())
  await putWebhookEndpoint(app, { merchantId, actor, paused: false })
  await until('all are delivered', async () => (await countByStatus(owner))['DELIVERED'] === 1_200)
})

t.test(
  'concurrent pauses, replays, inserts and three scheduling workers leave each delivery in one place',
  async (t) => {
    const { owner, app } = await makeOutbox(t)
    const merchantId = await plantMerchant({ owner, app, webhookUrl: null })
    const ids = await plantDeliveries(owner, merchantId, { nextRetryAt: 'infinity', count: 3_000 })
    await crashLive(owner, merchantId)
    const byHand = ids.filter((_, index) => index % 100 === 0)
    const outcomes = await Promise.allSettled([
      ...[1, 2, 3].map(() => retryUnavailable(() => scheduleAll(app))),
      ...byHand.map((id) => retryUnavailable(() => replayWebhook(app, { merchantId, id }))),
      retryUnavailable(() => putWebhookEndpoint(app, { merchantId, actor, paused: true })),
      plantDeliveries(owner, merchantId, { nextRetryAt: 'infinity', count: 20 }),
      retryUnavailable(() => putWebhookEndpoint(app, { merchantId, actor, paused: false })),
    ])
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') t.match(outcome.reason, { code: 'DELIVERY_NOT_DEAD' })
    t.strictSame(await broken(owner), [])
    await putWebhookEndpoint(app, { merchantId, actor, paused: false })
    await scheduleAll(app)
    t.equal((await owner.query('select from webhook_queue')).rowCount, 3_020)
    t.strictSame(await waitingOf(owner, merchantId), [])
    t.strictSame(await broken(owner), [])
  },
)

t.test('a failure for one merchant does not delay the others', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const merchants = await Array.fromAsync({ length: 3 }, () => plantMerchant({ owner, app, webhookUrl: null }))
  for (const id of merchants) {
    await plantDeliveries(owner, id, { nextRetryAt: 'infinity' })
    await crashLive(owner, id)
  }
  const [bad = ''] = merchants.toSorted()
  await owner.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
    create trigger refuse before insert on webhook_queue for each row when (new.merchant_id = '${bad}') execute function refuse();
  `)
  t.strictSame(await scheduleWaitingDeliveries(app, never), { more: true })
  t.strictSame(await scheduleWaitingDeliveries(app, never), { more: false }, 'and it is not tried without a pause')
  t.equal((await owner.query('select from webhook_queue')).rowCount, 2)
  t.equal((await waitingOf(owner, bad)).length, 1)
})

t.test('those that fail, however many, do not keep the ones behind them waiting', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const merchants = await Array.fromAsync({ length: 21 }, () => plantMerchant({ owner, app, webhookUrl: null }))
  for (const id of merchants) {
    await plantDeliveries(owner, id, { nextRetryAt: 'infinity' })
    await crashLive(owner, id)
  }
  const last = merchants.toSorted().at(-1) ?? ''
  await owner.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
    create trigger refuse before insert on webhook_queue for each row when (new.merchant_id <> '${last}') execute function refuse();
  `)
  t.strictSame(await scheduleWaitingDeliveries(app, never), { more: true })
  t.strictSame(await waitingOf(owner, last), [])
})
