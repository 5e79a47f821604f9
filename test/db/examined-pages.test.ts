import t from 'tap'
import { readExamined } from '../../src/db/examined-pages.ts'
import { cursorOf } from '../../src/lib/cursor.ts'

/** Rows 9 to 1, of which each statement examines four; those of `matching` match. */
function reader(matching: readonly number[]) {
  const asked: (string | undefined)[] = []
  const read = async (after: string | undefined, limit: number) => {
    asked.push(after)
    const left = [9, 8, 7, 6, 5, 4, 3, 2, 1].filter((row) => after === undefined || row < Number(after))
    return left
      .slice(0, 4)
      .map((row, index) => ({ row, matches: matching.includes(row), is_last_examined: index === 3 }))
      .filter((row) => row.matches || row.is_last_examined)
      .slice(0, limit + 1)
  }
  return { asked, read, keyOf: ({ row }: { row: number }) => String(row) }
}

t.test('a page is filled from as many statements as it takes', async (t) => {
  const { asked, ...list } = reader([8, 3, 2, 1])
  const page = await readExamined({ ...list, limit: 2, after: undefined, fillMs: 60_000 })
  t.strictSame(page, { rows: [{ row: 8 }, { row: 3 }], nextCursor: cursorOf('3') })
  t.strictSame(asked, [undefined, '6'])
  const rest = await readExamined({ ...list, limit: 2, after: '3', fillMs: 60_000 })
  t.strictSame(rest, { rows: [{ row: 2 }, { row: 1 }], nextCursor: null })
})

t.test('when its time is over it is short, or empty, and the next one begins where it ended', async (t) => {
  const { read, keyOf } = reader([1])
  const first = await readExamined({ read, keyOf, limit: 2, after: undefined, fillMs: 0 })
  t.strictSame(first, { rows: [], nextCursor: cursorOf('6') })
  t.strictSame(await readExamined({ read, keyOf, limit: 2, after: '6', fillMs: 0 }), {
    rows: [],
    nextCursor: cursorOf('2'),
  })
  t.strictSame(await readExamined({ read, keyOf, limit: 2, after: '2', fillMs: 0 }), {
    rows: [{ row: 1 }],
    nextCursor: null,
  })
})

t.test('the last row examined belongs to the page if it matches, and fills it', async (t) => {
  for (const limit of [1, 2, 3]) {
    const { read, keyOf } = reader([8, 6, 5])
    const found: number[] = []
    let after: string | undefined
    do {
      const page = await readExamined({ read, keyOf, limit, after, fillMs: 0 })
      t.ok(page.rows.length <= limit)
      found.push(...page.rows.map(({ row }) => row))
      after = page.nextCursor === null ? undefined : Buffer.from(page.nextCursor, 'base64url').toString()
    } while (after !== undefined)
    t.strictSame(found, [8, 6, 5], `${limit} a page`)
  }
})
