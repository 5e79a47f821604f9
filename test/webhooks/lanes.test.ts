import t from 'tap'
import { makeLanes } from '../../src/webhooks/lanes.ts'
import type { Lanes, Ready } from '../../src/webhooks/lanes.ts'
import { claimDeliveries, recordAttempts } from '../../src/webhooks/sql.ts'
import type { AttemptRow, Claim } from '../../src/webhooks/sql.ts'
import type { ClaimedDelivery } from '../../src/webhooks/record.ts'
import { claim as claimBatch, firstMerchant } from '../../src/webhooks/claim.ts'
import { moveQueuedToWaiting } from '../../src/webhooks/waiting-sql.ts'
import { sql } from '../../src/db/sql.ts'
import { until } from '../support/until.ts'
import { countByStatus, makeOutbox, plantDeliveries, plantMerchant, readDelivery } from '../support/webhooks.ts'

const ready = (merchant: string, id: string): Ready => {
  const unused = { event_id: '', attempt_count: 0, payload: '', webhook_url: null, webhook_signing_secret: '' }
  const lease = { epoch: 1, lease_ms: 1, leases_lost: 0, webhook_secret_previous: null, traceparent: null }
  const delivery: ClaimedDelivery = { merchant_id: merchant, delivery_id: id, ...lease, ...unused }
  return { delivery, read: { monotonic: 0, ofDay: 0 }, leaseEndsAt: 1 }
}

t.test('lanes take turns, and each has no more in progress than its limit', (t) => {
  const lanes = makeLanes({ perMerchantMax: 2, slowMax: 4 })
  for (const id of ['1', '2', '3', '4']) lanes.add(ready('a', id))
  for (const id of ['5', '6']) lanes.add(ready('b', id))
  const started: ClaimedDelivery[] = []
  for (let next = lanes.next(); next !== undefined; next = lanes.next()) started.push(next.delivery)
  t.strictSame(
    started.map(({ delivery_id: id }) => id),
    ['1', '5', '2', '6'],
  )
  t.equal(lanes.load(), 4, 'those behind the limit of their lane keep no other lane waiting')
  t.strictSame(lanes.held(), { merchants: ['a', 'b'], counts: [4, 2], rows: ['1', '2', '3', '4', '5', '6'] })
  const [first, ...others] = started
  if (first !== undefined) lanes.answered(first)
  t.equal(lanes.next()?.delivery.delivery_id, '3', 'a place that is free is used again, before its attempt is recorded')
  t.equal(lanes.next(), undefined)
  t.strictSame(lanes.held().counts, [4, 2], 'and what is not recorded is still held')
  t.strictSame(lanes.startedOf('a'), ['1', '2', '3'], 'as what was started')
  t.strictSame(lanes.startedOf('c'), [])
  for (const delivery of [...others, ...(first === undefined ? [] : [first])]) lanes.done(delivery)
  t.equal(lanes.next()?.delivery.delivery_id, '4')
  t.equal(lanes.next(), undefined)
  t.strictSame(lanes.held(), { merchants: ['a', 'b'], counts: [2, 0], rows: ['3', '4'] })
  lanes.forget(['b'])
  t.equal(lanes.count(), 2)
  t.end()
})

t.test(
  'slow lanes share half of the places, take turns with the others, and are fast again after a quick answer',
  (t) => {
    let now = 0
    const lanes = makeLanes({ perMerchantMax: 2, slowMax: 2, now: () => now })
    const start = (): ClaimedDelivery[] => {
      const started: ClaimedDelivery[] = []
      for (let next = lanes.next(); next !== undefined; next = lanes.next()) started.push(next.delivery)
      return started
    }
    const idsOf = (deliveries: readonly ClaimedDelivery[]) => deliveries.map(({ delivery_id: id }) => id)
    for (const merchant of ['a', 'b', 'c']) for (const n of [1, 2, 3, 4]) lanes.add(ready(merchant, `${merchant}${n}`))
    const first = start()
    t.strictSame(idsOf(first), ['a1', 'b1', 'c1', 'a2', 'b2', 'c2'], 'nothing is known of them yet')
    now = 10
    const answer = (merchant: string, deliveries: readonly ClaimedDelivery[]): void => {
      for (const each of deliveries.filter(({ merchant_id: id }) => id === merchant)) lanes.answered(each)
    }
    answer('c', first)
    now = 5_000
    for (const merchant of ['a', 'b']) answer(merchant, first)
    const second = start()
    t.strictSame(idsOf(second), ['a3', 'c3', 'b3', 'c4'], 'two of the slow lanes, in turns with the fast one')
    t.equal(lanes.load(), 4, 'slow ones that may not start keep nothing waiting')
    now = 5_010
    answer('a', second)
    t.strictSame(idsOf(start()), ['b4', 'a4'], 'it answered quickly, and takes no place of the slow ones any more')
    t.end()
  },
)

