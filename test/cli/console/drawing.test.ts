import t from 'tap'
import '../../support/tsx.ts'
import { CUT, cutTo, line, lineWidth, paragraphOf, plainOf, saidOf } from '../../../cli/console/lines.ts'
import { AGE_WIDTH, UNTIL_WIDTH, ageOf, untilText } from '../../../cli/base/ages.ts'
import type { ScreenColumn } from '../../../cli/console/screen.ts'
import { cutSign } from '../../../cli/console/lines.ts'
import { laidTable } from '../../../cli/console/table-lines.ts'
import { whoOf } from './who.ts'

const { overview } = await import('../../../cli/console/screens/overview.ts')

/* What the eye lands on: tables that stay where they are, and texts that say where they are cut. */

type Row = { id: string; name: string; note: string; age: string; amount: string; held: string }

const ROW: Row = {
  id: '27276579',
  name: 'Tin Whistle Toys',
  note: 'n'.repeat(30),
  age: '9 s',
  amount: '586.35',
  held: '',
}
const COLUMNS: readonly ScreenColumn<Row>[] = [
  { title: 'id', value: ({ id }) => id },
  { title: 'name', value: ({ name }) => name },
  { title: 'note', value: ({ note }) => note },
  { title: 'amount', value: ({ amount }) => amount, align: 'right' },
  { title: 'held', value: ({ held }) => held },
  { title: 'age', value: ({ age }) => age, align: 'right', floor: AGE_WIDTH },
]

function drawn(rows: readonly Row[], options: Parameters<typeof laidTable>[2]): { lines: string[]; most: number } {
  const laid = laidTable(rows, COLUMNS, options)
  const lines = [laid.header, ...rows.map((_, index) => laid.row(index))].map((each) => plainOf(each).trimEnd())
  return { lines, most: laid.most }
}

t.test('the wide form keeps its first column, and is scrolled by whole columns to the last one', async (t) => {
  const at = (left: number): string[] => drawn([ROW], { width: 44, wide: true, left }).lines
  t.same(at(0), ['ID        NAME', '27276579  Tin Whistle Toys'])
  t.match(at(1), [/^ID {8}NOTE$/, /^27276579 {2}n{30}$/])
  const { most } = drawn([ROW], { width: 44, wide: true })
  t.match(at(most)[1], /^27276579 +586\.35 +9 s$/, 'the last column is whole')
  t.same(at(most + 5), at(most), 'further there is nothing')
  t.equal(drawn([ROW], { width: 200, wide: true }).most, 0)
  for (let width = 20; width < 120; width += 1)
    for (let left = 0; left <= most; left += 1)
      for (const each of drawn([ROW], { width, wide: true, left }).lines) {
        t.ok(each.length <= width, `${width}, ${left}: ${each}`)
        t.ok(each.startsWith('ID') || each.startsWith('27276579'), each)
      }
})

t.test('half a number is never shown, nor any other cut that does not say so', async (t) => {
  const whole = new Set(
    ['ID', 'NAME', 'NOTE', 'AMOUNT', 'HELD', 'AGE', ...Object.values(ROW)].flatMap((text) => text.split(' ')),
  )
  for (let width = 24; width < 120; width += 1)
    for (const wide of [true, false])
      for (const each of drawn([ROW], { width, wide }).lines)
        for (const word of each.split(/ +/)) {
          if (word.endsWith(CUT)) t.notMatch(word, /^\d+\.?\d*\S$/, each)
          else t.ok(whole.has(word), `${width}: ${word} in ${each}`)
        }
})

t.test('columns stay where they are while the clock goes, and when an empty one is filled', async (t) => {
  const header = (row: Row, width: number): string => drawn([row], { width, filled: new Set() }).lines[0] ?? ''
  for (const age of ['12 s', '59 min', '23 h', '120 d']) t.equal(header({ ...ROW, age }, 100), header(ROW, 100))
  t.equal(header({ ...ROW, held: 'held' }, 100), header(ROW, 100))
  const filled = new Set<string>()
  const narrow = (held: string): string => drawn([{ ...ROW, note: '', held }], { width: 50, filled }).lines[0] ?? ''
  t.notMatch(narrow(''), /HELD/, 'where there is little room it comes when it has to')
  t.match(narrow('held'), /HELD/)
  t.equal(narrow(''), narrow('held'), 'and stays then')
  const now = Date.now()
  for (const ms of [999, 59_999, 3_599_999, 86_399_999, 99 * 86_400_000]) {
    t.ok(ageOf(new Date(now - ms).toISOString(), now).length <= AGE_WIDTH)
    t.ok(untilText(new Date(now + ms).toISOString(), now).length <= UNTIL_WIDTH)
  }
})

t.test('what is cut says so by one sign, which every terminal has', async (t) => {
  t.equal(cutSign({ LANG: 'en_GB.UTF-8' }), '…')
  t.equal(cutSign({ LC_ALL: 'C', LANG: 'en_GB.UTF-8' }), '...')
  const long = line('abcdefghij')
  t.equal(plainOf(cutTo(long, 6)), `${'abcdefghij'.slice(0, 6 - CUT.length)}${CUT}`)
  t.equal(plainOf(cutTo(long, 10)), 'abcdefghij')
  t.equal(plainOf(cutTo(line('abc     '), 4)).trimEnd(), 'abc', 'blanks are no loss')
  t.same(paragraphOf('one two three four five six', { width: 20, most: 3 }), ['one two three four', 'five six'])
  t.same(
    paragraphOf('a one two three four five', { width: 20, most: 1 }).map((each) => each.endsWith(CUT)),
    [true],
  )
})

t.test('the bars of the overview are read aloud as words, and its money is whole at 60 columns', async (t) => {
  const per_minute = Array.from({ length: 60 }, (_, minute) => (minute === 50 ? 7 : minute === 59 ? 3 : 0))
  const sums = { currency: 'GBP', count: 116, gross_amount: '14033.86', fee_amount: '149.68', net_amount: '13884.18' }
  const seen = { as_of: '2026-11-22T06:00:30.000Z', payments: { per_minute }, money_today: [sums] }
  const layout = { width: 60, who: whoOf('OWNER', 'platform'), kept: {}, now: 0, wide: false }
  const head = overview.head?.([{ overview: seen }], layout) ?? []
  t.equal(saidOf(head[0] ?? []), ' Last hour  10 payments, at most 7 in a minute')
  t.match(plainOf(head[0] ?? []), / {2}10 payments$/)
  for (const each of head) t.ok(lineWidth(each) <= 60, plainOf(each))
  t.match(plainOf(head[1] ?? []), /14033\.86 GBP in 116, fees 149\.68, net 13884\.18$/)
  const quiet = { ...seen, payments: { per_minute: per_minute.map(() => 0) } }
  t.equal(saidOf(overview.head?.([{ overview: quiet }], layout)[0] ?? []), ' Last hour  0 payments')
})
