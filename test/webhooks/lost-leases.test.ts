import t from 'tap'
import { firstMerchant } from '../../src/webhooks/claim.ts'
import { leaseSuffices } from '../../src/webhooks/deliver.ts'
import { claimDeliveries, recordAttempts } from '../../src/webhooks/sql.ts'
import type { AttemptRow } from '../../src/webhooks/sql.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import {
  countByStatus,
  makeOutbox,
  plantDeliveries,
  plantMerchant,
  readDelivery,
  startDeliveries,
} from '../support/webhooks.ts'

t.test('an attempt starts only if its lease outlasts it: a worker that was paused sends nothing', async (t) => {
  const now = performance.now()
  t.equal(leaseSuffices(now + 30_000), true)
  t.equal(leaseSuffices(now + 5_500), false, 'the attempt may last longer')
  t.equal(leaseSuffices(now - 1), false)
})

t.test('a result of an earlier lease of the same worker is not recorded, whatever it says', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: 'http://127.0.0.1:1/' })
  await plantDeliveries(owner, merchantId, { count: 2 })
  const held = { merchants: [], counts: [], rows: [] }
  const claimed = await claimDeliveries(app.pool, {
    worker: 'one',
    after: firstMerchant,
    rowsMax: 10,
    perMerchantMax: 4,
    leaseMs: 30_000,
    held,
  })
  t.equal(claimed.length, 2)
  const results = claimed.map(({ merchant_id, delivery_id, epoch }, index): AttemptRow => ({
    merchant_id,
    delivery_id,
    epoch,
    attempt: 1,
    response_body: null,
    age_ms: 1,
    duration_ms: 1,
    ...(index === 0
      ? { status: 'DELIVERED', outcome: 'delivered', http_status: 200, delay_ms: null }
      : { status: 'FAILED', outcome: 'timeout', http_status: null, delay_ms: 60_000 }),
  }))
  await owner.query('update webhook_lanes set epoch = epoch + 1')
  t.strictSame(await recordAttempts(app.pool, 'one', results), { count: 0 })
  t.strictSame(await countByStatus(owner), { PENDING: 2 })
  await owner.query('update webhook_lanes set epoch = epoch - 1')
  t.strictSame(await recordAttempts(app.pool, 'one', results), { count: 2 })
  t.strictSame(await countByStatus(owner), { DELIVERED: 1, FAILED: 1 })
})

t.test('an attempt that could not be recorded is recorded later, and not sent again', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const receiver = await startReceiver(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: receiver.url })
  const [id = ''] = await plantDeliveries(owner, merchantId)
  let refusals = 0
  const one: typeof app.pool.one = (query) => {
    if (!query.sql.includes('insert into webhook_attempts') || refusals === 2) return app.pool.one(query)
    refusals += 1
    return Promise.reject(new Error('the database is away'))
  }
  startDeliveries(t, { ...app, pool: { ...app.pool, one } })
  await until('it is recorded', async () => (await readDelivery(owner, id)).status === 'DELIVERED')
  t.equal(refusals, 2)
  t.equal(receiver.receipts.length, 1)
})

t.test('what was claimed a second ago is read again before it is sent', async (t) => {
  const { owner, app } = await makeOutbox(t, { webhookConcurrency: 1 })
  const next = await startReceiver(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: null })
  const slow = await startReceiver(t, async ({ response }) => {
    await owner.query('update merchants set webhook_url = $1', [next.url])
    setTimeout(() => response.writeHead(200).end(), 1_200)
  })
  await owner.query('update merchants set webhook_url = $1', [slow.url])
  await plantDeliveries(owner, merchantId, { count: 2 })
  startDeliveries(t, app)
  await until('both are delivered', async () => (await countByStatus(owner))['DELIVERED'] === 2)
  t.equal(slow.receipts.length, 1)
  t.equal(next.receipts.length, 1, 'the second one went to the new address')
})
