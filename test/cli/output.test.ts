import t from 'tap'
import { useColor } from '../../cli/io.ts'
import { parsePath, valueAt } from '../../cli/path.ts'
import { printable, widthOf } from '../../cli/text.ts'
import { fakeService, runCli, summaryOf } from './harness.ts'
import type { Answer } from './harness.ts'
import type { Test } from 'tap'

const ESC = '\u001b'
const SECOND = '01a1fd03-f879-7eb7-872f-a2b4358c4f6e'

function page(...items: unknown[]): Answer {
  return { json: { data: items, has_more: false, next_cursor: null } }
}

async function list(
  t: Test,
  flags: string[],
  items: unknown[] = [summaryOf('Settled'), summaryOf('Failed', { payment_id: SECOND, payer_name: 'A, "B"' })],
) {
  const { url } = await fakeService(t, () => page(...items))
  return runCli(['payments', 'list', '--api-url', url, '--client-id', 'demo', ...flags])
}

t.test('on a pipe a list is plain aligned text without colour', async (t) => {
  const { code, stdout, stderr } = await list(t, [])
  t.equal(code, 0)
  t.equal(stderr, '')
  t.match(stdout, /^ID +STATUS +AMOUNT +CUR +CREATED/)
  t.notOk(stdout.includes(ESC))
})

t.test('--no-header leaves the header line out of tables and CSV', async (t) => {
  t.equal((await list(t, ['--no-header'])).stdout.split('\n').length, 3)
  t.equal((await list(t, ['--no-header', '-o', 'csv'])).stdout.split('\n').length, 3)
})

t.test('-o json is one array, and -o jsonl one object in a line', async (t) => {
  t.match(JSON.parse((await list(t, ['-o', 'json'])).stdout), [{ status: 'Settled' }, { status: 'Failed' }])
  const lines = (await list(t, ['-o', 'jsonl'])).stdout.trimEnd().split('\n')
  t.same(
    lines.map((line) => JSON.parse(line).status),
    ['Settled', 'Failed'],
  )
})

t.test('--json keeps chosen members, after an equals sign or as a word that can be nothing else', async (t) => {
  t.same(JSON.parse((await list(t, ['--json=status'])).stdout), [{ status: 'Settled' }, { status: 'Failed' }])
  t.same(JSON.parse((await list(t, ['--json', 'status,currency'])).stdout)[0], { status: 'Settled', currency: 'GBP' })
  t.same(JSON.parse((await list(t, ['--json', 'gross_amount'])).stdout)[0], { gross_amount: '50.00' })
})

t.test('a member that does not exist is a usage error that names those that do', async (t) => {
  const { code, stderr } = await list(t, ['--json=stauts'])
  t.equal(code, 2)
  t.match(JSON.parse(stderr), { error: { code: 'USAGE', message: /"stauts".*payment_id, status/ } })
})

t.test('-o csv quotes what needs it, and names its columns even without rows', async (t) => {
  t.match((await list(t, ['-o', 'csv'])).stdout, /"A, ""B"""/)
  t.equal((await list(t, ['-o', 'csv', '--json=status,currency'])).stdout, 'status,currency\nSettled,GBP\nFailed,GBP\n')
  t.match((await list(t, ['-o', 'csv'], [])).stdout, /^payment_id,status,end_to_end_id,/)
})

t.test('-o id prints ids alone, and -o yaml reads as YAML', async (t) => {
  t.equal((await list(t, ['-o', 'id'])).stdout, `01a1fd03-f879-7eb7-872f-a2b4358c4f6d\n${SECOND}\n`)
  t.match((await list(t, ['-o', 'yaml'])).stdout, /^- payment_id: 01a1fd03.*\n {2}status: Settled\n/)
})

t.test('-q prints raw scalars, one in a line', async (t) => {
  t.equal((await list(t, ['-q', '[].status'])).stdout, 'Settled\nFailed\n')
  t.equal((await list(t, ['-q', '[1].payer_name'])).stdout, 'A, "B"\n')
  t.equal((await list(t, ['-q', '[0].nothing'])).stdout, '')
  t.equal((await list(t, ['-q', 'a b'])).code, 2)
})

