import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import t from 'tap'
import { makeAdminConnection } from '../../src/db/connection.ts'
import { makePost } from '../../src/webhooks/sending/post.ts'
import type { Post } from '../../src/webhooks/sending/post.ts'
import { verifySignature } from '../../src/lib/webhook-signature.ts'
import { capturedLog } from '../support/captured-log.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import {
  countByStatus,
  makeOutbox,
  makeOutboxApp,
  passDelays,
  plantDeliveries,
  plantMerchant,
  plantPayment,
  queueIsEmpty,
  readDelivery,
  startDeliveries,
} from '../support/webhooks.ts'

t.test('a due delivery is sent, and is DELIVERED on a 2xx answer', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const receiver = await startReceiver(t, ({ response }) => response.writeHead(204).end())
  const secret = '0123456789abcdef'.repeat(4)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: receiver.url, secret })
  const [id = ''] = await plantDeliveries(owner, merchantId)
  startDeliveries(t, app)
  await until('it is delivered', async () => (await readDelivery(owner, id)).status === 'DELIVERED')
  const row = await readDelivery(owner, id)
  t.match(row, {
    attempt_count: 1,
    last_http_status: 204,
    last_error: null,
    delivered_at: String,
    next_retry_at: 'infinity',
  })
  t.equal(await queueIsEmpty(owner), true, 'it has left the queue')
  const stored = await owner.query('select status, xmin::text <> feed_xid::text as rewritten from webhook_deliveries')
  t.strictSame(stored.rows, [{ status: 'PENDING', rewritten: false }], 'its row was not written again')
  const [receipt] = receiver.receipts
  t.equal(receiver.receipts.length, 1)
  t.equal(receipt?.body.toString(), row.payload, 'the bytes are those that are stored')
  t.equal(receipt?.eventId, row.event_id)
  t.equal(receipt?.headers['content-type'], 'application/json')
  t.equal(
    verifySignature({
      secret,
      body: receipt?.body ?? Buffer.alloc(0),
      signature: String(receipt?.headers['x-service-signature']),
    }),
    true,
  )
  const { rows } = await owner.query(
    'select attempt, outcome, http_status, started_at <= now() as started from webhook_attempts',
  )
  t.strictSame(rows, [{ attempt: 1, outcome: 'delivered', http_status: 204, started: true }])
})

t.test('six failures make it DEAD, with the same id and bytes each time, and nothing is sent after that', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const receiver = await startReceiver(t, ({ response }) => response.writeHead(500).end('private text'))
  const merchantId = await plantMerchant({ owner, app, webhookUrl: receiver.url })
  const [id = ''] = await plantDeliveries(owner, merchantId)
  const deliveries = startDeliveries(t, app)
  const expected = [60, 300, 1_800, 7_200, 21_600]
  for (const [index, seconds] of expected.entries()) {
    const attempt = index + 1
    await until(`attempt ${attempt}`, async () => (await readDelivery(owner, id)).attempt_count === attempt)
    t.match(await readDelivery(owner, id), {
      status: 'FAILED',
      last_http_status: 500,
      last_error: 'http_500',
      delivered_at: null,
    })
    const { rows } = await owner.query<{ delay: number; same: boolean; lag: number }>(
      `select extract(epoch from q.due_at - a.started_at)::float8 as delay, q.due_at = d.next_retry_at as same
       from webhook_queue q join webhook_deliveries d on d.id = q.delivery_id
       join webhook_attempts a on a.delivery_id = d.id and a.attempt = $1`,
      [attempt],
    )
    const delay = rows[0]?.delay ?? 0
    t.ok(
      delay >= seconds * 0.8 && delay <= seconds * 1.2 + 5,
      `attempt ${attempt + 1} waits ${delay} s, which is ${seconds} s within a fifth`,
    )
    t.equal(rows[0]?.same, true, 'the queue and the delivery tell the same time')
    await passDelays(owner)
    deliveries.wake()
  }
  await until('it is DEAD', async () => (await readDelivery(owner, id)).status === 'DEAD')
  t.match(await readDelivery(owner, id), { attempt_count: 6, last_error: 'http_500', next_retry_at: 'infinity' })
  t.equal(await queueIsEmpty(owner), true)
  t.equal(receiver.receipts.length, 6)
  t.equal(new Set(receiver.receipts.map(({ eventId }) => eventId)).size, 1)
  t.equal(new Set(receiver.receipts.map(({ body }) => body.toString('hex'))).size, 1)
})

