import t from 'tap'
import { generateMasterKey, kidOfKey, makeSealer } from '../../src/lib/seal.ts'

const key = generateMasterKey()
const sealer = makeSealer(key)
const place = { table: 'merchants', column: 'webhook_signing_secret', rowId: 'r1', merchantId: 'm1' }

t.test('a sealed value opens in its place', async (t) => {
  for (const plain of ['', 'x', 'a'.repeat(64), 'Zoë \u{1f510}', 'x'.repeat(10_000)])
    t.equal(sealer.open(sealer.seal(plain, place), place), plain)
})

t.test('the sealed text shows nothing of the plain one and is never the same twice', async (t) => {
  const plain = 'correct horse battery staple'
  const sealed = Array.from({ length: 50 }, () => sealer.seal(plain, place))
  t.equal(new Set(sealed).size, sealed.length)
  const nonces = sealed.flatMap((text) => [text.split('.')[3], text.split('.')[2]?.slice(0, 16)])
  t.equal(new Set(nonces).size, nonces.length, 'no nonce twice')
  for (const text of sealed) {
    t.match(text, /^v1\.[0-9a-f]{8}\.[\w-]+\.[\w-]{16}\.[\w-]+\.[\w-]{22}$/)
    t.notOk(text.includes(Buffer.from(plain).toString('base64url').slice(0, 12)))
  }
})

t.test('a value sealed for one place opens in no other', async (t) => {
  const sealed = sealer.seal('secret', place)
  for (const change of [{ table: 'x' }, { column: 'x' }, { rowId: 'r2' }, { merchantId: 'm2' }]) {
    t.throws(() => sealer.open(sealed, { ...place, ...change }), JSON.stringify(change))
  }
})

t.test('a sealed text that was altered anywhere does not open', async (t) => {
  const sealed = sealer.seal('secret', place)
  const parts = sealed.split('.')
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index] ?? ''
    const flipped = [
      ...parts.slice(0, index),
      `${part[0] === 'A' ? 'B' : 'A'}${part.slice(1)}`,
      ...parts.slice(index + 1),
    ]
    t.throws(() => sealer.open(flipped.join('.'), place), `part ${index}`)
    t.throws(() => sealer.open(parts.filter((_, at) => at !== index).join('.'), place), `without part ${index}`)
  }
  for (const text of ['', 'secret', 'v2.x', 'v1.....', '.....']) t.throws(() => sealer.open(text, place), text)
})

t.test('parts of two sealed texts do not mix', async (t) => {
  const [one, two] = [sealer.seal('one', place).split('.'), sealer.seal('two', place).split('.')]
  t.throws(() => sealer.open([...one.slice(0, 3), ...two.slice(3)].join('.'), place))
})

t.test('another master key opens nothing, and the error says which key is missing', async (t) => {
  const other = makeSealer(generateMasterKey())
  const sealed = sealer.seal('secret', place)
  t.throws(() => other.open(sealed, place), new RegExp(`sealed under master key ${sealed.split('.')[1]}`))
  t.equal(makeSealer(key).open(sealed, place), 'secret', 'the same key opens it in another process')
})

t.test('a master key of another length is rejected', async (t) => {
  for (const wrong of ['', 'short', Buffer.alloc(31).toString('base64'), Buffer.alloc(33).toString('base64')])
    t.throws(() => makeSealer(wrong), /32 bytes/)
  t.equal(Buffer.from(generateMasterKey(), 'base64').length, 32)
})

t.test('a ring of keys opens values sealed under any of them, and seals under the first', async (t) => {
  const [oldKey, newKey] = [generateMasterKey(), generateMasterKey()]
  const [before, between, after] = [makeSealer(oldKey), makeSealer(oldKey, [newKey]), makeSealer(newKey, [oldKey])]
  const [old, fresh] = [before.seal('old', place), after.seal('fresh', place)]
  t.equal(after.open(old, place), 'old')
  t.equal(between.open(fresh, place), 'fresh', 'a process with the next key opens values sealed by the others')
  t.equal(between.kid, before.kid)
  t.equal(after.kidOf(between.seal('x', place)), before.kid)
  t.equal(after.kidOf(fresh), after.kid)
  t.same(after.previousKids, [before.kid])
  t.equal(kidOfKey(newKey), after.kid)
  t.equal(after.kidOf('hello'), undefined)
  t.throws(() => after.open(old, { ...place, rowId: 'r2' }), 'the context is also checked under a previous key')
})

t.test('a missing key is named by its id, and no key is revealed', async (t) => {
  const other = makeSealer(generateMasterKey())
  const [current, previous] = [generateMasterKey(), generateMasterKey()]
  const ring = makeSealer(current, [previous])
  try {
    ring.open(other.seal('secret', place), place)
    t.fail('it opened')
  } catch (error) {
    const message = String(error)
    for (const kid of [other.kid, ring.kid, ...ring.previousKids]) t.match(message, kid)
    for (const secret of [current, previous, 'secret']) t.notOk(message.includes(secret))
  }
})

t.test('no nonce is used twice in a thousand seals', async (t) => {
  const sealed = Array.from({ length: 1_000 }, () => sealer.seal('the same', place).split('.'))
  const wrapped = sealed.map(([, , part = '']) => Buffer.from(part, 'base64url').subarray(0, 12).toString('hex'))
  const bodies = sealed.map(([, , , part = '']) => part)
  t.equal(new Set([...wrapped, ...bodies]).size, 2_000)
})