t.test('an empty list is a success: nothing on standard output, a word on standard error', async (t) => {
  const { code, stdout, stderr } = await list(t, [], [])
  t.equal(code, 0)
  t.equal(stdout, '')
  t.match(stderr, /no such payments/)
  t.equal((await list(t, ['--json'], [])).stdout, '[]\n')
})

t.test('SVC_OUTPUT sets the form, a flag overrides it, a wrong one is a usage error', async (t) => {
  const { url } = await fakeService(t, () => page(summaryOf('Settled')))
  const words = ['payments', 'list', '--api-url', url, '--client-id', 'demo']
  t.match((await runCli(words, { env: { SVC_OUTPUT: 'json' } })).stdout, /^\[\{/)
  t.match((await runCli([...words, '-o', 'id'], { env: { SVC_OUTPUT: 'json' } })).stdout, /^01a1fd03/)
  t.equal((await runCli(words, { env: { SVC_OUTPUT: 'xml' } })).code, 2)
})

t.test('a terminal gets colours and indented JSON', async (t) => {
  const { url } = await fakeService(t, () => page(summaryOf('Settled')))
  const words = ['payments', 'list', '--api-url', url, '--client-id', 'demo']
  t.ok((await runCli(words, { tty: true })).stdout.includes(`${ESC}[32mSettled`))
  t.match((await runCli([...words, '--json'], { tty: true })).stdout, /^\[\n {2}\{/)
  t.notOk((await runCli([...words, '--color', 'never'], { tty: true })).stdout.includes(ESC))
})

t.test("a payer's name can't drive the terminal", async (t) => {
  const { url } = await fakeService(t, () =>
    page(summaryOf('Failed', { failure: { code: '\u001b[2J\u202eevil', reason: '', source: '', iso_code: '' } })),
  )
  const { stdout } = await runCli(['payments', 'list', '--api-url', url, '--client-id', 'demo'])
  t.notOk(stdout.includes(ESC) || stdout.includes('\u202e'))
  t.match(stdout, String.raw`\u001b[2J\u202eevil`)
})

t.test('colour: the flag decides, then NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, then the terminal', async (t) => {
  t.equal(useColor('auto', {}, true), true)
  t.equal(useColor('auto', {}, false), false)
  t.equal(useColor('always', { NO_COLOR: '1' }, false), true)
  t.equal(useColor('never', { FORCE_COLOR: '1' }, true), false)
  t.equal(useColor('auto', { NO_COLOR: '1', FORCE_COLOR: '1' }, true), false)
  t.equal(useColor('auto', { NO_COLOR: '' }, true), true)
  t.equal(useColor('auto', { FORCE_COLOR: '1' }, false), true)
  t.equal(useColor('auto', { FORCE_COLOR: '0' }, true), false)
  t.equal(useColor('auto', { CLICOLOR_FORCE: '1' }, false), true)
  t.equal(useColor('auto', { CLICOLOR: '0' }, true), false)
  t.equal(useColor('auto', { TERM: 'dumb' }, true), false)
  t.equal(useColor('auto', { CI: 'true' }, true), false)
})

t.test('paths read members, indexes, every element and quoted names', async (t) => {
  const data = { a: [{ b: 1 }, { b: 2 }], 'c d': { e: null } }
  t.equal(valueAt(data, parsePath('a[1].b')), 2)
  t.same(valueAt(data, parsePath('a[].b')), [1, 2])
  t.equal(valueAt(data, parsePath('["c d"].e')), null)
  t.equal(valueAt(data, parsePath('a[9].b')), undefined)
  t.equal(valueAt(data, parsePath('toString')), undefined)
  t.throws(() => parsePath('a..b'))
})

t.test('widths count what a terminal shows', async (t) => {
  t.equal(widthOf('abc'), 3)
  t.equal(widthOf('日本'), 4)
  t.equal(widthOf('e\u0301'), 1)
  t.equal(printable('a\nb', 'lines'), 'a\nb')
  t.equal(printable('a\nb'), String.raw`a\u000ab`)
})
