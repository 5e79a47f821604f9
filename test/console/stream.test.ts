import t from 'tap'
import { makeAdminConnection } from '../../src/db/connection.ts'
import { createPayment, testService, until } from '../support/app.ts'
import type { TestMerchant } from '../support/app.ts'
import { openStream } from '../support/event-stream.ts'
import type { SseFrame } from '../support/event-stream.ts'
import { plantDeliveries } from '../support/webhooks.ts'

const service = await testService(t, { overrides: { streamLimits: { gapMs: 20, fallbackMs: 100, pingMs: 50 } } })
const OPERATOR = { 'x-platform-user': 'olga' }
const one = await service.merchant()
const two = await service.merchant()
const proof = ({ clientId }: TestMerchant) => ({ 'x-merchant-client-id': clientId })
const eventIds = (frames: readonly SseFrame[]): string[] => frames.map(({ data }) => data.event_id)

async function feedOf(merchant: TestMerchant, after?: string) {
  const query = after === undefined ? '?limit=100' : `?limit=100&after=${after}`
  return (await service.call('GET', `/api/v1/portal/events${query}`, { merchant })).body
}

t.test('a merchant gets only its own events, operators those of all, in feed order', async (t) => {
  const streams = {
    one: await openStream(t, service.url, { headers: proof(one) }),
    two: await openStream(t, service.url, { headers: proof(two) }),
    all: await openStream(t, service.url, { headers: OPERATOR }),
  }
  t.match(streams.one, {
    status: 200,
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-next-cursor': String,
      'x-request-id': String,
    },
  })
  const made = Array.from({ length: 30 }, (_, index) => createPayment(service, index % 3 === 0 ? two : one))
  t.ok((await Promise.all(made)).every(({ status }) => status === 201))
  const [ofOne, ofTwo, ofAll] = await Promise.all([
    streams.one.events(20),
    streams.two.events(10),
    streams.all.events(30),
  ])
  t.same(new Set(ofOne.map(({ data }) => data.merchant_id)), new Set([one.id]))
  t.same(new Set(ofTwo.map(({ data }) => data.merchant_id)), new Set([two.id]))
  t.same(eventIds(ofOne), eventIds(ofAll.filter(({ data }) => data.merchant_id === one.id)))
  t.same(
    eventIds(ofOne),
    (await feedOf(one)).data.map((event: { event_id: string }) => event.event_id),
  )
  t.strictSame(Object.keys(ofOne[0]?.data), [
    'event_id',
    'event_type',
    'payment_id',
    'merchant_id',
    'realm_slug',
    'created_at',
  ])
  t.match(ofOne[0]?.data, { event_type: 'payment.initiated', realm_slug: null })
  t.match(ofAll.find(({ data }) => data.merchant_id === two.id)?.data, { realm_slug: two.realm })
  await until(async () => streams.one.comments.includes('ping'))
})

t.test('cursors of the feed and the stream are interchangeable, and latest skips past events', async (t) => {
  const { data } = await feedOf(one)
  const late = await openStream(t, service.url, { headers: proof(one), query: `?after=${data[9].cursor}` })
  t.same(
    eventIds(await late.events(10)),
    data.slice(10, 20).map((event: { event_id: string }) => event.event_id),
  )
  const id = late.frames[4]?.id ?? ''
  t.match(await feedOf(one, id), { data: [{ event_id: data[15].event_id }] })
  const again = await openStream(t, service.url, {
    headers: { ...proof(one), 'last-event-id': id },
    query: `?after=${data[0].cursor}`,
  })
  t.equal(
    (await again.events(1))[0]?.data.event_id,
    data[15].event_id,
    'it resumes at the last event, not at the first',
  )
  const latest = await openStream(t, service.url, { headers: proof(one), query: '?after=latest' })
  const begins = latest.headers['x-next-cursor']
  await until(async () => latest.ids[0] === begins)
  const [deliveryId] = await plantDeliveries(service.owner, one.id)
  const [first] = await latest.events(1)
  const { rows } = await service.owner.query('select event_id from webhook_deliveries where id = $1', [deliveryId])
  t.equal(first?.data.event_id, rows[0].event_id, 'an event without a wake-up arrives all the same')
  const from = await openStream(t, service.url, { headers: proof(one), query: `?after=${String(begins)}` })
  t.equal((await from.events(1))[0]?.data.event_id, rows[0].event_id, 'a cursor from before any event')
  for (const query of ['?after=wrong', '?after=', `?after=${Buffer.from('1.x').toString('base64url')}`]) {
    const refused = await openStream(t, service.url, { headers: proof(one), query })
    t.match(refused, { status: 400, text: /"code":"VALIDATION_FAILED"/ }, query)
  }
  t.match(await openStream(t, service.url, { headers: { ...proof(one), 'last-event-id': 'x' } }), { status: 400 })
  t.match(await openStream(t, service.url, { headers: proof(one), query: '?limit=1' }), { status: 400 })
})

