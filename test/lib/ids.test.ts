import t from 'tap'
import { isUuid, makeIds } from '../../src/lib/ids.ts'
import type { Ids } from '../../src/lib/ids.ts'
import { makeSeededIds } from '../../src/lib/seeded-ids.ts'
import { seededBits48 } from '../../src/lib/seeded-random.ts'

const NOW = 1_700_000_000_123
const ids = makeIds(() => NOW)
const many = <T>(make: () => T) => Array.from({ length: 5_000 }, make)

t.test('a uuid has version 7: its time first, then random bits, and none twice', async (t) => {
  const made = many(() => ids.uuid())
  for (const id of made.slice(0, 200)) {
    t.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    t.equal(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16), NOW)
    t.ok(isUuid(id))
  }
  t.equal(new Set(made).size, made.length)
})

t.test('uuids of a later millisecond come later', async (t) => {
  let now = NOW
  const ticking = makeIds(() => (now += 1))
  const made = Array.from({ length: 500 }, () => ticking.uuid())
  t.same(made, made.toSorted())
})

t.test('an event id has its time and 16 base32 characters', async (t) => {
  const made = many(() => ids.eventId())
  for (const id of made.slice(0, 200)) t.match(id, /^evt_1700000000123_[a-z2-7]{16}$/)
  t.equal(new Set(made).size, made.length)
  t.ok((made[0] ?? '').length <= 64)
  t.equal(new Set(made.join('').replaceAll(/evt_\d+_/g, '')).size, 32, 'every character of the alphabet occurs')
})

t.test('an end-to-end id is SVC and 32 hex digits: 35 characters', async (t) => {
  const made = many(() => ids.endToEndId())
  for (const id of made.slice(0, 200)) t.match(id, /^SVC[0-9a-f]{32}$/)
  t.equal(
    new Set(made.map((id) => id.slice(0, 31))).size,
    made.length,
    'the first 31 characters, which banks keep, tell them apart',
  )
})

t.test(
  'ids that are only compared as a whole begin with their time, so that new rows come to the end of an index',
  async (t) => {
    for (const [later, kind] of [NOW + 1, NOW + 3_600_000, NOW + 30 * 365 * 86_400_000].flatMap((ms) =>
      (['uuid', 'eventId', 'state'] as const).map((each) => [ms, each] as const),
    )) {
      const [before, after] = [ids, makeIds(() => later)].map((source) => source[kind]())
      t.ok((before ?? '') < (after ?? ''), `${kind}: ${later}`)
      t.equal(before?.length, after?.length, `${kind}: ${later}`)
    }
  },
)

t.test('a state is the time and a token', async (t) => {
  const made = many(() => ids.state())
  for (const state of made.slice(0, 200)) {
    t.match(state, /^[0-9a-z]{8}[\w-]{43}$/)
    t.equal(Number.parseInt(state.slice(0, 8), 36), NOW)
  }
  t.equal(new Set(made.map((state) => state.slice(8))).size, made.length)
})

t.test('a token is 32 random bytes as base64url', async (t) => {
  const made = many(() => ids.token())
  for (const token of made.slice(0, 200)) t.match(token, /^[\w-]{43}$/)
  t.equal(new Set(made).size, made.length)
})

t.test('jitter lies between 0 and 1', async (t) => {
  t.ok(many(() => ids.random()).every((value) => value >= 0 && value < 1))
})

t.test('texts that are not UUIDs are rejected', async (t) => {
  const uuid = '0190a6b2-5a3f-7c21-8e4d-1a2b3c4d5e6f'
  t.ok(isUuid(uuid) && isUuid(uuid.toUpperCase()))
  for (const text of [
    '',
    'x',
    uuid.slice(1),
    `${uuid}0`,
    ` ${uuid}`,
    `${uuid}\n`,
    uuid.replaceAll('-', ''),
    uuid.replace('0', 'g'),
    `{${uuid}}`,
    '%00',
  ])
    t.notOk(isUuid(text), JSON.stringify(text))
})

t.test('the real ids are the same for every key, and for every key themselves', async (t) => {
  t.equal(ids.for('payment', 'shop', 'order-1'), ids)
  const replaced: Ids = { ...ids, endToEndId: () => 'SVC0' }
  t.equal(replaced.for('payment').endToEndId(), 'SVC0', 'members replaced in a copy stay replaced')
  t.notOk(ids.isSeeded)
})

/** One of each kind, and then a second uuid. */
function drawn(source: Ids): (string | number)[] {
  return [
    source.uuid(),
    source.eventId(),
    source.endToEndId(),
    source.state(),
    source.token(),
    source.random(),
    source.uuid(),
  ]
}

t.test('with a seed, each key has a stream of its own, whatever values were taken before', async (t) => {
  const [seeded, again, other] = [makeSeededIds('7'), makeSeededIds('7'), makeSeededIds('8')]
  const first = drawn(seeded.for('payment', 'shop', 'order-1'))
  t.same(drawn(seeded.for('payment', 'shop', 'order-1')), first, 'a key restarts its sequence with every call')
  many(() => again.uuid())
  many(() => again.for('payment', 'shop', 'order-2').uuid())
  t.same(drawn(again.for('payment', 'shop', 'order-1')), first, 'the order of calls does not matter')
  t.same(drawn(again.for('payment').for('shop', 'order-1')), first, 'a key may be given in parts')
  const others = [
    other.for('payment', 'shop', 'order-1'),
    seeded.for('payment', 'shop', 'order-2'),
    seeded.for('payment', 'shoporder-1'),
    seeded.for('payment', 'shop,order-1'),
    seeded.for('payment', 'shop', 'order-1', ''),
    seeded.for('payment', 'shop', 'order-1', '1'),
    makeSeededIds('7","payment').for('shop', 'order-1'),
    seeded.for(),
  ].map(drawn)
  const all = [first, ...others].flat()
  t.equal(new Set(all).size, all.length, 'no two streams have a value in common')
})

t.test('seeded ids have the shapes of the real ones', async (t) => {
  const stream = makeSeededIds('7').for('shapes')
  for (const [uuid, eventId, endToEndId, state, token, random] of Array.from({ length: 200 }, () => drawn(stream))) {
    t.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    t.match(eventId, /^evt_\d{13}_[a-z2-7]{16}$/)
    t.match(endToEndId, /^SVC[0-9a-f]{32}$/)
    t.match(state, /^[0-9a-z]{8}[\w-]{43}$/)
    t.match(token, /^[\w-]{43}$/)
    t.ok(Number(random) >= 0 && Number(random) < 1)
  }
  const numbers = many(() => stream.random())
  t.equal(new Set(numbers).size, numbers.length)
  const mean = numbers.reduce((sum, number) => sum + number, 0) / numbers.length
  t.ok(Math.abs(mean - 0.5) < 0.05, `${mean} is about a half`)
})

t.test('values without a key are random, even with a seed: secrets among them', async (t) => {
  const [one, other] = [makeSeededIds('7'), makeSeededIds('7')]
  t.ok(one.isSeeded && one.for('payment').isSeeded)
  for (const kind of ['uuid', 'eventId', 'endToEndId', 'state', 'token', 'random'] as const)
    t.not(one[kind](), other[kind]())
})

t.test('the 48 bits of a text are the first six bytes of its SHA-256, for ever', (t) => {
  t.equal(seededBits48(''), 0xe3b0c44298fc)
  t.equal(seededBits48('abc'), 0xba7816bf8f01)
  t.end()
})
