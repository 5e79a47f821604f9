import { randomUUID } from 'node:crypto'
import t from 'tap'
import type pg from 'pg'
import { listDeliveries, listOutboxRows } from '../../src/webhooks/list-sql.ts'
import { listWebhooks } from '../../src/webhooks/list-webhooks.ts'
import type { ListWebhooksInput } from '../../src/webhooks/list-webhooks.ts'
import { listOutbox } from '../../src/webhooks/list-outbox.ts'
import type { ListOutboxQuery } from '../../src/webhooks/list-outbox.ts'
import { replayWebhook } from '../../src/webhooks/replay-webhook.ts'
import { measureKeptPlan } from '../support/kept-plan.ts'
import { makeOutbox, plantDead, plantDeliveries, plantMerchant } from '../support/webhooks.ts'

const nowhere = 'http://127.0.0.1:1/'
const STATUSES = ['PENDING', 'DELIVERED', 'FAILED', 'DEAD'] as const
const TYPES = ['payment.settled', 'payment.refunded', 'refund.failed'] as const

const { owner, app } = await makeOutbox(t)

/** DELIVERED ones, a second apart from `from` on. */
async function plantDelivered(merchantId: string, count: number, from: string): Promise<void> {
  await owner.query(
    `insert into webhook_deliveries (id, merchant_id, event_id, event_type, payload, status, attempt_count, next_retry_at, delivered_at, created_at)
     select gen_random_uuid(), $1, 'evt_' || gen_random_uuid(), 'payment.settled', '{}', 'DELIVERED', 1, 'infinity', now(),
       $3::timestamptz + n * interval '1 second'
     from generate_series(1, $2::int) as n`,
    [merchantId, count, from],
  )
}

/** Every status, waiting in every way, of three types and at times that are equal now and then. */
async function plantMix(merchantId: string): Promise<void> {
  const at = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, n % 7)).toISOString()
  for (let n = 0; n < 6; n += 1) {
    await plantDeliveries(owner, merchantId, { nextRetryAt: 'infinity', count: 3, createdAt: at(n) })
    await plantDeliveries(owner, merchantId, { nextRetryAt: '2099-01-01T00:00:00Z', count: 3, createdAt: at(n + 1) })
    await plantDead(owner, merchantId, { count: 3, from: at(n + 2), eventType: TYPES[n % 3] ?? 'payment.settled' })
    await plantDelivered(merchantId, 3, at(n + 3))
  }
  // What failed once, queued and waiting for an endpoint, and what is sent again and keeps its error.
  await owner.query(
    `update webhook_deliveries set status = 'FAILED', attempt_count = 2, last_error = 'http_500' where id in (
       (select delivery_id from webhook_queue where merchant_id = $1 limit 5)
       union all (select delivery_id from webhook_waiting where merchant_id = $1 limit 5))`,
    [merchantId],
  )
  await owner.query(
    `update webhook_deliveries set event_type = 'payment.refunded' where merchant_id = $1 and ctid in (
       select ctid from webhook_deliveries where merchant_id = $1 order by md5(id::text) limit 30)`,
    [merchantId],
  )
  const { rows } = await owner.query<{ id: string }>(
    `select id from webhook_deliveries where merchant_id = $1 and status = 'DEAD' order by id limit 4`,
    [merchantId],
  )
  for (const { id } of rows) await replayWebhook(app, { merchantId, id })
}

/** The same list, as one reads it off the whole history. */
async function expected(client: pg.Client, where: string, values: unknown[], limit: number): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `select id from webhook_deliveries where ${where} order by created_at desc, id desc limit ${limit}`,
    values,
  )
  return rows.map(({ id }) => id)
}

const FILTERS = [undefined, ...STATUSES].flatMap((status) => [undefined, ...TYPES].map((type) => ({ status, type })))
const WHERE = `($1::uuid is null or merchant_id = $1) and ($2::text is null or status::text = $2) and ($3::text is null or event_type = $3)`

async function pages(query: Omit<ListOutboxQuery, 'limit'>): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const page = await listOutbox(app, { ...query, limit: 7, cursor })
    ids.push(...page.deliveries.map(({ id }) => id))
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return ids
}

