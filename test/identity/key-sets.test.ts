import t from 'tap'
import type { JSONWebKeySet } from 'jose'
import { makeKeySets } from '../../src/identity/key-sets.ts'
import type { KeySets } from '../../src/identity/key-sets.ts'
import { makeKeyPair, publicJwk } from '../support/in-process-idp.ts'
import type { KeyPair } from '../support/in-process-idp.ts'

const [first, second] = [await makeKeyPair(), await makeKeyPair()]

type KeySetsFixture = {
  sets: KeySets
  /** What the provider answers: its keys, null for no such realm, or how it fails. */
  provider: { keys: KeyPair[] | null; fails: boolean | 'silent' }
  fetched: string[]
  clock: { ms: number }
}

function bench(keys: KeyPair[] | null = [first]): KeySetsFixture {
  const provider: KeySetsFixture['provider'] = { keys, fails: false }
  const fetched: string[] = []
  const clock = { ms: 1_000_000 }
  const fetch = async (slug: string): Promise<JSONWebKeySet | null> => {
    fetched.push(slug)
    await new Promise((resolve) => setImmediate(resolve))
    if (provider.fails === 'silent') return new Promise(() => undefined)
    if (provider.fails) throw new Error('away')
    return provider.keys === null ? null : { keys: provider.keys.map((key) => publicJwk(key)) }
  }
  return { sets: makeKeySets({ fetch, now: () => clock.ms }), provider, fetched, clock }
}

const header = ({ kid }: { kid: string }) => ({ alg: 'PS256', kid })
/** How long it takes, measured again, up to twice, where a stall of the machine may have made it too long. */
async function fastest(limitMs: number, measure: () => Promise<number>): Promise<number> {
  let ms = await measure()
  for (let again = 0; again < 2 && ms >= limitMs; again += 1) ms = await measure()
  return ms
}

const UNAVAILABLE = { code: 'IDP_UNAVAILABLE', retryAfterSeconds: 2 }

t.test('a key set is fetched once and used for ten minutes', async (t) => {
  const { sets, fetched, clock } = bench()
  t.ok(await sets.keyOf('acme', header(first)))
  clock.ms += 599_000
  t.ok(await sets.keyOf('acme', header(first)))
  t.equal(fetched.length, 1)
  clock.ms += 1_001
  t.ok(await sets.keyOf('acme', header(first)))
  t.equal(fetched.length, 2)
})

t.test('a hundred concurrent requests cause one fetch per realm', async (t) => {
  const { sets, fetched } = bench()
  const keys = await Promise.all(Array.from({ length: 100 }, () => sets.keyOf('acme', header(first))))
  t.ok(keys.every((key) => key !== null))
  await sets.keyOf('other', header(first))
  t.same(fetched, ['acme', 'other'])
})

t.test('a new key is found at once, and the old one works until it is removed', async (t) => {
  const { sets, provider, fetched, clock } = bench()
  await sets.keyOf('acme', header(first))
  provider.keys = [second, first]
  clock.ms += 1_000
  t.ok(await sets.keyOf('acme', header(second)))
  t.ok(await sets.keyOf('acme', header(first)))
  t.equal(fetched.length, 2)
  provider.keys = [second]
  clock.ms += 600_001
  t.equal(await sets.keyOf('acme', header(first)), null)
})

t.test('unknown key ids cause one fetch in thirty seconds', async (t) => {
  const { sets, fetched, clock } = bench()
  await sets.keyOf('acme', header(first))
  clock.ms += 1
  for (let count = 0; count < 200; count++) {
    t.equal(await sets.keyOf('acme', header({ kid: `made-up-${count}` })), null)
    clock.ms += 100
  }
  t.equal(fetched.length, 2)
  clock.ms += 30_000
  await Promise.all(Array.from({ length: 50 }, (_, count) => sets.keyOf('acme', header({ kid: `again-${count}` }))))
  t.equal(fetched.length, 3)
  t.ok(await sets.keyOf('acme', header(first)), 'and the known one verifies throughout')
})

t.test('a key id missing in a fresh set causes no fetch', async (t) => {
  const { sets, fetched } = bench()
  t.equal(await sets.keyOf('acme', header(second)), null)
  t.equal(fetched.length, 1)
})