t.test('a failed delivery is retried by itself, and a later success clears the error', async (t) => {
  const { owner, app } = await makeOutbox(t, { webhookTimeScale: 600 })
  const receiver = await startReceiver(t, ({ response, count }) => response.writeHead(count < 3 ? 503 : 200).end())
  const merchantId = await plantMerchant({ owner, app, webhookUrl: receiver.url })
  const [id = ''] = await plantDeliveries(owner, merchantId)
  startDeliveries(t, app)
  await until('it is delivered', async () => (await readDelivery(owner, id)).status === 'DELIVERED')
  t.match(await readDelivery(owner, id), { attempt_count: 3, last_http_status: 200, last_error: null })
  const { rows } = await owner.query<{ gap: number | null }>(
    `select extract(epoch from started_at - lag(started_at + duration_ms * interval '1 ms') over (order by attempt))::float8 * 600 as gap
     from webhook_attempts order by attempt`,
  )
  t.ok((rows[1]?.gap ?? 0) >= 48 - 1 && (rows[2]?.gap ?? 0) >= 240 - 1, 'none is sent before its delay has passed')
})

t.test('a redirect is a failure and is not followed', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const target = await startReceiver(t)
  const receiver = await startReceiver(t, ({ response }) => response.writeHead(307, { location: target.url }).end())
  const merchantId = await plantMerchant({ owner, app, webhookUrl: receiver.url })
  const [id = ''] = await plantDeliveries(owner, merchantId)
  startDeliveries(t, app)
  await until('it failed', async () => (await readDelivery(owner, id)).status === 'FAILED')
  t.match(await readDelivery(owner, id), { last_http_status: 307, last_error: 'redirect', attempt_count: 1 })
  t.equal(target.receipts.length, 0)
})

t.test('four workers with 2000 rows: each row is received exactly once', async (t) => {
  // Two of them together take less than what the ten merchants allow.
  const config = { webhookConcurrency: 32 }
  const { owner, app, url, encryptionKey } = await makeOutbox(t, config)
  // One that is first would do it all on a busy machine: nothing is answered before another has rows too.
  const shared = Promise.withResolvers<void>()
  const receiver = await startReceiver(t, async ({ response }) => {
    await shared.promise
    response.writeHead(200).end()
  })
  for (let index = 0; index < 10; index += 1) {
    await plantDeliveries(owner, await plantMerchant({ owner, app, webhookUrl: receiver.url }), { count: 200 })
  }
  const others = await Promise.all(Array.from({ length: 3 }, () => makeOutboxApp({ url, encryptionKey, config })))
  for (const other of others) t.teardown(() => other.close())
  for (const each of [app, ...others]) startDeliveries(t, each)
  await until('two have rows under way', async () => (await countWorkers(owner)) > 1)
  shared.resolve()
  await until('all are delivered', () => queueIsEmpty(owner))
  t.strictSame(await countByStatus(owner), { DELIVERED: 2000 })
  t.equal(receiver.receipts.length, 2000, 'no row was sent twice')
  t.equal(new Set(receiver.receipts.map(({ eventId }) => eventId)).size, 2000)
  const { rows } = await owner.query<{ workers: number; attempts: number }>(
    'select count(distinct worker)::int4 as workers, count(*)::int4 as attempts from webhook_attempts',
  )
  t.equal(rows[0]?.attempts, 2000)
  t.ok((rows[0]?.workers ?? 0) > 1, `${rows[0]?.workers} workers took part`)
})

/** How many workers have rows under way. */
async function countWorkers(owner: pg.Client): Promise<number> {
  const { rows } = await owner.query<{ workers: number }>(
    'select count(distinct worker)::int4 as workers from webhook_lanes',
  )
  return rows[0]?.workers ?? 0
}

