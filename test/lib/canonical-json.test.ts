import fc from 'fast-check'
import t from 'tap'
import { canonicalJson } from '../../src/lib/canonical-json.ts'

/** The same value with the members of every object in another order. */
function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => shuffled(item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member]) => [key, shuffled(member)]),
  )
}

t.test('the order of members does not matter, at any depth', async (t) => {
  t.equal(canonicalJson({ b: 1, a: { d: [{ f: 1, e: 2 }], c: null } }), '{"a":{"c":null,"d":[{"e":2,"f":1}]},"b":1}')
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => canonicalJson(shuffled(value)) === canonicalJson(value)),
  )
})

t.test('it is JSON of the same value', async (t) => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
      t.same(JSON.parse(canonicalJson(value)), JSON.parse(JSON.stringify(value)))
    }),
    { numRuns: 50 },
  )
})

t.test('the order of an array, and the kind of a value, do matter', async (t) => {
  const different = [
    [1, 2],
    [2, 1],
    ['1', 2],
    { a: 1 },
    { a: '1' },
    { a: null },
    { a: [1] },
    {},
    [],
    null,
    '',
    0,
    false,
  ]
  t.equal(new Set(different.map((value) => canonicalJson(value))).size, different.length)
})

t.test('an undefined member equals an absent one', async (t) => {
  t.equal(canonicalJson({ a: undefined, b: 1 }), canonicalJson({ b: 1 }))
})

t.test('members differ from texts that look like them', async (t) => {
  t.not(canonicalJson({ a: '1","b":"2' }), canonicalJson({ a: '1', b: '2' }))
  t.equal(canonicalJson({ 'a"': 1 }), '{"a\\"":1}')
})
