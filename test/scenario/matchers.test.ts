import t from 'tap'
import { compareDecimals, differencesOf, matcherProblems, show } from '../../cli/scenario/matchers.ts'

function fits(expected: unknown, actual: unknown): boolean {
  return differencesOf(expected, actual).length === 0
}

t.test('a literal is itself, with its type', async (t) => {
  t.ok(fits('0.70', '0.70'))
  t.notOk(fits('0.7', '0.70'), "an amount's digits are part of it")
  t.notOk(fits(1, '1'))
  t.ok(fits(null, null))
  t.notOk(fits(null, undefined))
})

t.test('amounts are compared digit by digit', async (t) => {
  t.ok(fits('>= 49.3', '49.30'))
  t.notOk(fits('> 49.3', '49.30'))
  t.ok(fits('== 50', '50.00'))
  t.ok(fits('!= 50', '50.0001'))
  t.ok(fits('< 9007199254740993.0001', '9007199254740993.00005'), 'a float has no such digits')
  t.notOk(fits('== 9007199254740992', '9007199254740993'))
  t.ok(fits('> -0.5', '-0.4'))
  t.ok(fits('>= 6', 6))
  t.notOk(fits('>= 6', 'six'))
  t.notOk(fits('>= 6', ''))
  t.notOk(fits('>= 6', null))
  t.ok(compareDecimals('0.1', '0.10') === 0 && compareDecimals('-1', '1') < 0 && compareDecimals('10', '9.99') > 0)
})

t.test('regular expressions look at text alone', async (t) => {
  t.ok(fits('/^evt_\\d+_/', 'evt_1763712000000_abc'))
  t.ok(fits('/SETTLED/i', 'settled'))
  t.notOk(fits('/1/', 1))
  t.notOk(fits('/a/', 'b'))
})

t.test('types', async (t) => {
  t.ok(fits({ type: 'uuid' }, '01a1fd03-f879-7eb7-872f-a2b4358c4f6d'))
  t.ok(fits({ type: 'timestamp' }, '2026-11-21T09:30:00.000Z'))
  t.ok(fits({ type: 'money' }, '0.7125'))
  t.ok(fits({ type: 'number' }, 6) && fits({ type: 'boolean' }, false) && fits({ type: 'string' }, ''))
  t.notOk(
    fits({ type: 'uuid' }, '01a1fd03') ||
      fits({ type: 'timestamp' }, '2026-11-21') ||
      fits({ type: 'money' }, '.5') ||
      fits({ type: 'number' }, '6'),
  )
  t.ok(
    fits({ type: 'https://x/errors/payout-held' }, { type: 'https://x/errors/payout-held' }),
    'a body may have a type of its own',
  )
})

t.test('one_of, contains and absent', async (t) => {
  t.ok(fits({ one_of: ['Settled', 'Refunded'] }, 'Refunded'))
  t.notOk(fits({ one_of: ['Settled'] }, 'Failed'))
  t.ok(fits({ contains: 'hold' }, 'a payout hold'))
  t.ok(
    fits({ contains: { new_status: 'Settled' } }, [
      { new_status: 'Failed', at: 1 },
      { new_status: 'Settled', at: 2 },
    ]),
  )
  t.notOk(fits({ contains: 'x' }, 5) || fits({ contains: 'x' }, undefined))
  t.ok(fits({ absent: true }, null) && fits({ absent: true }, undefined) && fits({ absent: false }, ''))
  t.notOk(fits({ absent: true }, ''))
})

t.test('equals takes its value as it is', async (t) => {
  for (const text of ['/a/', '>= 10', '/(/']) {
    t.ok(fits({ equals: text }, text), text)
    t.same(matcherProblems({ equals: text }), [])
  }
  t.notOk(fits({ equals: '/a/' }, 'a') || fits({ equals: 1 }, '1') || fits({ equals: null }, undefined))
  t.ok(fits({ equals: { contains: 1, absent: 'x' } }, { absent: 'x', contains: 1 }))
  t.notOk(fits({ equals: { a: 1 } }, { a: 1, b: 2 }), 'an object is all of it')
  t.match(differencesOf({ a: { equals: '/a/' } }, { a: 'b' }), [{ path: 'a', expected: '"/a/"', actual: '"b"' }])
})

t.test('a matcher that is not well-formed is a mistake, and no literal', async (t) => {
  const problemOf = (value: unknown): string => matcherProblems({ field: value })[0]?.message ?? ''
  t.equal(problemOf({ one_of: 'a' }), 'asks for one_of, which takes a list of at least one value; it is "a"')
  t.match(problemOf({ one_of: [] }), /takes a list of at least one value/)
  t.equal(problemOf({ absent: 'yes' }), 'asks for absent, which takes true or false; it is "yes"')
  for (const both of [
    { type: 'uuid', one_of: ['a'] },
    { contains: 'a', x: 1 },
    { equals: 'a', absent: true },
  ])
    t.match(problemOf(both), /a matcher stands alone/)
  t.match(problemOf([{ deep: { absent: 1 } }]), /takes true or false/)
  for (const fine of [{ one_of: ['a'] }, { one_of: '$a.body.list' }, { absent: false }, { type: 'string', name: 'x' }])
    t.equal(problemOf(fine), '')
})

t.test('an object asks for the members it names, a list for all its elements', async (t) => {
  t.ok(fits({ a: { b: 1 } }, { a: { b: 1, c: 2 }, d: 3 }))
  t.same(
    differencesOf(
      { data: { status: 'SETTLED', list: [{ n: 1 }, { n: 2 }] } },
      { data: { status: 'FAILED', list: [{ n: 1 }, { n: 3 }] } },
    ),
    [
      { path: 'data.status', expected: '"SETTLED"', actual: '"FAILED"' },
      { path: 'data.list[1].n', expected: '2', actual: '3' },
    ],
  )
  t.notOk(fits([1], [1, 2]) || fits([1], 1) || fits({ a: 1 }, null) || fits({ a: 1 }, [1]))
  t.notOk(fits({ toString: { absent: false } }, {}), 'what every object inherits is no member')
})

t.test('what is shown distinguishes text from numbers, and is not endless', async (t) => {
  t.equal(show('1'), '"1"')
  t.equal(show(undefined), 'nothing')
  t.notMatch(show([{ state: 'S3CRET', a: { redirect_url: 'S3CRET' } }]), /S3CRET/)
  t.ok(show('x'.repeat(10_000)).length < 400)
})

t.test('a pattern that would never end is ended, and reported', async (t) => {
  t.ok(fits('/^a+$/i', 'AAA'))
  t.throws(() => fits('/^(a+)+$/', `${'a'.repeat(60)}!`), { message: /takes too long on a text of 61 characters/ })
})