t.test('one merchant has no more deliveries in progress than its cap, over all workers', async (t) => {
  const { owner, app, url, encryptionKey } = await makeOutbox(t, { webhookConcurrencyPerMerchant: 3 })
  const receiver = await startReceiver(t, ({ response }) => setTimeout(() => response.writeHead(200).end(), 20))
  await plantDeliveries(owner, await plantMerchant({ owner, app, webhookUrl: receiver.url }), { count: 60 })
  const other = await makeOutboxApp({ url, encryptionKey, config: { webhookConcurrencyPerMerchant: 3 } })
  t.teardown(() => other.close())
  startDeliveries(t, app)
  startDeliveries(t, other)
  await until('all are delivered', () => queueIsEmpty(owner))
  t.equal(receiver.receipts.length, 60)
  t.equal(receiver.peak(), 3)
})

t.test('merchants whose servers hang delay no other', async (t) => {
  const { owner, app } = await makeOutbox(t, { webhookConcurrency: 16, webhookConcurrencyPerMerchant: 4 })
  const hanging = 'http://hanging.example/'
  const healthy = await startReceiver(t)
  // With what is read ahead of them they would fill all that a worker claims.
  for (let n = 0; n < 3; n += 1)
    await plantDeliveries(owner, await plantMerchant({ owner, app, webhookUrl: hanging }), { count: 500 })
  // Many times its share of places.
  await plantDeliveries(owner, await plantMerchant({ owner, app, webhookUrl: healthy.url }), { count: 40 })
  // They hang until the test has seen what it looks for, and not for five seconds, which a busy machine may need for it.
  const seen = Promise.withResolvers<void>()
  const real = makePost({ allowPrivate: true })
  let hangingCount = 0
  const post: Post = {
    close: () => real.close(),
    post: async (request) => {
      if (request.url !== hanging) return real.post(request)
      hangingCount += 1
      await seen.promise
      return { outcome: 'timeout', httpStatus: null, responseBody: null, durationMs: 5_000 }
    },
  }
  const deliveries = startDeliveries(t, app, { post })
  await until('the healthy merchant has all', () => healthy.receipts.length === 40)
  t.equal((await countByStatus(owner))['FAILED'], undefined)
  t.equal(hangingCount, 12)
  const stopped = deliveries.stop()
  seen.resolve()
  await stopped
})

t.test('also as many merchants as there are places, once it is known that they hang', async (t) => {
  const { owner, app } = await makeOutbox(t, { webhookConcurrency: 8, webhookConcurrencyPerMerchant: 2 })
  const hanging = 'http://hanging.example/'
  const healthy = await startReceiver(t)
  for (let n = 0; n < 4; n += 1)
    await plantDeliveries(owner, await plantMerchant({ owner, app, webhookUrl: hanging }), { count: 100 })
  const seen = Promise.withResolvers<void>()
  const real = makePost({ allowPrivate: true })
  let hangingCount = 0
  const post: Post = {
    close: () => real.close(),
    post: async (request) => {
      if (request.url !== hanging) return real.post(request)
      hangingCount += 1
      // The first ones end, which shows that they are slow; those that follow hang until the test has seen what it looks for.
      await (hangingCount <= 8 ? delay(1_100) : seen.promise)
      return { outcome: 'timeout', httpStatus: null, responseBody: null, durationMs: 5_000 }
    },
  }
  const deliveries = startDeliveries(t, app, { post })
  await until('they have had all places', () => hangingCount >= 8)
  await plantDeliveries(owner, await plantMerchant({ owner, app, webhookUrl: healthy.url }), { count: 40 })
  deliveries.wake()
  await until('the healthy merchant has all', () => healthy.receipts.length === 40)
  await until('they have their share', () => hangingCount === 12)
  const stopped = deliveries.stop()
  seen.resolve()
  await stopped
  t.equal(hangingCount, 12, 'and no more than it')
})

