import stringWidth from 'string-width'
import t from 'tap'
import { useColor } from '../../cli/base/io.ts'
import { parsePath, valueAt } from '../../cli/output/path.ts'
import { printable } from '../../cli/base/text.ts'
import { cutTo, piecesOf, widthOf } from '../../cli/base/width.ts'
import { wrapped, wrappedCommand } from '../../cli/base/wrap.ts'
import { PAYMENT_ID, fakeService, paymentOf, refusal, runCli, summaryOf } from './harness.ts'
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

t.test('-o csv makes text harmless that a spreadsheet would run, and leaves amounts as they are', async (t) => {
  const rows = [summaryOf('Settled', { payer_name: '=HYPERLINK("https://evil.example")', refunded_amount: '-1.00' })]
  const { stdout } = await list(t, ['-o', 'csv', '--json=payer_name,refunded_amount'], rows)
  t.equal(stdout, `payer_name,refunded_amount\n"'=HYPERLINK(""https://evil.example"")",-1.00\n`)
  t.equal((await list(t, ['-o', 'csv', '--no-header'], [])).stdout, '')
  t.equal((await list(t, ['-o', 'csv', '--json=nonsense'], rows)).code, 2)
})

t.test('-o id prints ids alone, and -o yaml reads as YAML', async (t) => {
  t.equal((await list(t, ['-o', 'id'])).stdout, `01a1fd03-f879-7eb7-872f-a2b4358c4f6d\n${SECOND}\n`)
  t.match((await list(t, ['-o', 'yaml'])).stdout, /^- payment_id: 01a1fd03.*\n {2}status: Settled\n/)
})

t.test('-q prints raw scalars, one in a line', async (t) => {
  t.equal((await list(t, ['-q', '[].status'])).stdout, 'Settled\nFailed\n')
  t.equal((await list(t, ['-q', '[1].payer_name'])).stdout, 'A, "B"\n')
  t.equal((await list(t, ['-q', 'a b'])).code, 2)
})

t.test('at a terminal, data of others can not drive it; a pipe gets it as it is', async (t) => {
  const payer = 'Ada\u001b]52;c;eA==\u0007 \u009b31m \u202eX'
  const items = [summaryOf('Settled', { payer_name: payer })]
  for (const flags of [
    ['-q', '[].payer_name'],
    ['-o', 'csv'],
    ['-o', 'json'],
    ['-o', 'jsonl'],
    ['-o', 'yaml'],
  ]) {
    const { url } = await fakeService(t, () => page(...items))
    const words = ['payments', 'list', '--api-url', url, '--client-id', 'demo', ...flags]
    const { stdout } = await runCli(words, { tty: true })
    t.notMatch(stdout, /(?!\n)[\p{Cc}\u202e]/u, flags.join(' '))
    t.match(stdout, /Ada/)
  }
  t.equal((await list(t, ['-q', '[].payer_name'], items)).stdout, `${payer}\n`)
})

t.test('a path that leads to nothing there could be is a usage error that names what there is', async (t) => {
  const { url } = await fakeService(t, ({ path }) =>
    path.includes('?')
      ? page(summaryOf('Settled'))
      : { json: paymentOf('Settled', { metadata: { order: '7' }, failure: null }) },
  )
  const words = ['payments', 'show', PAYMENT_ID, '--api-url', url, '--client-id', 'demo']
  const refused = async (query: string, stderr: RegExp): Promise<void> => {
    t.match(await runCli([...words, '-q', query]), { code: 2, stdout: '', stderr }, query)
    t.match(await runCli([...words, `--json=${query}`]), { code: 2, stdout: '' }, query)
  }
  await refused('stauts', /"stauts" here; there are payment_id, status, end_to_end_id/)
  await refused('status_history[0].nothing', /"nothing" in status_history\[\]; there are ordinal, previous_status/)
  await refused(
    'status_history.new_status',
    /status_history is a list, [^\n]*\nTry: of each: -q 'status_history\[\]\.new_status'\n +of the first: -q 'status_history\[0\]\.new_status'/,
  )
  await refused('status[0]', /status is not a list/)
  await refused('status.code', /status is a value/)
  for (const query of ['failure', 'failure.code', 'status_history[9].new_status', 'metadata.no_order', 'payer_name']) {
    t.match(await runCli([...words, '-q', query]), { code: 0, stdout: '', stderr: '' }, query)
  }
  t.match(await runCli([...words, '-q', 'metadata.order']), { code: 0, stdout: '7\n' })
})

t.test('a list is asked by its rows, also where it is empty', async (t) => {
  for (const items of [[], [summaryOf('Settled')]]) {
    t.match(await list(t, ['-q', '[].stauts'], items), { code: 2, stderr: /there are payment_id, status/ })
    t.match(await list(t, ['-q', '[].id'], items), {
      code: 2,
      stderr: /"id" here; there are (\w+, ){7}\w+ and \d+ more \(--json shows all\); did you mean payment_id\?\n/,
    })
    t.match(await list(t, ['-q', '[0].stauts'], items), { code: 2, stdout: '' })
    t.match(await list(t, ['-q', 'status'], items), {
      code: 2,
      stderr: /is a list, which has no member "status"\nTry: of each: -q '\[\]\.status'/,
    })
  }
  t.match(await list(t, ['-q', '[0].status'], []), { code: 0, stdout: '' })
  t.match(await list(t, ['-q', '[].failure.code']), { code: 0, stdout: '' })
})

