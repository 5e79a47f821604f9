import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Parser } from 'tap-parser'
import type { Failure } from '../../cli/scenario/failure.ts'
import { curlOf, maskedBody, maskedDifference, replyOf } from '../../cli/scenario/masked.ts'
import { quoted } from '../../cli/base/command-hints.ts'
import type { CaseResult } from '../../cli/scenario/play/play.ts'
import { openReporters } from '../../cli/scenario/reporters/open.ts'
import { reported } from '../../cli/scenario/reporters/reported.ts'
import type { Reporter, Summary } from '../../cli/scenario/reporters/reporter.ts'
import { makeIo, runCli } from '../cli/harness.ts'
import { PAY, casesOf, scenarioOf } from './read.ts'
import { assertWellFormed } from './well-formed.ts'

const NASTY = 'a # "case" <with> & \\ all\nof it \u0007 ]]>'

/** Starts another sequence for the terminal: JSON leaves it as it is. */
const SEQUENCE = '\u009b31m'

const MADE = {
  merchantId: 'c3b2a190-0000-4000-8000-000000000001',
  payments: [{ name: 'p1', paymentId: 'c3b2a190-0000-4000-8000-000000000002' }],
  events: [{ eventId: 'evt_1', eventType: 'payment.settled' }],
}

const FAILURE: Failure = {
  message: `it went wrong: ${NASTY}`,
  hint: 'do it right; svc status tells more',
  step: 1,
  label: '1',
  title: PAY,
  place: { file: 'x.yaml', line: 4, column: 5, length: 3 },
  excerpt: [`> 4 |   - pay: {} ${SEQUENCE}`, '    |     ^^^'],
  differences: [{ path: 'status', expected: '"Settled"', actual: '"Failed"' }],
  payments: [],
  webhooks: [],
  came: { what: 'the payload of payment.settled', value: { eventType: 'payment.settled', token: 'S3CRET' } },
  exchange: { method: 'GET', url: 'http://127.0.0.1/x', headers: {}, body: null, status: 200, reply: '{"a":1}' },
  rerun: 'svc run x.yaml --only 1',
}

function resultsOf(): CaseResult[] {
  const [scenario] = casesOf(scenarioOf([PAY, 'clock: { advance: 1h }']))
  if (scenario === undefined) throw new Error('no case')
  const steps = scenario.steps.map(({ number, label, title }) => ({
    number,
    label,
    title,
    durationMs: 5,
    status: 'passed' as const,
  }))
  const failed = steps.map((step, index) => ({
    ...step,
    status: index === 0 ? ('failed' as const) : ('skipped' as const),
  }))
  return [
    { scenario, durationMs: 12, steps, failure: undefined, made: MADE },
    { scenario: { ...scenario, name: NASTY }, durationMs: 12, steps: failed, failure: FAILURE, made: MADE },
    {
      scenario: { ...scenario, name: 'no merchant' },
      durationMs: 12,
      steps: steps.map((step) => ({ ...step, status: 'skipped' })),
      failure: { ...FAILURE, step: 0 },
      made: { merchantId: '', payments: [], events: [] },
    },
  ]
}

const SUMMARY: Summary = {
  passed: 1,
  failed: 2,
  skipped: 0,
  notPlayed: 0,
  durationMs: 36,
  unplayed: [],
  stopped: undefined,
}

function report(words: readonly string[], cwd = '/nowhere', summary = SUMMARY, calledAs = 'svc'): string {
  const { io, stdout } = makeIo({ cwd, calledAs })
  const reporter = openReporters(words, { io, paint: (_style, text) => text })
  reporter.begin(resultsOf().length)
  for (const [index, result] of resultsOf().entries()) reporter.reportCase(result, index + 1)
  reporter.end(summary)
  return stdout.join('')
}