t.test('a lane with an attempt that hangs stays slow, however quickly others of it are answered', (t) => {
  let now = 0
  const lanes = makeLanes({ perMerchantMax: 3, slowMax: 2, now: () => now })
  for (const n of [1, 2, 3, 4, 5, 6]) lanes.add(ready('a', `a${n}`))
  const started = [lanes.next(), lanes.next(), lanes.next()].flatMap((next) =>
    next === undefined ? [] : [next.delivery],
  )
  now = 2_000
  for (const each of started.slice(0, 2)) lanes.answered(each)
  const quick = lanes.next()
  t.equal(lanes.next(), undefined, 'its share of places: one hangs, one has just begun')
  now = 2_001
  if (quick !== undefined) lanes.answered(quick.delivery)
  t.equal(lanes.next()?.delivery.delivery_id, 'a5')
  t.equal(lanes.next(), undefined, 'a quick answer beside one that hangs gives it no more')
  t.end()
})

t.test('of many slow lanes each has its turn, and only a few are read at once', (t) => {
  let now = 0
  const lanes = makeLanes({ perMerchantMax: 1, slowMax: 1, now: () => now })
  const merchants = Array.from({ length: 40 }, (_, n) => `m${n}`)
  /** A row of each lane that has none and is not skipped, as a claim reads it. */
  const claimRows = (round: number, due: readonly string[]): void => {
    const skipped = new Set(lanes.skipped())
    const found = due.filter((each) => !skipped.has(each)).map((each) => ready(each, `${each}.${round}`))
    for (const each of found) lanes.add(each)
    lanes.claimed(
      found.map(({ delivery }) => delivery),
      (id) => !skipped.has(id),
    )
  }
  const times = new Map<string, number>()
  const sendOne = (): void => {
    const started = lanes.next()?.delivery
    if (started === undefined) return
    lanes.begun(started)
    now += 2_000
    lanes.answered(started)
    lanes.done(started)
    times.set(started.merchant_id, (times.get(started.merchant_id) ?? 0) + 1)
  }
  for (const merchant of merchants) {
    lanes.add(ready(merchant, `${merchant}.first`))
    sendOne()
  }
  const sendFor = (rounds: number, due: readonly string[]): void => {
    times.clear()
    for (let round = 0; round < rounds; round += 1) {
      now += 100
      claimRows(round, due)
      sendOne()
      // What has waited for a second is dropped.
      for (let stale = lanes.next(); stale !== undefined; stale = lanes.next()) lanes.done(stale.delivery)
    }
  }
  const fewerThan = (count: number, of: readonly string[]) => of.filter((each) => (times.get(each) ?? 0) < count)
  sendFor(200, merchants)
  t.strictSame(fewerThan(4, merchants), [], 'each is tried again and again')
  const few = merchants.slice(0, 3)
  sendFor(60, few)
  t.strictSame(fewerThan(4, few), [], 'also where nothing is due of those who would come first')
  t.equal(lanes.skipped().length, 24, 'the next claim reads of sixteen of them')
  t.end()
})

/** Lanes in which each of these merchants has had an attempt of two seconds, one after the other. */
function slowLanes(merchants: readonly string[]): Lanes {
  let now = 0
  const lanes = makeLanes({ perMerchantMax: 1, slowMax: 1, now: () => (now += 1) })
  for (const merchant of merchants) {
    lanes.add(ready(merchant, `${merchant}.first`))
    const started = lanes.next()?.delivery
    if (started === undefined) throw new Error('nothing starts')
    lanes.begun(started)
    now += 2_000
    lanes.answered(started)
    lanes.done(started)
    lanes.forget([merchant])
  }
  return lanes
}