t.test('idle means that nothing is due of any slow merchant either, of whom a claim reads a few', async (t) => {
  const { owner, app } = await makeOutbox(t, { webhookConcurrency: 64 })
  for (let n = 0; n < 40; n += 1)
    await plantDeliveries(owner, await plantMerchant({ owner, app, webhookUrl: 'http://slow.example/' }))
  let count = 0
  let isSlow = true
  const post: Post = {
    close: () => Promise.resolve(),
    post: async () => {
      if (isSlow) await delay(1_100)
      count += 1
      return { outcome: 'timeout', httpStatus: null, responseBody: null, durationMs: 1_100 }
    },
  }
  const deliveries = startDeliveries(t, app, { post })
  await deliveries.idle()
  t.equal(count, 40)
  // One after the other: most of them are not among the sixteen whom the next claim reads.
  isSlow = false
  const { rows } = await owner.query<{ id: string }>('select delivery_id as id from webhook_queue limit 12')
  for (const [index, { id }] of rows.entries()) {
    await owner.query('update webhook_queue set due_at = now() where delivery_id = $1', [id])
    await deliveries.idle()
    t.equal(count, 41 + index)
  }
})

t.test('a slow database slows deliveries, and neither stops them nor is asked without a pause', async (t) => {
  const { owner, app } = await makeOutbox(t)
  let claims = 0
  let claimsAtFirst: number | undefined
  const receiver = await startReceiver(t, ({ response }) => {
    claimsAtFirst ??= claims
    response.writeHead(204).end()
  })
  const any: typeof app.pool.any = async (query) => {
    const rows = await app.pool.any(query)
    if (!query.sql.includes('from claim_webhooks')) return rows
    claims += 1
    await delay(1_200)
    return rows
  }
  await plantDeliveries(owner, await plantMerchant({ owner, app, webhookUrl: receiver.url }), { count: 3 })
  startDeliveries(t, { ...app, pool: { ...app.pool, any } })
  await until('all are delivered', () => queueIsEmpty(owner))
  t.equal(receiver.receipts.length, 3)
  t.ok(
    claimsAtFirst === 1 || claimsAtFirst === 2,
    `by what one of the first claims has read, not the ${claimsAtFirst}th`,
  )
})

t.test('a merchant whose endpoint is being changed for the first time keeps no claim waiting', async (t) => {
  const { url, owner, app } = await makeOutbox(t)
  const receiver = await startReceiver(t)
  const busy = await plantMerchant({ owner, app, webhookUrl: receiver.url })
  const other = await plantMerchant({ owner, app, webhookUrl: receiver.url })
  for (const merchantId of [busy, other]) await plantDeliveries(owner, merchantId)
  const changing = await makeAdminConnection({ databaseUrl: url })
  t.teardown(() => changing.end())
  await changing.query('begin')
  await changing.query('select from merchants where id = $1 for update', [busy])
  startDeliveries(t, app)
  await until('the other one has its own', () => receiver.receipts.length > 0)
  await changing.query('rollback')
  await until('all are delivered', () => queueIsEmpty(owner))
})

t.test('an attempt without an answer fails after five seconds', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const hanging = await startReceiver(t, () => undefined)
  await plantDeliveries(owner, await plantMerchant({ owner, app, webhookUrl: hanging.url }))
  startDeliveries(t, app)
  await until('the attempt ends', async () => (await countByStatus(owner))['FAILED'] !== undefined)
  const { rows } = await owner.query(
    'select last_error, last_http_status from webhook_deliveries where status = $1 limit 1',
    ['FAILED'],
  )
  t.strictSame(rows[0], { last_error: 'timeout', last_http_status: null }, 'no answer within five seconds is a failure')
  const ended = await owner.query<{ least: number; most: number }>(
    'select min(duration_ms) as least, max(duration_ms) as most from webhook_attempts where outcome = $1',
    ['timeout'],
  )
  t.ok((ended.rows[0]?.least ?? 0) >= 4_990 && (ended.rows[0]?.most ?? 0) < 10_000, JSON.stringify(ended.rows[0]))
})

t.test('first attempts of one payment go out in event order, even when the first one fails', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const receiver = await startReceiver(t, ({ receipt, response }) => {
    // The first events take longest, so that later ones would overtake them.
    const { sequence } = JSON.parse(receipt.body.toString())
    setTimeout(() => response.writeHead(sequence === 1 ? 500 : 200).end(), 60 - sequence * 15)
  })
  const merchantId = await plantMerchant({ owner, app, webhookUrl: receiver.url })
  const payments = [await plantPayment(owner, merchantId), await plantPayment(owner, merchantId)]
  for (const sequence of [3, 1, 2]) {
    for (const paymentId of payments) {
      await plantDeliveries(owner, merchantId, {
        sequence,
        paymentId,
        payload: JSON.stringify({ paymentId, sequence }),
      })
    }
  }
  startDeliveries(t, app)
  await until('all had their first attempt', () => receiver.receipts.length === 6)
  for (const paymentId of payments) {
    const received = receiver.receipts
      .map(({ body }) => JSON.parse(body.toString()))
      .filter((event) => event.paymentId === paymentId)
    t.strictSame(
      received.map(({ sequence }) => sequence),
      [1, 2, 3],
    )
  }
})