t.test('TAP parses, with a subtest for each case and diagnostics where it failed', async (t) => {
  const text = report(['tap'])
  t.match(text, /^TAP version 14\n1\.\.3\n/)
  const names: string[] = []
  const diagnostics: unknown[] = []
  const results = await new Promise<{ count: number; fail: number; plan: { end: number | null } }>((resolve) => {
    const parser = new Parser({ strict: true }, resolve)
    parser.on(
      'child',
      (child: Parser) =>
        void child.on('assert', (point) => void (names.push(point.name), point.diag && diagnostics.push(point.diag))),
    )
    parser.end(text)
  })
  t.match(results, {
    count: 3,
    fail: 2,
    failures: [{ name: NASTY.replace(/\n/g, ' ').replace('\u0007', '\\u0007') }, {}],
  })
  t.equal(names.length, 6, 'a test point for each step')
  t.notOk(text.includes('\u0007') || text.includes('\u009b'), 'nothing drives the terminal')
  t.match(diagnostics, [
    {
      message: FAILURE.message,
      at: { fileName: 'x.yaml', lineNumber: 4 },
      differences: FAILURE.differences,
      again: FAILURE.rerun,
    },
  ])
})

t.test('a run that was cut short says why, in every form', async (t) => {
  const unplayed = resultsOf().map(({ scenario }) => ({ ...scenario, file: 'y.yaml' }))
  const stopped = { reason: `the service is away ${SEQUENCE}`, isError: true }
  const summary = { ...SUMMARY, notPlayed: 3, unplayed, stopped }
  t.match(report(['tap'], '/nowhere', summary), /^Bail out! the service is away \\u009b31m$/m)
  t.match(JSON.parse(report(['json'], '/nowhere', summary)), { not_played: 3, stopped: stopped.reason })
  const dir = t.testdir({})
  report(['junit=a.xml'], dir, summary)
  const xml = readFileSync(join(dir, 'a.xml'), 'utf8')
  t.doesNotThrow(() => assertWellFormed(xml))
  t.match(xml, /<testsuites name="svc run" tests="7" failures="2" errors="1" skipped="3"/)
  t.match(xml, /<testsuite name="y\.yaml" tests="3" failures="0" errors="0" skipped="3"/)
  t.equal(xml.match(/<skipped message="not played: the service is away/g)?.length, 3)
  t.equal(xml.match(/<error message="the service is away/g)?.length, 1)
  report(['junit=a.xml'], dir, { ...summary, stopped: { reason: 'a case failed', isError: false } })
  t.notMatch(readFileSync(join(dir, 'a.xml'), 'utf8'), /<error/, '--bail is no error of its own')
})

t.test('a report ends with the reason, however the run ended', async (t) => {
  const cases = resultsOf().map(({ scenario }) => scenario)
  type Report = (result: CaseResult) => void
  async function summaryOf(signal: AbortSignal, play: (report: Report) => Promise<void>): Promise<Summary[]> {
    const ends: Summary[] = []
    const reporter = {
      begin: () => undefined,
      reportCase: () => undefined,
      end: (summary: Summary) => void ends.push(summary),
    }
    await reported(reporter, { cases, signal }, play).catch(() => undefined)
    return ends
  }
  const { signal } = new AbortController()
  const playing = (count: number) => async (report: Report) => resultsOf().slice(0, count).forEach(report)
  t.match(await summaryOf(signal, playing(2)), [
    {
      passed: 1,
      failed: 1,
      notPlayed: 1,
      unplayed: [{ name: 'no merchant' }],
      stopped: { reason: /--bail/, isError: false },
    },
  ])
  t.match(await summaryOf(signal, () => Promise.reject(new Error('no service'))), [
    { notPlayed: 3, unplayed: { length: 3 }, stopped: { reason: 'no service', isError: true } },
  ])
  t.match(await summaryOf(AbortSignal.abort('SIGINT'), playing(2)), [
    { stopped: { reason: 'the run was interrupted', isError: true } },
  ])
  t.match(await summaryOf(signal, playing(3)), [{ stopped: undefined, unplayed: [] }])
})

t.test('a report file is opened before the run, and its path is printed where that fails', async (t) => {
  const dir = t.testdir({ file: 'x', old: {} })
  const io = makeIo({ cwd: dir }).io
  const open = (...words: string[]): Reporter => openReporters(words, { io, paint: (_style, text) => text })
  for (const path of ['/proc/x/out.xml', 'file/out.xml', 'old'])
    t.throws(() => open(`junit=${path}`), { code: 'USAGE', message: new RegExp(`can't write .*${path}`) }, path)
  open('junit=a/b/out.xml')
  t.ok(existsSync(join(dir, 'a', 'b', 'out.xml')))
  t.throws(() => open('junit=out', 'tap=./out'), { code: 'USAGE', message: /two of them would write .*out/ })
  symlinkSync(join(dir, 'out'), join(dir, 'link'))
  t.throws(() => open('junit=out', 'tap=link'), { code: 'USAGE' }, 'also by another name')
})

t.test('reports in files leave the people theirs', async (t) => {
  const dir = t.testdir({ 'x.yaml': scenarioOf([PAY]) })
  const words = ['sandbox', 'run', 'x.yaml', '--api-url', 'http://127.0.0.1:1', '--reporter', 'junit=out.xml']
  t.match(await runCli(words, { cwd: dir }), { code: 8, stdout: /0 passed, 1 not played/ })
  t.match(readFileSync(join(dir, 'out.xml'), 'utf8'), /tests="2" failures="0" errors="1" skipped="1"/)
  t.match(JSON.parse((await runCli([...words, '-o', 'json'], { cwd: dir })).stdout), { not_played: 1 })
  const both = await runCli([...words, '--reporter', 'tap'], { cwd: dir })
  t.match(both.stdout, /^TAP version 14\n1\.\.1\nBail out! .*can't be reached/)
  t.match(await runCli(['sandbox', 'run', 'x.yaml', '--reporter', 'junit=none.xml'], { cwd: dir }), { code: 8 })
  t.match(readFileSync(join(dir, 'none.xml'), 'utf8'), /<error message="no service is running/)
  t.match(await runCli(words.with(-1, 'junit=x.yaml/out.xml'), { cwd: dir }), { code: 2, stderr: /x\.yaml\/out\.xml/ })
})

t.test('commands are printed as the user has to type them', async (t) => {
  for (const form of ['pretty', 'tap', 'json'])
    t.match(report([form], '/nowhere', SUMMARY, 'npx svc'), /do it right; npx svc status tells more/, form)
})

t.test('a difference of something secret is masked in every form', async (t) => {
  const shown = { expected: '"zzz"', actual: '"http://bank/?state=S3CRET"' }
  for (const path of ['redirect_url', 'data.signatures[0]', 'data[1].state', 'secret.inner', 'X-Service-Signature'])
    t.same(maskedDifference({ path, ...shown }), { path, expected: '***', actual: '***' }, path)
  t.same(maskedDifference({ path: 'status', expected: '"a"', actual: '"b"' }), {
    path: 'status',
    expected: '"a"',
    actual: '"b"',
  })
  t.same(maskedDifference({ path: 'links[0]', ...shown }).actual, '"http://bank/?state=***"', 'a link leads nowhere')
  t.match(maskedDifference({ path: 'state', expected: '"a"', actual: 'nothing' }), { actual: 'nothing' })
  const before = FAILURE.differences
  t.teardown(() => (FAILURE.differences = before))
  FAILURE.differences = [{ path: 'redirect_url', ...shown }]
  for (const form of ['pretty', 'tap', 'json']) t.notMatch(report([form]), /S3CRET/, form)
})

t.test('JUnit is well-formed whatever stands in names and messages', async (t) => {
  const dir = t.testdir({})
  report(['pretty', 'junit=out/junit.xml'], dir)
  const xml = readFileSync(join(dir, 'out', 'junit.xml'), 'utf8')
  t.doesNotThrow(() => assertWellFormed(xml))
  t.match(xml, /<testsuites name="svc run" tests="3" failures="2"/)
  t.equal(xml.match(/<testcase /g)?.length, 3)
  t.match(
    xml,
    /<failure message="it went wrong: a # &quot;case&quot; &lt;with&gt; &amp; \\ all&#10;of it \ufffd \]\]&gt;"/,
  )
})

t.test('the judge of well-formedness knows what is not', async (t) => {
  for (const xml of ['<a>', '<a></b>', '<a b="<"/>', '<a>&</a>', '<a>\u0007</a>', '<a/><b/>', '<a b=c/>'])
    t.throws(() => assertWellFormed(xml), xml)
})

t.test('people get the place, the difference, the history and how to run it again', async (t) => {
  const text = report(['pretty'])
  t.match(text, /✓ a case \(12 ms\)/)
  t.match(text, /x\.yaml:4:5 step 1: it went wrong/)
  t.match(text, /status: expected "Settled"\n +but is "Failed"/)
  t.match(text, /Again: svc run x\.yaml --only 1/)
  t.match(text, /2 failed, 1 passed in 36 ms \(83\.3 cases a second\)/)
  t.notOk(text.includes('\u0007'), 'nothing drives the terminal')
})

t.test('JSON is one object', async (t) => {
  t.match(JSON.parse(report(['json'])), {
    passed: 1,
    failed: 2,
    cases: [{ passed: true }, { failure: { line: 4, column: 5, again: FAILURE.rerun } }, { failure: { step: 0 } }],
  })
})

t.test('what came in place of what was expected is shown in every form, and nothing secret of it', async (t) => {
  t.match(report(['pretty']), /What came: the payload of payment\.settled\n +\{\n +"eventType": "payment\.settled",\n/)
  t.match(report(['tap']), /came:\n +eventType: payment\.settled\n/)
  t.match(report(['junit']), /What came: the payload of payment\.settled\n/)
  t.match(JSON.parse(report(['json'])).cases[1], {
    failure: { came: { what: FAILURE.came?.what, value: { eventType: 'payment.settled' } } },
  })
  for (const form of ['pretty', 'tap', 'junit', 'json']) t.notMatch(report([form]), /S3CRET/, form)
})

t.test('an unknown reporter, and two for one output, are refused', async (t) => {
  for (const words of [['xml'], ['junit='], ['toString'], ['tap', 'pretty']])
    t.throws(() => report(words), { code: 'USAGE' }, words.join(' '))
})

t.test('the request can be pasted, and nothing secret is in it', async (t) => {
  const headers = { accept: 'application/json', authorization: 'Bearer abc', 'x-merchant-client-id': 'shop' }
  const exchange = {
    method: 'POST',
    url: 'http://127.0.0.1/api?a=1&b',
    headers,
    body: JSON.stringify({ state: 'S3CRET', code: 'S3CRET', note: "it's" }),
    status: 200,
    reply: JSON.stringify({
      code: 'STATE_MISMATCH',
      redirect_url: 'http://bank/?request=S3CRET',
      webhook_signing_secret: 'S3CRET',
      nested: [{ secret: 'S3CRET' }],
    }),
  }
  t.equal(
    curlOf(exchange),
    'curl -g -X POST \'http://127.0.0.1/api?a=1&b\' -H \'authorization: ***\' -H \'x-merchant-client-id: shop\' --data-raw \'{"state":"***","code":"***","note":"it\'\\\'\'s"}\'',
  )
  t.notMatch(replyOf(exchange), /S3CRET/)
  t.match(replyOf(exchange), /STATE_MISMATCH/, "an error's code is no secret")
  const mail = {
    ...exchange,
    reply: JSON.stringify({ body: 'Hello,\nhttp://x/hub#token=S3CRET\nBye', links: ['http://x/hub#token=S3CRET'] }),
  }
  t.equal(
    replyOf(mail),
    String.raw`200 {"body":"Hello,\nhttp://x/hub#token=***\nBye","links":["http://x/hub#token=***"]}`,
  )
  t.notMatch(curlOf({ ...exchange, url: 'http://x/return?payment=1&state=S3CRET&code=S3CRET' }), /S3CRET/)
  const read = { ...exchange, method: 'GET', url: 'http://x/[1]', headers: {} }
  t.equal(curlOf({ ...read, body: '@/etc/passwd' }), "curl -g -X GET 'http://x/[1]' --data-raw @/etc/passwd")
  t.equal(curlOf({ ...read, body: null }), "curl -g 'http://x/[1]'")
  t.equal(maskedBody('no json', false), 'no json')
  t.equal(quoted('a b'), "'a b'")
  t.equal(replyOf({ ...exchange, status: undefined }), 'no answer')
})
