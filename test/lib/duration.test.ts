import t from 'tap'
import { durationText, longDurationText, parseDuration } from '../../src/lib/duration.ts'

t.test('a duration is a number and its unit', async (t) => {
  const cases = {
    '250ms': 250,
    '0s': 0,
    '90s': 90_000,
    '5m': 300_000,
    '2h': 7_200_000,
    '1d': 86_400_000,
    ' 7s ': 7_000,
    '0007s': 7_000,
  }
  for (const [text, ms] of Object.entries(cases)) t.equal(parseDuration(text), ms, text)
})

t.test('an invalid duration is rejected, with an example of a valid one', async (t) => {
  for (const text of [
    '',
    's',
    '5',
    '-5s',
    '+5s',
    '1.5h',
    '5 m',
    '5M',
    '5min',
    '1h30m',
    '5s5',
    'NaNs',
    '1e3s',
    '5w',
    '12345678901s',
    '５s',
  ]) {
    t.throws(() => parseDuration(text), { name: 'RangeError', message: /90s, 5m or 2h/ }, JSON.stringify(text))
  }
})

t.test('a time is written in the largest unit without a remainder', async (t) => {
  const cases = {
    '0s': 0,
    '250ms': 250,
    '1500ms': 1_500,
    '90s': 90_000,
    '2m': 120_000,
    '11h': 39_600_000,
    '7d': 604_800_000,
  }
  for (const [text, ms] of Object.entries(cases)) t.equal(durationText(ms), text)
})

t.test('in words, a length of time has its two largest units, rounded down', async (t) => {
  const cases: [number, string][] = [
    [0, ''],
    [999, ''],
    [1_999, '1 second'],
    [61_000, '1 minute 1 second'],
    [3_600_000, '1 hour'],
    [3_605_000, '1 hour'],
    [100_800_000, '1 day 4 hours'],
    [2 * 86_400_000 + 59 * 60_000, '2 days'],
  ]
  for (const [ms, text] of cases) t.equal(longDurationText(ms), text, String(ms))
})
