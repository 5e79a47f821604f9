import t from 'tap'
import { whoseColumns, whoseText } from '../../cli/merchants/whose.ts'
import { tableOf } from '../../cli/output/table.ts'
import type { Column } from '../../cli/output/table.ts'
import { dayOf, endOfId, minuteOf } from '../../cli/base/text.ts'

type Row = { id: string; name: string; note: string; at: string; empty: string }

const ROW: Row = {
  id: '01a1fd03-f879-7eb7-872f-a2b4358c4f6d',
  name: 'Acme of the whole world',
  note: 'checked by two of us',
  at: '2026-11-21 09:30:00Z',
  empty: '',
}
const COLUMNS: readonly Column<Row>[] = [
  { title: 'id', value: ({ id }) => id, short: endOfId },
  { title: 'name', value: ({ name }) => name, least: 10 },
  { title: 'empty', value: ({ empty }) => empty },
  { title: 'at', value: ({ at }) => at, short: dayOf, dropped: 1 },
  { title: 'note', value: ({ note }) => note, least: 8, style: (text) => (text === ROW.note ? 'red' : undefined) },
]

function shown(width: number | undefined, rows: readonly Row[] = [ROW]): string[] {
  return tableOf(rows, COLUMNS, { header: true, paint: (_style, text) => text, width })
}

t.test('without a terminal, or with room enough, nothing is left out', async (t) => {
  const whole = shown(undefined)
  t.match(whole[1], `${ROW.id}  ${ROW.name}         ${ROW.at}  ${ROW.note}`)
  t.same(shown(200), whole)
})

t.test('what is empty goes first, then ids and times are shortened, then columns go, then words are cut', async (t) => {
  t.same(
    shown(107),
    ['ID                                    NAME                     AT                    NOTE'].concat(
      `${ROW.id}  ${ROW.name}  ${ROW.at}  ${ROW.note}`,
    ),
  )
  t.equal(shown(80)[1], `358c4f6d  ${ROW.name}  ${ROW.at}  ${ROW.note}`)
  t.equal(shown(70)[1], `358c4f6d  ${ROW.name}  2026-11-21  ${ROW.note}`)
  t.equal(shown(60)[1], '358c4f6d  Acme of the whole…  2026-11-21  checked by two of…')
  t.equal(shown(40)[0], 'ID        NAME            NOTE')
  t.match(shown(40)[1], /^358c4f6d {2}Acme of the w… {2}checked by tw…$/)
})

t.test('no line is wider than the terminal as long as a column can give way', async (t) => {
  for (let width = 30; width < 130; width += 1)
    for (const line of shown(width)) t.ok(line.length <= width, `${width}: ${line}`)
  t.ok(
    shown(10).every((line) => line.length <= 30),
    'less than that is left to the terminal',
  )
})

t.test('a cell that is cut keeps the colour of the whole, and wide characters are cut whole', async (t) => {
  const painted = tableOf([{ ...ROW, name: '日本'.repeat(20) }], COLUMNS, {
    header: false,
    paint: (style, text) => `<${String(style)}>${text}`,
    width: 40,
  })
  t.match(painted[0], /^358c4f6d {2}(日本)+日?… {1,2} ?<red>checked/)
})

t.test(
  'a narrow terminal names ids by their ends and times by their days or minutes, other text as it is',
  async (t) => {
    t.equal(endOfId(ROW.id), '358c4f6d')
    t.equal(endOfId('acme-ltd-server'), 'acme-ltd-server')
    t.equal(dayOf(ROW.at), '2026-11-21')
    t.equal(minuteOf(ROW.at), '11-21 09:30')
    t.equal(minuteOf('never'), 'never')
    t.equal(dayOf(''), '')
  },
)

t.test('what may stand below does so where the line is too short', async (t) => {
  const columns = COLUMNS.map((column) => (column.title === 'note' ? { ...column, below: true } : column))
  const wide = tableOf([ROW, ROW], columns, { header: true, paint: (_style, text) => text, width: 80 })
  t.equal(wide.length, 3)
  t.same(tableOf([ROW, ROW], columns, { header: true, paint: (_style, text) => text, width: 50 }), [
    'ID        NAME                     AT',
    '    NOTE',
    ...Array.from({ length: 2 }, () => ['358c4f6d  Acme of the whole world  2026-11-21', `    ${ROW.note}`]).flat(),
  ])
})

t.test('whose a row is: the name stays, and the realm is the first to go', async (t) => {
  const owned = { trading_name: 'Acme', realm_slug: 'acme-ltd', merchant_id: ROW.id, at: ROW.at }
  const columns: readonly Column<typeof owned>[] = [
    ...whoseColumns((row: typeof owned) => row),
    { title: 'at', value: ({ at }) => at, dropped: 1 },
  ]
  const lineAt = (width: number, row = owned): string =>
    tableOf([row], columns, { header: false, paint: (_style, text) => text, width }).join('\n')
  t.equal(lineAt(80), `Acme  acme-ltd  ${ROW.at}`)
  t.equal(lineAt(30), `Acme  ${ROW.at}`)
  t.equal(lineAt(20), 'Acme')
  t.equal(lineAt(80, { ...owned, trading_name: 'Ac\u001b[31mme' }).includes('\u001b'), false)
  t.equal(whoseText(owned), 'Acme (acme-ltd)')
})
