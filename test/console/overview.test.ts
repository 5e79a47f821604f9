import t from 'tap'
import { Overview } from '../../src/wire/console.ts'
import { createPayment, testService } from '../support/app.ts'
import type { TestMerchant } from '../support/app.ts'
import { OPERATOR, escalate, raiseAsPayer, submitEvidence } from '../support/disputes.ts'
import { settledPayment } from '../support/payments.ts'
import { plantDead } from '../support/webhooks.ts'

const service = await testService(t)
const one = await service.merchant({ webhookUrl: 'https://shop.example/hook' })
const two = await service.merchant()
await service.merchant({ kybStatus: 'PENDING' })

const ofAll = async () => (await service.call('GET', '/api/v1/admin/overview', { headers: OPERATOR })).body
const ofOne = async (merchant: TestMerchant) =>
  (await service.call('GET', '/api/v1/portal/overview', { merchant })).body

t.test('an empty service has an overview of zeros', async (t) => {
  const empty = await ofOne(two)
  t.ok(Overview.safeParse(empty).success)
  t.match(empty, {
    payments: { by_status: { Initiated: 0, Settled: 0, Refunded: 0 } },
    money_today: [],
    kyb: null,
    deliveries: { pending: 0, dead: 0, oldest_due_at: null },
    disputes: { open: 0, under_review: 0, escalated: 0, oldest_open_at: null, next_evidence_due_at: null },
    worker: { lag_ms: 0 },
  })
  t.same(
    empty.payments.per_minute,
    Array.from({ length: 60 }, () => 0),
  )
})

t.test('payments, money, webhooks and disputes of one merchant, and of all', async (t) => {
  const settled = [await settledPayment(service, one), await settledPayment(service, one)]
  const other = await settledPayment(service, two)
  await createPayment(service, one)
  await createPayment(service, two, { currency: 'EUR' })
  const old = (await createPayment(service, one)).body.payment_id
  const gone = (await createPayment(service, one)).body.payment_id
  await service.owner.query(
    `update payment_intents set created_at = now() - interval '30 minutes 5 seconds' where id = $1`,
    [old],
  )
  await service.owner.query(`update payment_intents set created_at = now() - interval '25 hours' where id = $1`, [gone])
  const ids = []
  for (const id of [...settled, other]) ids.push((await raiseAsPayer(service, id)).body.id)
  await submitEvidence(service, one, ids[0])
  await escalate(service, ids[2])
  await plantDead(service.owner, one.id, { count: 3 })

  const own = await ofOne(one)
  t.match(own, {
    payments: { by_status: { AwaitingAuthorisation: 2, Settled: 2, Failed: 0 } },
    money_today: [{ currency: 'GBP', count: 2, gross_amount: '100.00', fee_amount: '1.40', net_amount: '98.60' }],
    kyb: null,
    disputes: { open: 1, under_review: 1, escalated: 0, oldest_open_at: String, next_evidence_due_at: String },
    deliveries: { dead: 3, oldest_due_at: String },
  })
  t.ok(own.deliveries.pending > 0)
  t.equal(own.payments.per_minute[29], 1, 'half an hour ago')
  t.equal(
    own.payments.per_minute.reduce((sum: number, count: number) => sum + count, 0),
    4,
  )
  t.match(await ofAll(), {
    payments: { by_status: { AwaitingAuthorisation: 3, Settled: 3 } },
    money_today: [{ currency: 'GBP', count: 3, gross_amount: '150.00' }],
    kyb: { pending: 1, oldest_pending_at: String },
    disputes: { open: 1, under_review: 1, escalated: 1 },
    deliveries: { dead: 3 },
  })
  t.match(await ofOne(two), { disputes: { open: 0, escalated: 1 }, deliveries: { dead: 0, pending: 0 } })
})

t.test('the day begins at midnight UTC, and unclaimed due work counts as worker lag', async (t) => {
  await service.owner.query(`alter table payment_events disable trigger append_only`)
  await service.owner.query(
    `update payment_events set created_at = date_trunc('day', now(), 'UTC') - interval '1 second' where merchant_id = $1`,
    [two.id],
  )
  await service.owner.query(`alter table payment_events enable trigger append_only`)
  t.same((await ofOne(two)).money_today, [])
  await service.owner.query(`update webhook_queue set due_at = now() - interval '90 seconds' where merchant_id = $1`, [
    one.id,
  ])
  const { worker, deliveries, as_of: now } = await ofOne(one)
  t.ok(worker.lag_ms >= 90_000 && worker.lag_ms < 100_000, String(worker.lag_ms))
  t.ok(Math.abs(Date.parse(now) - Date.parse(deliveries.oldest_due_at) - 90_000) < 1_000)
  await service.owner.query(
    `insert into webhook_lanes (merchant_id, worker, locked_until) values ($1, 'w', now() + interval '1 minute')
     on conflict (merchant_id) do update set worker = 'w', locked_until = excluded.locked_until`,
    [one.id],
  )
  t.equal((await ofOne(one)).worker.lag_ms, 0, 'a leased delivery is not overdue')
})
