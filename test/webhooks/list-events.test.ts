import type pg from 'pg'
import t from 'tap'
import type { Test } from 'tap'
import { makeAdminConnection } from '../../src/db/connection.ts'
import { signStandard, verifySignature } from '../../src/lib/webhook-signature.ts'
import type { FeedEvent } from '../../src/wire/feed.ts'
import { createPayment, testService, until } from '../support/app.ts'
import type { TestMerchant, TestService } from '../support/app.ts'
import { plantDeliveries, plantPayment } from '../support/webhooks.ts'

type Page = { data: FeedEvent[]; next_cursor: string | null }

async function readPage(
  service: TestService,
  merchant: TestMerchant,
  query: { after?: string | null; limit?: number } = {},
): Promise<Page> {
  const { after, limit } = query
  const search = new URLSearchParams({
    ...(after ? { after } : {}),
    ...(limit === undefined ? {} : { limit: String(limit) }),
  })
  const { status, body } = await service.call('GET', `/api/v1/portal/events?${search}`, { merchant })
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`)
  return body
}

/** Reads from a cursor until so many events were read: other databases of the server may hold the feed up for a moment. */
async function readSome(
  service: TestService,
  merchant: TestMerchant,
  query: { after?: string | null; count: number; limit?: number },
) {
  const events: FeedEvent[] = []
  let after = query.after
  await until(async () => {
    const page = await readPage(service, merchant, { ...(after ? { after } : {}), limit: query.limit ?? 100 })
    events.push(...page.data)
    after = page.next_cursor
    return events.length >= query.count
  })
  return { events, after }
}

async function connect(t: Test, service: TestService): Promise<pg.Client> {
  const client = await makeAdminConnection({ databaseUrl: service.databaseUrl })
  t.teardown(() => client.end())
  return client
}

async function eventIdsOf(owner: pg.Client, deliveryIds: readonly string[]): Promise<string[]> {
  const { rows } = await owner.query<{ id: string; event_id: string }>(
    'select id, event_id from webhook_deliveries where id = any($1)',
    [deliveryIds],
  )
  return deliveryIds.map((id) => rows.find((row) => row.id === id)?.event_id ?? 'none')
}

const idsOf = (events: readonly FeedEvent[]): string[] => events.map((event) => event.event_id)

t.test('pages contain every event once, in order, and the last cursor continues with later ones', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  t.same(
    await readPage(service, merchant),
    { data: [], next_cursor: null },
    'an empty feed has no place to go on from but its beginning',
  )
  const planted = await eventIdsOf(service.owner, await plantDeliveries(service.owner, merchant.id, { count: 25 }))
  const { events, after } = await readSome(service, merchant, { count: 25, limit: 10 })
  t.same(idsOf(events), planted)
  t.equal(new Set(events.map((event) => event.cursor)).size, 25)
  t.equal(after, events.at(-1)?.cursor)

  t.same(
    await readPage(service, merchant, { after: after ?? null }),
    { data: [], next_cursor: after },
    'at the end the cursor stays',
  )
  const later = await eventIdsOf(service.owner, await plantDeliveries(service.owner, merchant.id))
  t.same(idsOf((await readSome(service, merchant, { after: after ?? null, count: 1 })).events), later)
  const middle = events[11]?.cursor ?? null
  t.same(
    idsOf((await readPage(service, merchant, { after: middle, limit: 3 })).data),
    planted.slice(12, 15),
    'any cursor is a place to read from again',
  )
})

t.test('an event has the bytes of its webhook, and headers that sign them', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const { body: payment } = await createPayment(service, merchant)
  const { events } = await readSome(service, merchant, { count: 1 })
  const [event] = events
  if (event === undefined) return t.fail('no event')
  const { rows } = await service.owner.query(
    'select payload::text as payload from webhook_deliveries where event_id = $1',
    [event.event_id],
  )
  t.equal(event.payload, rows[0].payload)
  t.match(JSON.parse(event.payload), {
    eventId: event.event_id,
    eventType: event.event_type,
    data: { id: payment.payment_id },
  })
  t.match(event.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

  const bytes = Buffer.from(event.payload)
  const {
    'X-Service-Signature': signature = '',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': standard,
  } = event.signatures
  t.ok(verifySignature({ secret: merchant.secret, body: bytes, signature }))
  t.notOk(
    verifySignature({ secret: (await service.merchant()).secret, body: bytes, signature }),
    'under no other secret',
  )
  t.equal(id, event.event_id)
  t.equal(
    standard,
    signStandard({ secret: merchant.secret, body: bytes, id: event.event_id, timestamp: Number(timestamp) }),
  )
})

t.test('unusual bytes of a payload are returned as they are stored and signed', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const payload = '{ "b":1.0, "a" : "\\u00e9é€😀",\n "a":2, "big": 12345678901234567890 }'
  await plantDeliveries(service.owner, merchant.id, { payload })
  const { events } = await readSome(service, merchant, { count: 1 })
  t.equal(events[0]?.payload, payload)
  t.ok(
    verifySignature({
      secret: merchant.secret,
      body: Buffer.from(payload),
      signature: events[0]?.signatures['X-Service-Signature'] ?? '',
    }),
  )
})

t.test("a merchant reads nothing of another, not even with the other's cursor", async (t) => {
  const service = await testService(t)
  const [one, two] = [await service.merchant(), await service.merchant()]
  const ofOne = await eventIdsOf(service.owner, await plantDeliveries(service.owner, one.id, { count: 3 }))
  const ofTwo = await eventIdsOf(service.owner, await plantDeliveries(service.owner, two.id, { count: 3 }))
  const first = await readSome(service, one, { count: 3 })
  t.same(idsOf(first.events), ofOne)
  t.same(idsOf((await readSome(service, two, { count: 3 })).events), ofTwo)
  t.same(idsOf((await readSome(service, two, { after: first.events[0]?.cursor ?? null, count: 3 })).events), ofTwo)
  t.match(await service.call('GET', '/api/v1/portal/events'), { status: 401 })
})

t.test('an invalid cursor, and an invalid count of events, are rejected', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  await plantDeliveries(service.owner, merchant.id)
  const { after } = await readSome(service, merchant, { count: 1 })
  const encode = (text: string): string => Buffer.from(text).toString('base64url')
  const cursors = [
    '',
    'x',
    'LATEST',
    '0',
    '1.2',
    encode('1'),
    encode('1.'),
    encode('1.2.3'),
    encode('-1.0'),
    encode('1.9223372036854775808'),
    encode('10000000000000000000.1'),
    encode('1.1\n'),
    `${after}!`,
    `${after}=`,
    'A'.repeat(129),
    encode('9999999999999999999.9223372036854775807'),
  ]
  for (const cursor of cursors) {
    const { status, body } = await service.call('GET', `/api/v1/portal/events?after=${encodeURIComponent(cursor)}`, {
      merchant,
    })
    t.match(
      { status, body },
      { status: 400, body: { code: 'VALIDATION_FAILED', errors: [{ path: /after/ }] } },
      JSON.stringify(cursor),
    )
  }
  for (const limit of ['0', '101', '-1', '1.5', 'x', '']) {
    t.match(
      await service.call('GET', `/api/v1/portal/events?limit=${limit}`, { merchant }),
      { status: 400, body: { code: 'VALIDATION_FAILED' } },
      `limit=${limit}`,
    )
  }
})

t.test('latest begins with later commits, including transactions that began before', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const old = await eventIdsOf(service.owner, await plantDeliveries(service.owner, merchant.id, { count: 3 }))
  await readSome(service, merchant, { count: 3 })
  const open = await connect(t, service)
  await open.query('begin')
  const begunIds = await plantDeliveries(open, merchant.id)
  const latest = await readPage(service, merchant, { after: 'latest' })
  t.same(latest.data, [])
  await open.query('commit')
  const next = await plantDeliveries(service.owner, merchant.id)
  const { events } = await readSome(service, merchant, { after: latest.next_cursor, count: 2 })
  t.same(idsOf(events), await eventIdsOf(service.owner, [...begunIds, ...next]))
  t.notOk(idsOf(events).some((id) => old.includes(id)))
})

/** What a reader would see whose cursor is a bare number of the row. */
async function readByNumber(
  owner: pg.Client,
  merchantId: string,
  after: string,
): Promise<{ ids: string[]; after: string }> {
  const { rows } = await owner.query<{ event_id: string; feed_ordinal: string }>(
    'select event_id, feed_ordinal::text as feed_ordinal from webhook_deliveries where merchant_id = $1 and feed_ordinal > $2 order by feed_ordinal',
    [merchantId, after],
  )
  return { ids: rows.map((row) => row.event_id), after: rows.at(-1)?.feed_ordinal ?? after }
}

t.test('an event whose transaction commits late is not skipped, as it would be by its bare number', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const slow = await connect(t, service)
  await slow.query('begin')
  const slowIds = await plantDeliveries(slow, merchant.id)
  const quickIds = await plantDeliveries(service.owner, merchant.id)
  const quick = await eventIdsOf(service.owner, quickIds)

  const between = await readPage(service, merchant)
  t.same(between.data, [], 'nothing is given that stands behind the one still open')
  const naive = await readByNumber(service.owner, merchant.id, '0')
  t.same(naive.ids, quick, 'a bare number gives the quick one')

  await slow.query('commit')
  const both = await eventIdsOf(service.owner, [...slowIds, ...quickIds])
  t.same(idsOf((await readSome(service, merchant, { after: between.next_cursor, count: 2 })).events), both)
  t.same((await readByNumber(service.owner, merchant.id, naive.after)).ids, [], 'and never gives the slow one')
})

t.test("a transaction that began earlier and writes its event after the reader's page is not skipped", async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const slow = await connect(t, service)
  await slow.query('begin')
  await slow.query('select pg_current_xact_id()')
  const quickIds = await plantDeliveries(service.owner, merchant.id)
  const { next_cursor: after } = await readPage(service, merchant)
  const slowIds = await plantDeliveries(slow, merchant.id)
  await slow.query('commit')
  const { events } = await readSome(service, merchant, { after, count: 2 })
  t.same(
    idsOf(events),
    await eventIdsOf(service.owner, [...slowIds, ...quickIds]),
    'its place is that of its transaction',
  )
})

t.test('a rolled back transaction delays nothing, and leaves nothing', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const slow = await connect(t, service)
  await slow.query('begin')
  await plantDeliveries(slow, merchant.id)
  const quick = await eventIdsOf(service.owner, await plantDeliveries(service.owner, merchant.id))
  t.same((await readPage(service, merchant)).data, [])
  await slow.query('rollback')
  t.same(idsOf((await readSome(service, merchant, { count: 1 })).events), quick)
})

t.test(
  'the events of one payment are in order, even of a transaction that began before the one it waited for',
  async (t) => {
    const service = await testService(t)
    const merchant = await service.merchant()
    const paymentId = await plantPayment(service.owner, merchant.id)
    const [first, second] = [await connect(t, service), await connect(t, service)]
    const lock = (client: pg.Client): Promise<unknown> =>
      client.query('select from payment_intents where merchant_id = $1 and id = $2 for update', [
        merchant.id,
        paymentId,
      ])
    const { rows } = await second.query<{ pid: number }>('select pg_backend_pid() as pid')
    await first.query('begin')
    await second.query('begin')
    await lock(first)
    const locked = lock(second)
    await until(
      async () =>
        (await service.owner.query('select cardinality(pg_blocking_pids($1)) > 0 as waits', [rows[0]?.pid])).rows[0]
          .waits,
    )
    const firstIds = await plantDeliveries(first, merchant.id, { paymentId, sequence: 1 })
    await first.query('commit')
    await locked
    const secondIds = await plantDeliveries(second, merchant.id, { paymentId, sequence: 2 })
    await second.query('commit')
    const { events } = await readSome(service, merchant, { count: 2 })
    t.same(idsOf(events), await eventIdsOf(service.owner, [...firstIds, ...secondIds]))
  },
)

t.test('a reader beside two writers reads each event exactly once', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const writers = [await connect(t, service), await connect(t, service)]
  const written: string[] = []
  let isWriting = true
  async function write(client: pg.Client): Promise<void> {
    for (let round = 0; round < 60; round += 1) {
      await client.query('begin')
      const count = 1 + (round % 3)
      const ids = await plantDeliveries(client, merchant.id, { count })
      // Some stay open while the other commits.
      if (round % 4 === 0) await client.query('select pg_sleep(random() * 0.02)')
      await client.query(round % 10 === 9 ? 'rollback' : 'commit')
      if (round % 10 !== 9) written.push(...ids)
    }
  }
  const read: string[] = []
  async function readAll(): Promise<void> {
    let after: string | null = null
    let pages = 0
    await until(async () => {
      const page: Page = await readPage(service, merchant, { after, limit: 7 })
      read.push(...idsOf(page.data))
      after = page.next_cursor
      pages += 1
      return !isWriting && page.data.length === 0 && read.length >= written.length
    })
    t.ok(pages > 10, 'it read while they wrote')
  }
  const writing = Promise.all(writers.map(write)).then(() => (isWriting = false))
  await Promise.all([writing, readAll()])
  const expected = await eventIdsOf(service.owner, written)
  t.equal(read.length, expected.length)
  t.same(read.toSorted(), expected.toSorted())
})
