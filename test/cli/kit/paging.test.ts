import t from 'tap'
import { collectPages } from '../../../cli/client/pages.ts'
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

t.test('a list is filled over pages that are short or empty, and says where it goes on', async (t) => {
  const asked: unknown[] = []
  const rows = [['a'], [], [], ['b', 'c', 'd'], ['e']]
  const read = async (page: { limit: number; cursor?: string }) => {
    asked.push(page)
    const index = Number(page.cursor ?? 0)
    const next = index + 1 < rows.length ? String(index + 1) : null
    return { data: (rows[index] ?? []).slice(0, page.limit), has_more: next !== null, next_cursor: next }
  }
  t.same(await collectPages({ limit: '4', all: false }, read), { items: ['a', 'b', 'c', 'd'], nextCursor: '4' })
  t.same(asked, [{ limit: 4 }, ...['1', '2', '3'].map((cursor) => ({ limit: 3, cursor }))])
  t.same(await collectPages({ limit: '4', all: false, cursor: '4' }, read), { items: ['e'], nextCursor: null })
  const all = await collectPages({ limit: '4', all: true }, read)
  t.same(all, { items: ['a', 'b', 'c', 'd', 'e'], nextCursor: null })
})