t.test('choices are taken in any case', async (t) => {
  const { requests, url } = await fakeService(t, () => page())
  const words = ['payments', 'list', '--api-url', url, '--client-id', 'demo']
  t.match(await runCli([...words, '--status', 'settled', '-o', 'JSON']), { code: 0, stdout: '[]\n' })
  t.match(requests.at(-1)?.path, /status=Settled/)
  t.match(await runCli([...words, '--status', 'setled']), { code: 2, stderr: /use one of [^]*Settled/ })
})

t.test('CSV leaves out the address that lets its holder act as the payer, unless it is asked for', async (t) => {
  const rows = [summaryOf('AwaitingAuthorisation', { redirect_url: 'https://bank.example/?state=secret' })]
  t.notMatch((await list(t, ['-o', 'csv'], rows)).stdout, /redirect_url|state=secret/)
  t.equal((await list(t, ['-o', 'csv', '--json=redirect_url'], rows)).stdout.split('\n')[0], 'redirect_url')
  t.equal(JSON.parse((await list(t, ['-o', 'json'], rows)).stdout)[0].redirect_url, rows[0]?.['redirect_url'])
})

t.test('what was refunded has a column where there is any, and eighty columns are enough', async (t) => {
  const rows = [summaryOf('Settled', { refunded_amount: '12.50' }), summaryOf('AwaitingAuthorisation')]
  const { url } = await fakeService(t, () => page(...rows))
  const words = ['payments', 'list', '--api-url', url, '--client-id', 'demo', '--color', 'never']
  const { stdout } = await runCli(words, { tty: true, columns: 80 })
  t.match(stdout, /^ID +STATUS +AMOUNT +REFUNDED +CUR +CREATED\n358c4f6d +Settled +50\.00 +12\.50 +GBP/)
  t.ok(stdout.split('\n').every((line) => line.length <= 80))
  t.notMatch((await list(t, [])).stdout, /REFUNDED/)
})

t.test('a narrow terminal breaks texts between words, and commands so that they can be copied', async (t) => {
  t.same(wrapped('one two three four five six', 20, '  '), ['  one two three four', '  five six'])
  t.same(wrappedCommand('svc payments list --status Settled', 30), ['svc payments list \\', '    --status Settled'])
  const quoted = "svc payments list --search 'a b c'"
  t.same(wrappedCommand(quoted, 20), [quoted])
  const { url } = await fakeService(t, () => refusal(409, 'DISPUTE_CLOSED', { error: 'word '.repeat(40).trim() }))
  const told = await runCli(['payments', 'list', '--api-url', url, '--client-id', 'demo'], {
    tty: true,
    columns: 80,
    env: { NO_COLOR: '1' },
  })
  t.match(told.stderr, /^Error: word[^]*word\nTry: how it ended: svc[^]*\n\[request req-1\]\n$/)
  t.ok(told.stderr.split('\n').every((line) => line.length <= 80 && !/\b(w|wo|wor)$/.test(line)))
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
  t.match(await runCli(words, { env: { SVC_COLOR: 'purple' } }), {
    code: 2,
    stdout: '',
    stderr: 'Error: SVC_COLOR: "purple" is none of auto, always, never\nTry: SVC_COLOR=auto, or unset SVC_COLOR\n',
  })
  t.match(await runCli(['whoami'], { env: { SVC_TIMEOUT: 'abc', SVC_API_URL: 'http://127.0.0.1:1' } }), {
    code: 2,
    stderr: /SVC_TIMEOUT: [^]*Try: SVC_TIMEOUT=15s, or unset SVC_TIMEOUT\n/,
  })
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
  for (const emoji of ['👍🏽', '🇬🇧', '👨‍👩‍👧', '❤️']) t.equal(widthOf(emoji), 2, emoji)
  t.equal(widthOf('می\u200cشود'), 5, 'what joins letters takes no column')
  for (let code = 0x20; code < 0x3000; code += 1) {
    const character = String.fromCodePoint(code)
    if (printable(character) === character && widthOf(character) !== stringWidth(character)) t.fail(code.toString(16))
  }
})

t.test('a text is cut between what people see as characters', async (t) => {
  t.equal(cutTo('🇬🇧🇫🇷🇩🇪', 5), '🇬🇧🇫🇷…')
  t.equal(cutTo('🇬🇧🇫🇷🇩🇪', 4), '🇬🇧…')
  t.equal(cutTo('Cafe\u0301 Zu\u0308rich', 5), 'Cafe\u0301…')
  t.equal(cutTo('Acme Ltd', 6), 'Acme…')
  t.same(piecesOf('👨‍👩‍👧👨‍👩‍👧a', 2), ['👨‍👩‍👧', '👨‍👩‍👧', 'a'])
  t.same(piecesOf('日本', 1), ['日', '本'])
  t.same(piecesOf('', 1), [''])
})

t.test('invisible and control characters become visible', async (t) => {
  t.equal(printable('a\nb', 'lines'), 'a\nb')
  t.equal(printable('a\nb'), String.raw`a\u000ab`)
  t.equal(printable('a\u00adb\ufeffc\u{e0041}'), String.raw`a\u00adb\ufeffc\u{e0041}`, 'what nobody would see')
  for (const joined of ['\u0915\u094d\u200d\u0937', '\u0645\u06cc\u200c\u0634', '\u{1f468}\u200d\u{1f469}'])
    t.equal(printable(joined), joined)
})
