import t from 'tap'
import { csvOf } from '../../src/lib/csv.ts'

const shell = { header: false, lineEnd: '\n' } as const

function cell(value: unknown): string {
  return csvOf([{ value }], ['value'], shell).slice(0, -1)
}

t.test('a cell is quoted where it has to be, and absent members are empty', async (t) => {
  t.equal(cell('plain text'), 'plain text')
  t.equal(cell('a,b'), '"a,b"')
  t.equal(cell('a;b|c'), '"a;b|c"')
  t.equal(cell('say "hi"'), '"say ""hi"""')
  t.equal(cell('two\nlines'), '"two\nlines"')
  t.equal(cell('two\r\nlines'), '"two\r\nlines"')
  t.equal(cell(null), '')
  t.equal(cell(undefined), '')
  t.equal(cell(false), 'false')
  t.equal(cell(0), '0')
  t.equal(cell({ a: [1, 'x'] }), '"{""a"":[1,""x""]}"')
})

t.test('text that a spreadsheet would run gets an apostrophe in front', async (t) => {
  t.equal(cell('=1+1'), `'=1+1`)
  t.equal(cell('+447700900123'), `'+447700900123`)
  t.equal(cell('-1+1'), `'-1+1`)
  t.equal(cell('@SUM(A1)'), `'@SUM(A1)`)
  t.equal(cell('\t=1'), `"'\t'=1"`)
  t.equal(cell('\r=1'), `"'\r=1"`)
  t.equal(cell('\n=1'), `"'\n=1"`)
  t.equal(cell('＝1+1'), `'＝1+1`)
  t.equal(cell(`=HYPERLINK("https://evil.example","x")`), `"'=HYPERLINK(""https://evil.example"",""x"")"`)
  t.equal(cell('a=b'), 'a=b')
})

t.test('nor does one begin a formula in the middle, for a reader that splits at another separator', async (t) => {
  for (const separator of [';', '|', '\t'])
    for (const start of ['=', '+', '-', '@', ' =', '＝']) {
      const row = csvOf(
        [{ a: 'id', b: `x${separator}${start}HYPERLINK("https://evil.example")`, c: 'y' }],
        ['a', 'b', 'c'],
        shell,
      )
      for (const part of row.split(separator)) t.notMatch(part, /^[ "]*[=+\-@＝]/, row)
    }
})

t.test('amounts stay as they are, below zero too', async (t) => {
  for (const amount of ['50.00', '-50.00', '-3', '0.7125']) t.equal(cell(amount), amount)
  t.equal(cell('-50.00-2'), `'-50.00-2`)
  t.equal(cell('-'), `'-`)
})

t.test('lines have the chosen line end, and the header is written even without rows', async (t) => {
  const rows = [{ a: 1, b: 'x' }, { b: 'y' }]
  t.equal(csvOf(rows, ['b', 'a'], { header: true, lineEnd: '\r\n' }), 'b,a\r\nx,1\r\ny,\r\n')
  t.equal(csvOf([], ['a', 'b'], { header: true, lineEnd: '\r\n' }), 'a,b\r\n')
  t.equal(csvOf([], ['a', 'b'], shell), '')
})