t.test('of a thousand slow merchants those are forgotten that have sent nothing for longest', (t) => {
  const merchants = Array.from({ length: 1_000 }, (_, n) => `m${n}`)
  const lanes = slowLanes([...merchants, 'm0', 'another'])
  const waiting = lanes.skipped()
  t.equal(waiting.length, 1_000 - 16)
  t.strictSame(waiting.slice(-2), ['m0', 'another'], 'one that is slow now takes no place of the others')
  t.equal(waiting.includes('m1'), false)
  t.end()
})

t.test('a slow merchant that a claim has not read keeps its turn', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const merchants: string[] = []
  for (let n = 0; n < 18; n += 1) merchants.push(await plantMerchant({ owner, app, webhookUrl: 'http://127.0.0.1:1/' }))
  merchants.sort()
  const merchantAt = (at: number): string => merchants.at(at) ?? ''
  const readIn = async (lanes: Lanes, { rowsMax = 100, after = firstMerchant } = {}) => {
    const claimed = await claimBatch(app, { worker: 'one', after, rowsMax, lanes })
    for (const delivery of claimed.deliveries) lanes.add({ ...ready('', ''), delivery })
    return { ...claimed, found: claimed.deliveries.map(({ merchant_id: id }) => id) }
  }

  await plantDeliveries(owner, merchantAt(-2))
  const lanes = slowLanes(merchants)
  const reading = readIn(lanes)
  lanes.begun(ready(merchantAt(0), '').delivery)
  t.strictSame((await reading).found, [], 'sixteen come before')
  t.strictSame((await readIn(lanes)).found, [merchantAt(-2)], 'also where one of them is sent to meanwhile')

  await owner.query('update webhook_lanes set worker = null, locked_until = null')
  for (const at of [0, 15]) await plantDeliveries(owner, merchantAt(at))
  const others = slowLanes(merchants)
  const { found, after } = await readIn(others, { rowsMax: 1 })
  t.strictSame(found, [merchantAt(0)])
  t.strictSame((await readIn(others, { after, rowsMax: 1 })).found, [merchantAt(15)], 'also where a claim was full')
})

const NOTHING: Claim['held'] = { merchants: [], counts: [], rows: [] }
const claim = (worker: string, held = NOTHING): Claim => ({
  worker,
  after: firstMerchant,
  rowsMax: 100,
  perMerchantMax: 4,
  leaseMs: 30_000,
  held,
})

const delivered = (rows: readonly ClaimedDelivery[]): AttemptRow[] =>
  rows.map(({ merchant_id, delivery_id, epoch }) => ({
    merchant_id,
    delivery_id,
    epoch,
    attempt: 1,
    status: 'DELIVERED',
    outcome: 'delivered',
    http_status: 200,
    response_body: null,
    age_ms: 1,
    duration_ms: 1,
    delay_ms: null,
  }))

t.test('a lane is held by one worker, until its rows are recorded or its lease ends', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: 'http://127.0.0.1:1/' })
  const other = await plantMerchant({ owner, app, webhookUrl: 'http://127.0.0.1:1/' })
  await plantDeliveries(owner, merchantId, { count: 6 })
  const first = await claimDeliveries(app.pool, claim('one'))
  t.equal(first.length, 4, 'as many as a lane may give')
  const kept = await plantDeliveries(owner, other)
  t.match(await claimDeliveries(app.pool, claim('two')), [{ merchant_id: other }], 'other lanes are free')

  const rows = first.map(({ delivery_id: id }) => id)
  const none = await claimDeliveries(app.pool, claim('one', { merchants: [merchantId], counts: [3], rows }))
  t.strictSame(none, [], 'a lane of which the holder has most is left alone')
  const more = await claimDeliveries(app.pool, claim('one', { merchants: [merchantId], counts: [2], rows }))
  t.equal(more.length, 2, 'the holder gets what its lane has room for')
  t.notOk(
    more.some(({ delivery_id: id }) => rows.includes(id)),
    'and nothing that it has',
  )
  t.equal(more[0]?.epoch, first[0]?.epoch)

  await owner.query(`update webhook_lanes set locked_until = now() where worker = 'one'`)
  const taken = await claimDeliveries(app.pool, claim('two', { merchants: [other], counts: [1], rows: kept }))
  t.equal(taken.length, 4, 'a lease that has ended leaves the lane to the next worker')
  t.strictSame([...new Set(taken.map(({ leases_lost }) => leases_lost))], [1], 'and is counted where it was lost')
  t.strictSame(await recordAttempts(app.pool, 'one', delivered(first)), { count: 0 }, 'its results count no more')
  t.strictSame(await countByStatus(owner), { PENDING: 7 })
  t.strictSame(await recordAttempts(app.pool, 'two', delivered(taken)), { count: 4 })
  t.strictSame(await countByStatus(owner), { DELIVERED: 4, PENDING: 3 })

  await claimDeliveries(app.pool, claim('two', { merchants: [merchantId, other], counts: [0, 1], rows: kept }))
  const { rows: still } = await owner.query('select worker from webhook_lanes where merchant_id = $1', [merchantId])
  t.strictSame(still, [{ worker: 'two' }], 'a lane with more due rows is kept')
})