t.test('every filter finds all matches of the whole history, for one merchant and over all', async (t) => {
  const one = await plantMerchant({ owner, app, webhookUrl: nowhere })
  const two = await plantMerchant({ owner, app, webhookUrl: null })
  for (const merchantId of [one, two]) await plantMix(merchantId)
  for (const { status, type } of FILTERS) {
    for (const merchantId of [one, two]) {
      const filter: ListWebhooksInput = { merchantId, status, eventType: type }
      const own = await expected(owner, WHERE, [merchantId, status, type], 50)
      const name = `${status} ${type}`
      const listed = await listWebhooks(app, filter)
      t.strictSame(
        listed.map(({ id }) => id),
        own,
        name,
      )
      t.ok(
        listed.every((row) => status === undefined || row.status === status),
        name,
      )
      const query = { merchant_id: merchantId, status, event_type: type }
      t.strictSame(
        await pages(query),
        await expected(owner, WHERE, [merchantId, status, type], 1_000),
        `${name}, paged`,
      )
    }
    t.strictSame(
      await pages({ status, event_type: type }),
      await expected(owner, WHERE, [null, status, type], 1_000),
      `${status} ${type} of all`,
    )
  }
  t.strictSame(await listWebhooks(app, { merchantId: randomUUID(), status: 'PENDING' }), [])
})

t.test(
  'a filter examines the newest 20,000 of a merchant, and the list of operators continues after them',
  async (t) => {
    const merchantId = await plantMerchant({ owner, app, webhookUrl: nowhere })
    const rare = { count: 2, eventType: 'refund.failed' }
    const [, near = ''] = await plantDead(owner, merchantId, { ...rare, from: '2027-06-01T00:00:00Z' })
    await plantDelivered(merchantId, 19_998, '2027-06-02T00:00:00Z')
    // As autovacuum would in a minute: until then the planner takes the table for a small one, and each page is slow.
    await owner.query('analyze webhook_deliveries')
    const filter = { merchantId, eventType: 'refund.failed' }
    t.equal((await listWebhooks(app, filter)).length, 2)
    await plantDelivered(merchantId, 1, '2027-07-01T00:00:00Z')
    t.strictSame(
      (await listWebhooks(app, filter)).map(({ id }) => id),
      [near],
      'the 20,001st is not looked at',
    )
    t.equal((await listWebhooks(app, { ...filter, status: 'DEAD' })).length, 2, 'what is DEAD has an index of its own')
    const rows = await listOutboxRows(app.pool, { ...filter, limit: 6 })
    t.match(rows, [{ id: near, matches: true, is_last_examined: true }])
    const both = await expected(owner, WHERE, [merchantId, null, 'refund.failed'], 5)
    t.strictSame(await pages({ merchant_id: merchantId, event_type: 'refund.failed' }), both)
    const ofAll = await pages({ event_type: 'refund.failed' })
    t.strictSame(
      ofAll.filter((id) => both.includes(id)),
      both,
      'a list of all has them on later pages',
    )
    // Newer ones that failed once, and wait: more than a statement examines of each merchant.
    const busy = await plantMerchant({ owner, app, webhookUrl: nowhere })
    await plantDeliveries(owner, busy, {
      nextRetryAt: '2099-01-01T00:00:00Z',
      count: 600,
      createdAt: '2028-01-01T00:00:00Z',
    })
    await owner.query(
      `update webhook_deliveries set status = 'FAILED', attempt_count = 2, last_error = 'http_500' where merchant_id = $1`,
      [busy],
    )
    const dead = await listOutboxRows(app.pool, { status: 'DEAD', limit: 3 })
    t.ok(dead.length === 3 && dead.every(({ status, matches }) => status === 'DEAD' && matches), 'DEAD has an index')
    t.equal(
      (await pages({ merchant_id: merchantId, event_type: 'payment.settled' })).length,
      19_999,
      'what is not rare is paged to its end',
    )
  },
)

t.test('a plan that is kept, for merchants who have few deliveries, reads no more of one who has many', async (t) => {
  const merchantId = await plantMerchant({ owner, app, webhookUrl: nowhere })
  await plantDelivered(merchantId, 20_000, '2026-01-01T00:00:00Z')
  // Of as many merchants as there are deliveries.
  await owner.query('set session_replication_role = replica')
  await owner.query(
    `insert into webhook_deliveries (id, merchant_id, event_id, event_type, payload, status, attempt_count, next_retry_at, delivered_at)
     select gen_random_uuid(), gen_random_uuid(), 'evt_' || gen_random_uuid(), 'payment.settled', '{}', 'DELIVERED', 1,
       'infinity', now()
     from generate_series(1, 5000)`,
  )
  await owner.query('set session_replication_role = origin')
  await owner.query('vacuum analyze webhook_deliveries')
  const { text, buffers } = await measureKeptPlan(owner, (tx) => listDeliveries(tx, { merchantId }, 50))
  t.match(text, /rows=50/)
  t.ok(buffers < 50 * 6, text)
})
