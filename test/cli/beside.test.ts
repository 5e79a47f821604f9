import t from 'tap'
import { beside } from '../../cli/output/two-columns.ts'
import { distanceOf, parseTime, roughly } from '../../cli/base/times.ts'
import { widthOf } from '../../cli/base/width.ts'
import { wrappedLines } from '../../cli/base/wrap.ts'

const paint = (_style: unknown, text: string): string => text

t.test('text is broken between words, and a word without room where the room ends', async (t) => {
  t.same(wrappedLines('one two three', 7), ['one two', 'three'])
  t.same(wrappedLines('abcdefghij k', 4), ['abcd', 'efgh', 'ij k'])
  t.same(wrappedLines('a\r\n\n - b c', 5), ['a', '', ' - b', ' c'])
  for (const width of [1, 2, 7, 44]) {
    const lines = wrappedLines('日本語 and émojis 👍🏽 in a line of words', width)
    t.ok(
      lines.every((line) => widthOf(line) <= Math.max(2, width)),
      `in ${width}`,
    )
  }
  t.same(wrappedLines('left as it is', Infinity), ['left as it is'])
})

t.test('two sides share a wide terminal; elsewhere they follow each other', async (t) => {
  const said = [
    { title: 'A', text: 'one\ntwo' },
    { title: 'B', text: 'three' },
  ]
  const below = ['A', 'one', 'two', '', 'B', 'three']
  t.same(beside(said, { paint, width: undefined }), below)
  t.same(beside(said, { paint, width: 90 }), below)
  const [titles = '', first, second] = beside(said, { paint, width: 91 })
  t.match([titles, first, second], [/^A {46}B$/, /^one {44}three$/, /^two$/])
  t.same(beside([], { paint, width: 140 }), [])
  t.same(beside(said.slice(0, 1), { paint, width: 140 }), ['A', 'one', 'two'])
})

t.test('a distance has two units, is never rounded up, and says which way', async (t) => {
  const now = Date.parse('2026-11-21T12:00:00.000Z')
  const of = (ms: number): string => distanceOf(new Date(now + ms).toISOString(), now)
  t.equal(of(14 * 86_400_000 - 1), 'in 13 days 23 hours')
  t.equal(of(86_400_000), 'in 1 day')
  t.equal(of(-90_000), '1 minute 30 seconds ago')
  t.equal(of(3_661_000), 'in 1 hour 1 minute')
  t.equal(of(999), 'now')
  t.equal(roughly('in 13 days 23 hours'), 'in 13 days')
  t.equal(roughly('1 minute 30 seconds ago'), '1 minute ago')
  t.equal(roughly('missed'), 'missed')
})

t.test('a time may be given as how long ago it was, with or without a minus', async (t) => {
  const now = Date.parse('2026-11-21T12:00:00.000Z')
  for (const text of ['2h', '-2h', '120m', '2026-11-21T10:00:00Z'])
    t.equal(parseTime(text, '--since', now), '2026-11-21T10:00:00.000Z', text)
  for (const text of ['2', '-2', '2x', 'h', '--2h', '2h30m', '2026-02-30', '2026-13-01T00:00:00Z', ''])
    t.throws(() => parseTime(text, '--since', now), { message: /--since: invalid time ".*"/ }, text)
})
