import t from 'tap'
import { makePrinter } from '../../cli/output/output.ts'
import type { Printer } from '../../cli/output/output.ts'
import { OUTPUT_MODES } from '../../cli/base/output-modes.ts'
import type { OutputMode } from '../../cli/base/output-modes.ts'
import { makeIo } from './harness.ts'

const ROWS = [
  { id: 'a1', name: 'Ada, "the first"', at: null },
  { id: 'b2', name: 'Grace', at: '2026-11-21' },
]

type PrintOptions = { mode: OutputMode; fields?: string[]; query?: string; header?: boolean }

function printed({ mode, fields, query, header = true }: PrintOptions, act: (print: Printer) => void): string {
  const { io, stdout } = makeIo({})
  act(makePrinter(io, { mode, fields, query, header, paint: (_style, text) => text }))
  return stdout.join('')
}

const list = (print: Printer): void =>
  print.list(ROWS, {
    fields: ['id', 'name', 'at'],
    columns: [{ title: 'name', value: (row) => row.name }],
    id: (row) => row.id,
    empty: 'Nobody.',
  })
const record = (print: Printer): void => {
  for (const item of ROWS.slice(0, 1)) print.record(item, [['Name', item.name]], { id: item.id })
}

const FIRST = '{"id":"a1","name":"Ada, \\"the first\\"","at":null}'
const SECOND = '{"id":"b2","name":"Grace","at":"2026-11-21"}'

/** Each form of a list, and of a record with the same members. */
const FORMS: Readonly<Record<OutputMode, { list: string; record: string }>> = {
  table: { list: 'NAME\nAda, "the first"\nGrace\n', record: 'Name  Ada, "the first"\n' },
  json: { list: `[${FIRST},${SECOND}]\n`, record: `${FIRST}\n` },
  jsonl: { list: `${FIRST}\n${SECOND}\n`, record: `${FIRST}\n` },
  yaml: {
    list: '- id: a1\n  name: Ada, "the first"\n  at: null\n- id: b2\n  name: Grace\n  at: 2026-11-21\n',
    record: 'id: a1\nname: Ada, "the first"\nat: null\n',
  },
  csv: {
    list: 'id,name,at\na1,"Ada, ""the first""",\nb2,Grace,2026-11-21\n',
    record: 'id,name,at\na1,"Ada, ""the first""",\n',
  },
  id: { list: 'a1\nb2\n', record: 'a1\n' },
}

t.test('every form has a list and a record, which differ in nothing but how many there are', async (t) => {
  for (const mode of OUTPUT_MODES) {
    t.equal(printed({ mode }, list), FORMS[mode].list, `list as ${mode}`)
    t.equal(printed({ mode }, record), FORMS[mode].record, `record as ${mode}`)
  }
})

t.test('chosen members and a path mean the same in every form that has members', async (t) => {
  t.equal(printed({ mode: 'jsonl', fields: ['name'] }, record), '{"name":"Ada, \\"the first\\""}\n')
  t.equal(printed({ mode: 'csv', fields: ['at'], header: false }, list), '\n2026-11-21\n')
  for (const mode of OUTPUT_MODES.filter((each) => each !== 'json')) {
    t.equal(printed({ mode, query: '[1].name' }, list), 'Grace\n', mode)
    t.equal(printed({ mode, query: 'at' }, record), '', `${mode}: null is nothing`)
  }
  t.equal(printed({ mode: 'json', query: '[].at' }, list), '[null,"2026-11-21"]\n')
})

t.test('an invalid path is reported with the names there are', async (t) => {
  for (const [query, why] of [
    ['nme', /there is no field "nme" here; there are id, name, at/],
    ['name.first', /name is a value, with nothing below it/],
    ['[0]', /the result is not a list/],
    ['name..', /invalid path "name\.\." at character 5/],
  ] as const)
    t.throws(() => printed({ mode: 'table', query }, record), { message: why }, query)
  t.throws(() => printed({ mode: 'table', query: 'name' }, list), { message: /the result is a list/ })
  t.throws(() => printed({ mode: 'json', fields: ['nme'] }, record), { message: /there is no field "nme"/ })
})