t.test('a missing realm is cached for a limited time', async (t) => {
  const { sets, provider, fetched, clock } = bench(null)
  for (let count = 0; count < 20; count++) t.equal(await sets.keyOf('acme', header(first)), null)
  t.equal(fetched.length, 1)
  provider.keys = [first]
  clock.ms += 30_001
  t.ok(await sets.keyOf('acme', header(first)))
})

t.test('a deleted realm is gone after the next fetch', async (t) => {
  const { sets, provider, clock } = bench()
  await sets.keyOf('acme', header(first))
  provider.keys = null
  clock.ms += 600_001
  t.equal(await sets.keyOf('acme', header(first)), null)
})

t.test('during an outage a known set keeps verifying, and an unknown realm is undecided', async (t) => {
  const { sets, provider, fetched, clock } = bench()
  await sets.keyOf('acme', header(first))
  provider.fails = true
  clock.ms += 600_001
  t.ok(await sets.keyOf('acme', header(first)))
  await t.rejects(sets.keyOf('other', header(first)), UNAVAILABLE)
  await t.rejects(sets.keyOf('acme', header(second)), UNAVAILABLE, 'a key that may be new is no judgement either')
  const before = fetched.length
  for (let count = 0; count < 50; count++) {
    t.ok(await sets.keyOf('acme', header(first)))
    await t.rejects(sets.keyOf('other', header(first)), UNAVAILABLE)
  }
  t.equal(fetched.length, before, 'nobody waits for an answer that has just failed to come')
  provider.fails = false
  clock.ms += 2_001
  t.ok(await sets.keyOf('other', header(first)), 'and it recovers in seconds')
  t.ok(await sets.keyOf('acme', header(first)))
})

t.test('a key set expires', async (t) => {
  const { sets, provider, clock } = bench()
  await sets.keyOf('acme', header(first))
  provider.fails = true
  clock.ms += 86_400_001
  await t.rejects(sets.keyOf('acme', header(first)), UNAVAILABLE)
})

t.test('an unresponsive provider costs two seconds, once', async (t) => {
  const ms = await fastest(4_000, async () => {
    const { sets, provider } = bench()
    provider.fails = 'silent'
    const started = performance.now()
    const asked = Array.from({ length: 20 }, () => t.rejects(sets.keyOf('acme', header(first)), UNAVAILABLE))
    await Promise.all(asked)
    return performance.now() - started
  })
  t.ok(ms < 4_000, `${ms} ms`)
})

t.test('and callers with known keys wait for it once', async (t) => {
  const ms = await fastest(1_000, async () => {
    const { sets, provider, clock } = bench()
    await sets.keyOf('acme', header(first))
    provider.fails = 'silent'
    clock.ms += 600_001
    t.ok(await sets.keyOf('acme', header(first)))
    const started = performance.now()
    for (let count = 0; count < 5; count++) {
      clock.ms += 2_001
      t.ok(await sets.keyOf('acme', header(first)))
    }
    return performance.now() - started
  })
  t.ok(ms < 1_000, `${ms} ms`)
})

t.test('an invalid key set counts as no response', async (t) => {
  for (const answer of [{}, { keys: 'none' }, { keys: [1] }]) {
    // @ts-expect-error what a broken provider may send
    const sets = makeKeySets({ fetch: async () => answer })
    await t.rejects(sets.keyOf('acme', header(first)), UNAVAILABLE)
  }
})

t.test('keys for other purposes and algorithms are not used', async (t) => {
  for (const other of [{ use: 'enc' }, { alg: 'RS256' }, { alg: 'RSA-OAEP' }, { kty: 'oct', k: 'c2VjcmV0' }]) {
    const sets = makeKeySets({ fetch: async () => ({ keys: [{ ...publicJwk(first), ...other }] }) })
    t.equal(await sets.keyOf('acme', header(first)), null, JSON.stringify(other))
  }
})

t.test('at most a thousand realms are cached', async (t) => {
  const { sets, fetched } = bench()
  for (let count = 0; count <= 1_000; count++) await sets.keyOf(`realm-${count}`, header(first))
  await sets.keyOf('realm-1000', header(first))
  t.equal(fetched.length, 1_001)
  await sets.keyOf('realm-0', header(first))
  t.equal(fetched.length, 1_002, 'the oldest made room')
})
