import t from 'tap'
import { cacheLookup } from '../../src/lib/cached-lookup.ts'

function bench(max = 100) {
  const asked: string[] = []
  const clock = { ms: 0 }
  const world = new Map<string, string>()
  const look = async (key: string): Promise<string | null> => {
    asked.push(key)
    await new Promise((resolve) => setImmediate(resolve))
    if (world.get(key) === 'fails') throw new Error('away')
    return world.get(key) ?? null
  }
  return { asked, clock, world, find: cacheLookup(look, { forMs: 10_000, max, now: () => clock.ms }) }
}

t.test('a result is cached for its time to live, whether found or missing', async (t) => {
  const { asked, clock, world, find } = bench()
  world.set('a', 'Ada')
  for (let count = 0; count < 3; count++) {
    t.equal(await find('a'), 'Ada')
    t.equal(await find('b'), null)
  }
  t.same(asked, ['a', 'b'])
  world.delete('a')
  world.set('b', 'Bob')
  clock.ms = 9_999
  t.same([await find('a'), await find('b')], ['Ada', null])
  clock.ms = 10_000
  t.same([await find('a'), await find('b')], [null, 'Bob'])
})

t.test('the time to live counts from the start of the lookup', async (t) => {
  const { asked, clock, find } = bench()
  const answer = find('a')
  clock.ms = 9_000
  await answer
  clock.ms = 10_001
  await find('a')
  t.same(asked, ['a', 'a'])
})

t.test('concurrent lookups of a key are one', async (t) => {
  const { asked, find } = bench()
  await Promise.all(Array.from({ length: 50 }, () => find('a')))
  t.same(asked, ['a'])
})

t.test('a failure reaches all concurrent callers, and is not cached', async (t) => {
  const { asked, world, find } = bench()
  world.set('a', 'fails')
  const both = await Promise.allSettled([find('a'), find('a')])
  t.same(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  world.set('a', 'Ada')
  t.equal(await find('a'), 'Ada')
  t.same(asked, ['a', 'a'])
})

t.test('the cache is bounded, and missing keys evict no existing ones', async (t) => {
  const { asked, world, find } = bench(10)
  for (let count = 0; count < 10; count++) world.set(`known-${count}`, 'x')
  for (let count = 0; count < 10; count++) await find(`known-${count}`)
  for (let count = 0; count < 100; count++) await find(`made-up-${count}`)
  asked.length = 0
  for (let count = 0; count < 10; count++) await find(`known-${count}`)
  t.same(asked, [])
  await find('made-up-0')
  t.same(asked, ['made-up-0'], 'only the most recent entries are kept')
  world.set('known-10', 'x')
  await find('known-10')
  asked.length = 0
  await find('known-0')
  t.same(asked, ['known-0'], 'the oldest entry was removed')
})
