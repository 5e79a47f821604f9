import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Parser } from 'tap-parser'
import type { Failure } from '../../cli/scenario/failure.ts'
import { curlOf, maskedBody, quoted, replyOf } from '../../cli/scenario/masked.ts'
import type { CaseResult } from '../../cli/scenario/play.ts'
import { openReporters } from '../../cli/scenario/reporters/open.ts'
import type { Summary } from '../../cli/scenario/reporters/reporter.ts'
import { makeIo } from '../cli/harness.ts'
import { PAY, casesOf, scenarioOf } from './read.ts'
import { assertWellFormed } from './well-formed.ts'

const NASTY = 'a # "case" <with> & \\ all\nof it \u0007 ]]>'

const FAILURE: Failure = {
  message: `it went wrong: ${NASTY}`,
  hint: 'do it right',
  step: 1,
  title: PAY,
  place: { file: 'x.yaml', line: 4, column: 5, length: 3 },
  excerpt: ['> 4 |   - pay: {}', '    |     ^^^'],
  differences: [{ path: 'status', expected: '"Settled"', actual: '"Failed"' }],
  payments: [],
  webhooks: [],
  exchange: { method: 'GET', url: 'http://127.0.0.1/x', headers: {}, body: null, status: 200, reply: '{"a":1}' },
  rerun: 'svc sandbox run x.yaml --only 1',
}

function resultsOf(): CaseResult[] {
  const [scenario] = casesOf(scenarioOf([PAY, 'clock: { advance: 1h }']))
  if (scenario === undefined) throw new Error('no case')
  const steps = scenario.steps.map(({ number, title }) => ({ number, title, durationMs: 5, status: 'passed' as const }))
  const failed = steps.map((step, index) => ({
    ...step,
    status: index === 0 ? ('failed' as const) : ('skipped' as const),
  }))
  return [
    { scenario, durationMs: 12, steps, failure: undefined },
    { scenario: { ...scenario, name: NASTY }, durationMs: 12, steps: failed, failure: FAILURE },
    {
      scenario: { ...scenario, name: 'no merchant' },
      durationMs: 12,
      steps: steps.map((step) => ({ ...step, status: 'skipped' })),
      failure: { ...FAILURE, step: 0 },
    },
  ]
}

const SUMMARY: Summary = { passed: 1, failed: 2, notPlayed: 0, durationMs: 36 }

function report(words: readonly string[], cwd = '/nowhere', summary = SUMMARY): string {
  const { io, stdout } = makeIo({ cwd })
  const reporter = openReporters(words, { io, paint: (_style, text) => text })
  reporter.begin(resultsOf().length)
  for (const [index, result] of resultsOf().entries()) reporter.tellCase(result, index + 1)
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
  t.match(results, { count: 3, fail: 2, failures: [{ name: NASTY.replace(/\n/g, ' ') }, {}] })
  t.equal(names.length, 6, 'a test point for each step')
  t.match(diagnostics, [
    {
      message: FAILURE.message,
      at: { fileName: 'x.yaml', lineNumber: 4 },
      differences: FAILURE.differences,
      again: FAILURE.rerun,
    },
  ])
})

t.test('a run that was cut short bails out', async (t) => {
  t.match(report(['tap'], '/nowhere', { ...SUMMARY, notPlayed: 4 }), /^Bail out! /m)
})

t.test('JUnit is well-formed whatever stands in names and messages', async (t) => {
  const dir = t.testdir({})
  report(['pretty', 'junit=out/junit.xml'], dir)
  const xml = readFileSync(join(dir, 'out', 'junit.xml'), 'utf8')
  t.doesNotThrow(() => assertWellFormed(xml))
  t.match(xml, /<testsuites name="svc sandbox run" tests="3" failures="2"/)
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
  t.match(text, /Again: svc sandbox run x\.yaml --only 1/)
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
    'curl -X POST \'http://127.0.0.1/api?a=1&b\' -H \'authorization: ***\' -H \'x-merchant-client-id: shop\' -d \'{"state":"***","code":"***","note":"it\'\\\'\'s"}\'',
  )
  t.notMatch(replyOf(exchange), /S3CRET/)
  t.match(replyOf(exchange), /STATE_MISMATCH/, "an error's code is no secret")
  t.equal(maskedBody('no json', false), 'no json')
  t.equal(quoted('a b'), "'a b'")
  t.equal(replyOf({ ...exchange, status: undefined }), 'no answer')
})