t.test('rows of a merchant that removed its endpoint wait without using an attempt', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: null })
  const [id = ''] = await plantDeliveries(owner, merchantId, { nextRetryAt: '2020-01-01' })
  startDeliveries(t, app)
  await until('it has left the queue', () => queueIsEmpty(owner))
  t.match(await readDelivery(owner, id), { status: 'PENDING', attempt_count: 0, next_retry_at: 'infinity' })
})

t.test('a row whose lease was lost by three workers counts as a failed attempt', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const receiver = await startReceiver(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: receiver.url })
  const [poison = '', sound = ''] = await plantDeliveries(owner, merchantId, { count: 2 })
  await owner.query('update webhook_queue set leases_lost = 2 where delivery_id = $1', [poison])
  await owner.query(
    `insert into webhook_lanes (merchant_id, worker, locked_until, epoch) values ($1, 'gone', now() - interval '1 s', 3)`,
    [merchantId],
  )
  startDeliveries(t, app)
  await until('both are handled', async () => (await countByStatus(owner))['PENDING'] === undefined)
  t.match(await readDelivery(owner, poison), { status: 'FAILED', attempt_count: 1, last_error: 'worker_lost' })
  t.match(await readDelivery(owner, sound), { status: 'DELIVERED' })
  t.equal(receiver.receipts.length, 1)
  await passDelays(owner)
  const next = startDeliveries(t, app)
  next.wake()
  await until('its next attempt is a real one', async () => (await readDelivery(owner, poison)).status === 'DELIVERED')
})

t.test('a result under a lost lease is not recorded', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const receiver = await startReceiver(t, async ({ response }) => {
    await owner.query(`update webhook_lanes set epoch = epoch + 1, worker = 'another'`)
    response.writeHead(200).end()
  })
  const merchantId = await plantMerchant({ owner, app, webhookUrl: receiver.url })
  const [id = ''] = await plantDeliveries(owner, merchantId)
  const deliveries = startDeliveries(t, app)
  await until('it was sent', () => receiver.receipts.length === 1)
  await deliveries.stop()
  t.match(await readDelivery(owner, id), { status: 'PENDING', attempt_count: 0 })
  t.equal((await owner.query('select from webhook_attempts')).rowCount, 0)
})

t.test('stopping waits for the attempt in progress and claims no more', async (t) => {
  const { owner, app } = await makeOutbox(t, { webhookConcurrencyPerMerchant: 1 })
  const stopped = Promise.withResolvers<void>()
  const receiver = await startReceiver(t, async ({ response }) => {
    await stopped.promise
    response.writeHead(200).end()
  })
  const merchantId = await plantMerchant({ owner, app, webhookUrl: receiver.url })
  await plantDeliveries(owner, merchantId, { count: 3 })
  const deliveries = startDeliveries(t, app)
  await until('one is under way', () => receiver.receipts.length === 1)
  const stopping = deliveries.stop()
  stopped.resolve()
  await stopping
  t.strictSame(await countByStatus(owner), { DELIVERED: 1, PENDING: 2 })
  t.equal(
    (await owner.query('select from webhook_lanes where locked_until is not null')).rowCount,
    0,
    'no lease is left',
  )
})

t.test('it continues after the database was unavailable', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const receiver = await startReceiver(t, async ({ response }) => {
    // Every connection of the worker is cut between the send and the record.
    await owner.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    )
    response.writeHead(200).end()
  })
  const merchantId = await plantMerchant({ owner, app, webhookUrl: receiver.url })
  const [id = ''] = await plantDeliveries(owner, merchantId)
  startDeliveries(t, app)
  await until('the attempt is recorded', async () => (await readDelivery(owner, id)).status === 'DELIVERED')
  t.equal(receiver.receipts.length, 1)
})

