import t from 'tap'
import { daysOf } from '../../../cli/kit/paging.ts'

t.test("where the service goes by the day, the day of a time is London's", (t) => {
  t.same(daysOf({ since: '2026-07-01T23:30:00Z', until: '2026-12-01T23:30:00Z' }), {
    from: '2026-07-02',
    to: '2026-12-01',
  })
  t.same(daysOf({ since: '2026-07-01', until: undefined }), { from: '2026-07-01', to: undefined }, 'a date is itself')
  t.throws(() => daysOf({ since: 'someday' }), { code: 'USAGE' })
  t.end()
})