t.test('a lane that has nothing left is released by the next claim', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: 'http://127.0.0.1:1/' })
  await plantDeliveries(owner, merchantId)
  await recordAttempts(app.pool, 'one', delivered(await claimDeliveries(app.pool, claim('one'))))
  t.strictSame(await claimDeliveries(app.pool, claim('one', { merchants: [merchantId], counts: [0], rows: [] })), [])
  const { rows } = await owner.query('select worker, locked_until from webhook_lanes')
  t.strictSame(rows, [{ worker: null, locked_until: null }])
})

t.test('a round goes over all merchants, from the one behind the last, and takes no more than it may', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const merchants: string[] = []
  for (let n = 0; n < 40; n += 1) {
    const id = await plantMerchant({ owner, app, webhookUrl: 'http://127.0.0.1:1/' })
    await plantDeliveries(owner, id)
    merchants.push(id)
  }
  merchants.sort()
  const idsOf = (rows: readonly ClaimedDelivery[]) => rows.map(({ merchant_id: id }) => id).toSorted()
  const some = await claimDeliveries(app.pool, { ...claim('one'), after: merchants[29] ?? '', rowsMax: 25 })
  t.strictSame(idsOf(some), [...merchants.slice(0, 15), ...merchants.slice(30)])
  t.strictSame(idsOf(await claimDeliveries(app.pool, claim('two'))), merchants.slice(15, 30), 'the rest is free')
  await owner.query('update webhook_lanes set worker = null, locked_until = null')
  t.strictSame(idsOf(await claimDeliveries(app.pool, claim('three'))), merchants)
  const counts = merchants.map((_, n) => (n < 20 ? 0 : 1))
  await recordAttempts(app.pool, 'three', delivered(await claimDeliveries(app.pool, claim('three'))))
  await claimDeliveries(app.pool, claim('three', { merchants, counts, rows: [] }))
  const { rows } = await owner.query('select merchant_id from webhook_lanes where worker is not null order by 1')
  t.strictSame(
    rows.map(({ merchant_id: id }) => id),
    merchants.slice(20),
    'lanes of which nothing is left are released, wherever they are in the round',
  )
})

t.test('nothing is read of a merchant to skip, and its lane is released', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const [slow, other] = [
    await plantMerchant({ owner, app, webhookUrl: 'http://127.0.0.1:1/' }),
    await plantMerchant({ owner, app, webhookUrl: 'http://127.0.0.1:1/' }),
  ]
  for (const merchantId of [slow, other]) await plantDeliveries(owner, merchantId, { count: 6 })
  t.equal((await claimDeliveries(app.pool, claim('one'))).length, 8)
  const held = { merchants: [slow, other], counts: [0, 0], rows: [] }
  const found = await claimDeliveries(app.pool, { ...claim('one', held), skipped: [slow] })
  t.strictSame([...new Set(found.map(({ merchant_id: id }) => id))], [other])
  const { rows } = await owner.query('select merchant_id from webhook_lanes where worker is null')
  t.strictSame(rows, [{ merchant_id: slow }])
})

