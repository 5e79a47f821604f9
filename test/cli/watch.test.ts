import t from 'tap'
import type { Test } from 'tap'
import { newsOf } from '../../cli/kit/watch/shots.ts'
import { fakeService, makeIo, paymentOf, refusal, runCli, summaryOf } from './harness.ts'
import type { Answer } from './harness.ts'
import { run } from '../../cli/entry/run.ts'
import { openSvc } from './in-terminal.ts'
import { until } from '../support/until.ts'

const SECOND = '01a1fd03-f879-7eb7-872f-a2b4358c4f6e'

function page(...data: unknown[]): Answer {
  return { json: { data, has_more: false, next_cursor: null } }
}

/** A list that is another one each time, and the last one from then on. */
async function changing(t: Test, ...answers: Answer[]) {
  let looks = 0
  const service = await fakeService(t, () => answers[Math.min((looks += 1), answers.length) - 1] ?? page())
  return {
    ...service,
    words: ['payments', 'list', '--api-url', service.url, '--client-id', 'demo', '--watch', '250ms'],
  }
}

/** Watches in this process until the output is as it should be, and then interrupts it as Ctrl+C does. */
async function watched(words: readonly string[], isSeen: (out: string, errors: string) => boolean) {
  const { io, stdout, stderr } = makeIo({})
  // The test has handlers of its own while the command runs: a signal must not end it.
  const ended = run(words, io)
  await until('what is watched', () => isSeen(stdout.join(''), stderr.join('')))
  process.emit('SIGINT', 'SIGINT')
  return { code: await ended, stdout: stdout.join(''), stderr: stderr.join('') }
}

t.test('as JSON lines, each row that is new or has changed is a line, and Ctrl+C is exit code 130', async (t) => {
  const before = summaryOf('Initiated')
  const { words } = await changing(
    t,
    page(before),
    page(before),
    page(summaryOf('Settled')),
    page(summaryOf('Failed', { payment_id: SECOND }), summaryOf('Settled')),
  )
  const { code, stdout } = await watched([...words, '-o', 'jsonl', '--json=status'], (out) => out.includes('Failed'))
  t.equal(code, 130)
  t.same(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).status),
    ['Initiated', 'Settled', 'Failed'],
  )
})

t.test('without a terminal a table is printed once, and then what is new or has changed', async (t) => {
  const { words } = await changing(t, page(summaryOf('Initiated')), page(summaryOf('Settled')))
  const { stdout, stderr } = await watched(words, (out) => out.includes('Settled'))
  t.match(stdout, /^ID +STATUS[^\n]*\n[^\n]*Initiated[^\n]*\n[^\n]*Settled[^\n]*\n$/)
  t.notOk(stdout.includes('\u001b'))
  t.equal(stderr, '')
})

t.test('a record is watched like a list; an id behind --watch is no interval', async (t) => {
  let looks = 0
  const { url } = await fakeService(t, () => ({ json: paymentOf((looks += 1) > 1 ? 'Settled' : 'Initiated') }))
  const id = '01a1fd03-f879-7eb7-872f-a2b4358c4f6d'
  const words = ['payments', 'get', '--watch', id, '--api-url', url, '--client-id', 'demo']
  const { code, stdout } = await watched(words, (out) => out.includes('Settled'))
  t.equal(code, 130)
  t.match(stdout, /Status +Initiated[^]*Status +Settled/)
  t.equal(stdout.match(/Amount|Gross/g)?.length, 1, 'what has not changed is not said again')
})

t.test('a service that goes away is waited for', async (t) => {
  const away = refusal(503, 'DATABASE_UNAVAILABLE')
  const { words } = await changing(t, page(summaryOf('Initiated')), away, away, page(summaryOf('Settled')))
  const { code, stderr, stdout } = await watched(words, (out) => out.includes('Settled'))
  t.equal(code, 130)
  t.match(stderr, /^[^\n]*; waiting for it\nThe service is back\.\n$/)
  t.match(stdout, /Initiated[^]*Settled/)
})

