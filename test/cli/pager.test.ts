import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { visualLines } from '../../cli/base/width.ts'
import { SCRATCH } from '../support/scratch.ts'
import { fakeService, summaryOf } from './harness.ts'
import { openSvc } from './in-terminal.ts'

const ROWS = 12

/** The words of a list of a page of so many payments, of a service of the test's own. */
async function listOf(t: Test, count: number): Promise<string[]> {
  const data = Array.from({ length: count }, (_, index) =>
    summaryOf('Settled', { payment_id: `01a1fd03-f879-7eb7-872f-${String(index).padStart(12, '0')}` }),
  )
  const { url } = await fakeService(t, () => ({ json: { data, has_more: true, next_cursor: 'c2' } }))
  return ['payments', 'list', '--limit', String(count), '--api-url', url]
}

/** A pager that says in a file what it was given, and in the terminal that it was there. */
function pagerInto(file: string, end = 'exit 0'): string {
  return `cat > ${file}; echo paged; ${end}`
}

const HAS_LESS = ['/usr/bin/less', '/bin/less', '/usr/local/bin/less'].some((file) => existsSync(file))

t.test('a table longer than the terminal is shown by less, and q is a good end', { skip: !HAS_LESS }, async (t) => {
  const terminal = openSvc(t, await listOf(t, 60), { rows: ROWS })
  await terminal.until(/ID +STATUS[^]*\n:$/m)
  t.notMatch(terminal.text(), /There are more/, 'remarks come after it')
  // Ctrl+C is the pager's, which goes on.
  terminal.press('ctrl-c')
  await delay(300)
  terminal.press('space')
  await terminal.until(/000000000015/)
  terminal.press('q')
  const { code, isCooked, isPlain } = await terminal.ended()
  t.match({ code, isCooked, isPlain }, { code: 0, isCooked: true, isPlain: true })
  t.match(terminal.raw(), /There are more: --cursor c2/)
})

t.test('the user has a pager of their own, with words; SVC_PAGER goes before PAGER', async (t) => {
  const file = join(mkdtempSync(join(SCRATCH, 'svc-pager-')), 'paged.txt')
  const env = { SVC_PAGER: pagerInto(file), PAGER: 'false' }
  const { code } = await openSvc(t, await listOf(t, 60), { rows: ROWS, env }).ended()
  t.equal(code, 0)
  const text = readFileSync(file, 'utf8')
  t.equal(text.split('\n').length, 62)
  t.ok(text.includes('\u001b['), 'with its colours')
})

t.test('a pager that is missing or fails loses no line', async (t) => {
  const words = await listOf(t, 30)
  for (const SVC_PAGER of ['no-such-pager', 'exit 3']) {
    const terminal = openSvc(t, words, { rows: ROWS, env: { SVC_PAGER } })
    const { code } = await terminal.ended()
    t.equal(code, 0, SVC_PAGER)
    t.match(terminal.raw(), /000000000000[^]*000000000029/, SVC_PAGER)
  }
})

t.test('help that does not fit goes through the pager too', async (t) => {
  const file = join(mkdtempSync(join(SCRATCH, 'svc-pager-')), 'paged.txt')
  const terminal = openSvc(t, ['payments', 'create', '--help'], { rows: ROWS, env: { PAGER: pagerInto(file) } })
  t.equal((await terminal.ended()).code, 0)
  t.match(readFileSync(file, 'utf8'), /Usage:\S* svc payments create[^]*Global options/)
})

t.test('svc alone, where no service is: the help, and below it what opens the console', async (t) => {
  const file = join(mkdtempSync(join(SCRATCH, 'svc-pager-')), 'paged.txt')
  const env = { PAGER: pagerInto(file), SVC_CLIENT_ID: '', SVC_STATE_DIR: join(file, '..', 'none') }
  const terminal = openSvc(t, [], { rows: ROWS, env })
  t.equal((await terminal.ended()).code, 0)
  t.match(readFileSync(file, 'utf8'), /Usage:\S* svc [^]*svc help all/)
  t.match(
    terminal.raw(),
    /paged[^]*The console opens here once there is a service: svc up\s+\[ended 0\]/,
    'after the pager',
  )
})

t.test('svc alone in a pipe prints the help, whose pager has the keyboard to itself', async (t) => {
  for (const [SVC_NO_INPUT, less] of [
    ['1', HAS_LESS],
    ['yes', false],
  ] as const) {
    const env = { SVC_NO_INPUT, SVC_CLIENT_ID: '', ...(less ? { PAGER: 'less' } : { PAGER: 'cat' }) }
    const terminal = openSvc(t, [], { rows: ROWS, env })
    if (less) {
      await terminal.until(/Usage:[^]*\n:$/m)
      terminal.press('space')
      await terminal.until((text) => !text.includes('Usage:') && text.trimEnd().endsWith('\n:'))
      terminal.press('q')
    }
    const { code, isCooked, isPlain } = await terminal.ended()
    t.match({ code, isCooked, isPlain }, { code: 0, isCooked: true, isPlain: true }, SVC_NO_INPUT)
    t.match(terminal.raw(), /Usage:/)
    t.notMatch(terminal.raw(), /The console opens here/)
  }
})

t.test('one thing is never paged: what many of these say is their exit code', async (t) => {
  const file = join(mkdtempSync(join(SCRATCH, 'svc-pager-')), 'paged.txt')
  // Of a service that is named, the machine's port is not looked at.
  const env = { PAGER: pagerInto(file), SVC_API_URL: 'http://127.0.0.1:1' }
  const terminal = openSvc(t, ['doctor', '--only', 'machine'], { rows: 4, env })
  t.equal((await terminal.ended()).code, 0)
  t.match(terminal.raw(), /Healthy\b.*\byes/)
  t.notOk(existsSync(file))
})

t.test('what fits, what is for programs, and SVC_PAGER= have no pager', async (t) => {
  const file = join(mkdtempSync(join(SCRATCH, 'svc-pager-')), 'paged.txt')
  const env = { PAGER: pagerInto(file) }
  const long = await listOf(t, 30)
  for (const [words, more] of [
    [await listOf(t, 5), {}],
    [[...long, '-o', 'jsonl'], {}],
    [[...long, '-q', '[].status'], {}],
    [[...long, '--no-pager'], {}],
    [long, { CI: '1' }],
    [long, { TERM: 'dumb' }],
    [long, { SVC_PAGER: '' }],
  ] as const) {
    const terminal = openSvc(t, words, { rows: ROWS, env: { ...env, ...more } })
    t.equal((await terminal.ended()).code, 0)
    t.notMatch(terminal.raw(), /^paged/m, `${words.slice(6).join(' ')} ${JSON.stringify(more)}`)
  }
  t.notOk(existsSync(file))
})

t.test('lines that go on below themselves count as often as they are seen', async (t) => {
  t.equal(visualLines('a\nb\n', 10), 2)
  t.equal(visualLines(`${'x'.repeat(21)}\n`, 10), 3)
  t.equal(visualLines(`\u001b[31m${'x'.repeat(10)}\u001b[39m\n`, 10), 1)
})