t.test('a lost worker counts once, however many claims its lanes take', async (t) => {
  const { owner, app } = await makeOutbox(t)
  for (let n = 0; n < 20; n += 1) {
    const id = await plantMerchant({ owner, app, webhookUrl: 'http://127.0.0.1:1/' })
    await plantDeliveries(owner, id, { count: 4 })
  }
  t.equal((await claimDeliveries(app.pool, claim('lost'))).length, 80)
  await owner.query('update webhook_lanes set locked_until = now()')
  const counts: number[] = []
  let after = firstMerchant
  for (let n = 0; n < 10; n += 1) {
    const rows = await claimDeliveries(app.pool, { ...claim('other'), after, rowsMax: 8 })
    after =
      rows
        .map(({ merchant_id: id }) => id)
        .toSorted()
        .at(-1) ?? after
    counts.push(...rows.map(({ leases_lost }) => leases_lost))
    await recordAttempts(app.pool, 'other', delivered(rows))
  }
  t.strictSame(
    counts,
    Array.from({ length: 80 }, () => 1),
  )
})

t.test('the second half of a round reads no more than its merchants', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const ids: string[] = []
  for (let n = 0; n < 3; n += 1) ids.push(await plantMerchant({ owner, app, webhookUrl: 'http://127.0.0.1:1/' }))
  ids.sort()
  const [low = '', middle = '', high = ''] = ids
  await plantDeliveries(owner, low)
  await plantDeliveries(owner, high, { count: 3_000 })
  await claimDeliveries(app.pool, { ...claim('of high'), after: middle, rowsMax: 1 })
  await owner.query('vacuum analyze webhook_queue')
  const read = async (): Promise<number> => {
    const { rows } = await owner.query<{ read: string }>(
      `select sum(idx_tup_read)::text as read from pg_stat_user_indexes where relname = 'webhook_queue'`,
    )
    return Number(rows[0]?.read)
  }
  const before = await read()
  const found = await claimDeliveries(app.pool, { ...claim('another'), after: middle })
  t.match(found, [{ merchant_id: low }])
  const flush = () => app.pool.query(sql.unsafe`select pg_stat_force_next_flush()`)
  await until('the statistics are there', async () => {
    // On each of its connections.
    await Promise.all(Array.from({ length: 8 }, flush))
    return (await read()) > before
  })
  t.ok((await read()) - before < 500, `${(await read()) - before} rows of the index`)
})

t.test('a result is recorded once, however often it is reported', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: 'http://127.0.0.1:1/' })
  await plantDeliveries(owner, merchantId, { count: 2 })
  const rows = delivered(await claimDeliveries(app.pool, claim('one')))
  t.strictSame(await recordAttempts(app.pool, 'one', rows), { count: 2 })
  t.strictSame(await recordAttempts(app.pool, 'one', rows), { count: 0 })
  t.equal((await owner.query('select from webhook_attempts')).rowCount, 2)
})

t.test('a failure is recorded once, also where the answer of the record was lost', async (t) => {
  const { owner, app } = await makeOutbox(t)
  await plantDeliveries(owner, await plantMerchant({ owner, app, webhookUrl: 'http://127.0.0.1:1/' }), { count: 2 })
  const rows = delivered(await claimDeliveries(app.pool, claim('one'))).map((row): AttemptRow => {
    return { ...row, status: 'FAILED', outcome: 'http_500', http_status: 500, delay_ms: 60_000 }
  })
  t.strictSame(await recordAttempts(app.pool, 'one', rows), { count: 2 })
  const due = async () => (await owner.query('select due_at from webhook_queue order by delivery_id')).rows
  const before = await due()
  t.strictSame(await recordAttempts(app.pool, 'one', rows), { count: 0 })
  t.equal((await owner.query('select from webhook_attempts')).rowCount, 2)
  t.strictSame(await due(), before, 'nor is the next attempt put off again')
})

t.test('a pause takes no row from under the worker that holds its lane', async (t) => {
  const { owner, app } = await makeOutbox(t)
  const merchantId = await plantMerchant({ owner, app, webhookUrl: 'http://127.0.0.1:1/' })
  const [id = ''] = await plantDeliveries(owner, merchantId)
  const rows = delivered(await claimDeliveries(app.pool, claim('one')))
  t.strictSame(await moveQueuedToWaiting(app.pool, merchantId, 10), { count: 0 })
  t.strictSame(await recordAttempts(app.pool, 'one', rows), { count: 1 })
  t.match(await readDelivery(owner, id), { status: 'DELIVERED' })
  await owner.query('update webhook_lanes set worker = null, locked_until = null')
  await plantDeliveries(owner, merchantId, { count: 3 })
  t.strictSame(await moveQueuedToWaiting(app.pool, merchantId, 10), { count: 3 }, 'without one they all wait')
})
