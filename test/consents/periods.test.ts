import t from 'tap'
import { PERIODS, periodAt } from '../../src/consents/periods.ts'
import type { Alignment, Period } from '../../src/consents/periods.ts'

function at(period: Period, now: string, since = now, alignment: Alignment = 'CALENDAR'): string {
  const { start, end } = periodAt({ period, alignment }, { now, since })
  return `${start} ${end}`
}

t.test("periods are whole days in London, whose midnight is an hour before UTC's in summer", async (t) => {
  const cases: [Period, string, string, string][] = [
    ['DAY', '2026-06-30T22:59:59.999Z', '2026-06-29T23:00:00.000Z', '2026-06-30T23:00:00.000Z'],
    ['DAY', '2026-06-30T23:00:00.000Z', '2026-06-30T23:00:00.000Z', '2026-07-01T23:00:00.000Z'],
    ['DAY', '2026-03-29T12:00:00.000Z', '2026-03-29T00:00:00.000Z', '2026-03-29T23:00:00.000Z'],
    ['DAY', '2026-10-25T12:00:00.000Z', '2026-10-24T23:00:00.000Z', '2026-10-26T00:00:00.000Z'],
    ['WEEK', '2026-11-22T23:59:59.999Z', '2026-11-16T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
    ['WEEK', '2026-11-23T00:00:00.000Z', '2026-11-23T00:00:00.000Z', '2026-11-30T00:00:00.000Z'],
    ['FORTNIGHT', '2026-11-21T12:00:00.000Z', '2026-11-09T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
    ['FORTNIGHT', '2027-01-01T12:00:00.000Z', '2026-12-21T00:00:00.000Z', '2027-01-04T00:00:00.000Z'],
    ['MONTH', '2026-06-30T23:00:00.000Z', '2026-06-30T23:00:00.000Z', '2026-07-31T23:00:00.000Z'],
    ['MONTH', '2028-02-29T12:00:00.000Z', '2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
    ['HALF_YEAR', '2026-06-30T22:59:59.999Z', '2026-01-01T00:00:00.000Z', '2026-06-30T23:00:00.000Z'],
    ['HALF_YEAR', '2026-12-31T23:59:59.999Z', '2026-06-30T23:00:00.000Z', '2027-01-01T00:00:00.000Z'],
    ['YEAR', '2026-12-31T23:59:59.999Z', '2026-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
    ['YEAR', '2027-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z', '2028-01-01T00:00:00.000Z'],
  ]
  for (const [period, now, start, end] of cases) t.equal(at(period, now), `${start} ${end}`, `${period} ${now}`)
})

t.test(
  "periods with CONSENT alignment begin on the mandate's day, from the 31st on the last day of shorter months",
  async (t) => {
    const since = '2026-01-31T15:00:00.000Z'
    const begins = (period: Period, now: string) => at(period, now, since, 'CONSENT').split(' ')[0]
    t.equal(begins('DAY', '2026-02-03T01:00:00.000Z'), '2026-02-03T00:00:00.000Z')
    t.equal(begins('WEEK', '2026-02-06T12:00:00.000Z'), '2026-01-31T00:00:00.000Z')
    t.equal(begins('WEEK', '2026-02-07T12:00:00.000Z'), '2026-02-07T00:00:00.000Z')
    t.equal(begins('FORTNIGHT', '2026-02-13T12:00:00.000Z'), '2026-01-31T00:00:00.000Z')
    t.equal(begins('MONTH', '2026-02-27T12:00:00.000Z'), '2026-01-31T00:00:00.000Z')
    t.equal(begins('MONTH', '2026-02-28T12:00:00.000Z'), '2026-02-28T00:00:00.000Z')
    t.equal(begins('MONTH', '2026-03-30T12:00:00.000Z'), '2026-02-28T00:00:00.000Z')
    t.equal(begins('MONTH', '2026-03-31T12:00:00.000Z'), '2026-03-30T23:00:00.000Z')
    t.equal(begins('HALF_YEAR', '2026-07-30T12:00:00.000Z'), '2026-01-31T00:00:00.000Z')
    t.equal(begins('YEAR', '2027-01-31T00:00:00.000Z'), '2027-01-31T00:00:00.000Z')
  },
)

t.test('every instant is in exactly one period, and the next one begins at its end', async (t) => {
  for (const alignment of ['CALENDAR', 'CONSENT'] as const) {
    for (const period of PERIODS) {
      const since = '2024-02-29T23:30:00.000Z'
      // The period after each is asked for once, not on each of its days.
      let followed = ''
      for (let day = 0; day < 800; day += 1) {
        const now = new Date(Date.parse('2025-12-01T22:30:00.000Z') + day * 86_400_000).toISOString()
        const { start, end } = periodAt({ period, alignment }, { now, since })
        const isFollowed = end === followed || periodAt({ period, alignment }, { now: end, since }).start === end
        if (!(start <= now && now < end && isFollowed)) t.fail(`${alignment} ${period} ${now}: ${start} ${end}`)
        followed = end
      }
    }
  }
})