t.test('what can never be watched is refused at once', async (t) => {
  const { url, requests } = await fakeService(t, () => page())
  const list = ['payments', 'list', '--api-url', url, '--client-id', 'demo', '--watch']
  for (const flags of [['-o', 'csv'], ['-o', 'yaml'], ['-o', 'id'], ['--json'], ['-q', '[].status']]) {
    const { code, stderr, stdout } = await runCli([...list, ...flags])
    t.match({ code, stdout, stderr }, { code: 2, stdout: '', stderr: /--watch -o jsonl/ }, flags.join(' '))
  }
  t.match(await runCli([...list, '10ms']), { code: 2, stderr: /too often/ })
  t.match(await runCli(['payments', 'list', '--watch=often']), {
    code: 2,
    stderr: /--watch: "often" is not a valid duration/,
  })
  t.equal(requests.length, 0)
  const gone = await fakeService(t, () => refusal(403, 'FORBIDDEN'))
  t.match(await runCli(['payments', 'list', '--api-url', gone.url, '--client-id', 'demo', '--watch']), { code: 5 })
})

t.test('on a terminal the table is drawn anew in its place, and what is new or has changed is marked', async (t) => {
  const { words } = await changing(
    t,
    page(summaryOf('Initiated')),
    page(summaryOf('Failed', { payment_id: SECOND }), summaryOf('Settled')),
  )
  const terminal = openSvc(t, words, { columns: 90, rows: 12, env: { NO_COLOR: '1' } })
  await terminal.until(/Every 250ms: svc payments list --api-url \S+ .*\d\d:\d\d:\d\d/)
  await terminal.until(/^\+ \S*4f6e +Failed[^\n]*\n~ \S*4f6d +Settled/m)
  await terminal.until(/^ {2}\S*4f6e +Failed[^\n]*\n {2}\S*4f6d +Settled/m)
  t.equal(terminal.text().match(/STATUS/g)?.length, 1)
  t.notMatch(terminal.text(), /Initiated/)
  terminal.resize(60, 8)
  await terminal.until((text) => /^Every 250ms: .{38}…  \d\d:\d\d:\d\d$/m.test(text) || /^Every .{45,55}$/m.test(text))
  terminal.press('ctrl-c')
  const { code, isCooked, isCursorShown } = await terminal.ended()
  t.match({ code, isCooked, isCursorShown }, { code: 130, isCooked: true, isCursorShown: true })
  t.match(terminal.raw().split('Every').at(-1), /Settled[^]*\[ended 130\]/, 'the last look stays')
})

t.test('a list that is longer than the terminal never scrolls it', async (t) => {
  const rows = Array.from({ length: 40 }, (_, index) =>
    summaryOf('Settled', { payment_id: `01a1fd03-f879-7eb7-872f-${String(index).padStart(12, '0')}` }),
  )
  const { words, requests } = await changing(t, page(...rows))
  const terminal = openSvc(t, words, { columns: 80, rows: 12 })
  await until('four looks', () => requests.length > 3)
  t.match(await terminal.until(/more lines/), /^Every 250ms[^]*STATUS[^]*… and \d+ more lines/)
  t.equal(terminal.raw().split('… and').length > 2 && terminal.text().match(/Every/g)?.length, 1)
  terminal.press('ctrl-c')
  t.equal((await terminal.ended()).code, 130)
})

t.test('nothing is news at the first look', async (t) => {
  const row = (key: string, state: string) => ({ key, state, lines: [] })
  const shot = (...rows: ReturnType<typeof row>[]) => ({ header: [], rows, empty: '', printItems: () => undefined })
  t.same(newsOf(undefined, [shot(row('a', '1'))]), [new Map()])
  t.same(newsOf([shot(row('a', '1'), row('b', '1'))], [shot(row('c', '1'), row('a', '2'), row('b', '1'))]), [
    new Map([
      ['c', 'new'],
      ['a', 'changed'],
    ]),
  ])
})