t.test('a secret that the master key does not open costs the merchant no attempt', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const receiver = await startReceiver(t, ({ response }) => response.writeHead(204).end())
  const merchantId = await plantMerchant({ owner, app, webhookUrl: receiver.url })
  await owner.query(`update merchants set webhook_signing_secret = 'v1.other.AAAA.AAAA.AAAA.AAAA' where id = $1`, [
    merchantId,
  ])
  const [id = ''] = await plantDeliveries(owner, merchantId)
  startDeliveries(t, app)
  await until('it is put off', async () => {
    const found = await owner.query(
      `select 1 from webhook_queue q join webhook_lanes l using (merchant_id)
       where l.locked_until is null and q.due_at > now() + interval '50 s' and q.leases_lost = 0`,
    )
    return found.rowCount === 1
  })
  t.match(await readDelivery(owner, id), { status: 'PENDING', attempt_count: 0, last_error: null })
  t.equal(receiver.receipts.length, 0)
})

t.test('all that is due of a merchant whose secret is not opened waits by a few statements and lines', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const { log, lines } = capturedLog('error')
  const merchantId = await plantMerchant({ owner, app, webhookUrl: 'http://127.0.0.1:1/' })
  const unknown = 'v1.other.AAAA.AAAA.AAAA.AAAA'
  await owner.query('update merchants set webhook_signing_secret = $2 where id = $1', [merchantId, unknown])
  await plantDeliveries(owner, merchantId, { count: 1_500 })
  let statements = 0
  const one: typeof app.pool.one = (query) => {
    if (query.sql.includes('postponed')) statements += 1
    return app.pool.one(query)
  }
  startDeliveries(t, { ...app, log, pool: { ...app.pool, one } })
  await until('all wait', async () => {
    const found = await owner.query(`select from webhook_queue where due_at < now() + interval '30 s'`)
    return found.rowCount === 0
  })
  t.ok(statements <= 6, `${statements} statements`)
  await until('the last one is logged', () => lines().length === statements)
  t.match(JSON.parse(lines()[0] ?? ''), { merchant_id: merchantId, count: 1_000 })
})

t.test('a delivery that a bug keeps from being processed is not tried again at once', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: 'http://receiver.example/' })
  const [id = ''] = await plantDeliveries(owner, merchantId)
  let calls = 0
  const post = { post: () => Promise.reject(new Error(`call ${(calls += 1)}`)), close: () => Promise.resolve() }
  const deliveries = startDeliveries(t, app, { post })
  await until('it is tried', () => calls > 0)
  for (let n = 0; n < 5; n += 1) {
    deliveries.wake()
    await delay(50)
  }
  t.equal(calls, 1)
  t.match(await readDelivery(owner, id), { status: 'PENDING', attempt_count: 0 }, 'and nothing is lost')
})

t.test('idle means that nothing is due, also behind the cap of a merchant', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: 'http://receiver.example/' })
  let claims = 0
  // A claim that finds nothing answers late: what filled the cap when it looked has ended by then.
  const any: typeof app.pool.any = async (query, ...more) => {
    const rows = await app.pool.any(query, ...more)
    if (query.sql.includes('claim_webhooks') && rows.length === 0) {
      claims += 1
      await delay(100)
    }
    return rows
  }
  const pool = new Proxy(app.pool, { get: (target, name) => (name === 'any' ? any : Reflect.get(target, name)) })
  const sent = { outcome: 'delivered', httpStatus: 204, responseBody: null, durationMs: 20 } as const
  const post = { post: () => delay(20, sent), close: () => Promise.resolve() }
  const deliveries = startDeliveries(t, { ...app, pool }, { post })
  // The claim under way sees none of them.
  await until('the first claim is made', () => Promise.resolve(claims > 0))
  const ids = await plantDeliveries(owner, merchantId, { count: 40 })
  await deliveries.idle()
  const { rows } = await owner.query('select status from webhook_log where id = any($1)', [ids])
  t.same(new Set(rows.map(({ status }) => status)), new Set(['DELIVERED']))
})