t.test('a late commit is not missed', async (t) => {
  const stream = await openStream(t, service.url, { headers: OPERATOR })
  const slow = await makeAdminConnection({ databaseUrl: service.databaseUrl })
  t.teardown(() => slow.end())
  await slow.query('begin')
  const [first] = await plantDeliveries(slow, two.id)
  const [second] = await plantDeliveries(service.owner, one.id)
  const third = await createPayment(service, one)
  t.equal(third.status, 201)
  t.same(
    stream.frames.filter(({ event }) => event === 'event'),
    [],
    'they wait for the one before them',
  )
  await slow.query('commit')
  const frames = await stream.events(3)
  const { rows } = await service.owner.query(
    'select id, event_id from webhook_deliveries where id = any($1::uuid[]) order by feed_xid, feed_ordinal',
    [[first, second]],
  )
  t.same(
    rows.map(({ id }) => id),
    [first, second],
  )
  t.same(
    eventIds(frames).slice(0, 2),
    rows.map(({ event_id }) => event_id),
  )
})

t.test('operators get change notices, merchants do not', async (t) => {
  const own = await openStream(t, service.url, { headers: proof(one) })
  const stream = await openStream(t, service.url, { headers: OPERATOR })
  const changed = (): string[] =>
    stream.frames.filter(({ event }) => event === 'changed').flatMap(({ data }) => data.of)
  await service.call('PUT', `/api/v1/admin/merchants/${two.id}/hold`, {
    headers: OPERATOR,
    body: { payout_held: true, reason: 'to see it' },
  })
  await until(async () => changed().includes('merchants') && changed().includes('audit'))
  await service.call('PUT', `/api/v1/admin/merchants/${two.id}/hold`, {
    headers: OPERATOR,
    body: { payout_held: false },
  })
  await createPayment(service, one)
  await own.events(1)
  t.same(
    own.frames.filter(({ event }) => event === 'changed'),
    [],
  )
})

t.test('HEAD succeeds, and OpenAPI documents the response', async (t) => {
  const { request } = await import('undici')
  const head = await request(`${service.url}/api/v1/events/stream`, { method: 'HEAD', headers: OPERATOR })
  t.match(head, { statusCode: 200, headers: { 'content-type': /event-stream/ } })
  t.equal(await head.body.text(), '')
  const { body } = await service.call('GET', '/openapi.json')
  const answer = body.paths['/api/v1/events/stream'].get.responses[200].content
  t.match(Object.keys(answer), ['text/event-stream'])
  t.match(answer['text/event-stream'].schema.oneOf, [{ title: 'event' }, { title: 'changed' }, { title: 'end' }])
})

t.test('open streams are counted', async (t) => {
  const { text } = await service.call('GET', '/metrics')
  t.match(text, /^svc_event_streams \d+$/m)
  await until(async () => /^svc_event_streams 0$/m.test((await service.call('GET', '/metrics')).text))
})
