import { createServer } from 'node:http'
import t from 'tap'
import { bytesOf, deliver, eventOf } from '../../cli/receivers/exam/kit.ts'
import { CHECKS, checksOf, judge, takeExam } from '../../cli/receivers/exam/take.ts'
import type { Report } from '../../cli/receivers/exam/take.ts'
import { freePort } from '../support/free-port.ts'
import { makeIds } from '../../src/lib/ids.ts'
import { envelope } from '../../src/webhooks/enqueue.ts'
import { EventType } from '../../src/wire/webhook-events.ts'
import { SECRET, WRONG, hmac, startReceivers } from '../support/wrong-receivers.ts'
import { runCli } from './harness.ts'

const urlOf = await startReceivers(t)

async function examine(name: string, { only = [], limitMs = 60_000 }: { only?: string[]; limitMs?: number } = {}) {
  const options = { secret: SECRET, headers: [], skipVerify: false, limitMs }
  return takeExam({ ...options, url: urlOf(name), checks: checksOf(only) })
}

const idsOf = ({ checks }: Report, verdict: string): string[] =>
  checks.filter((check) => check.verdict === verdict).map(({ id }) => id)

t.test('a receiver that does everything right passes every check', async (t) => {
  const report = await examine('right')
  t.match(report, { passed: true, counts: { failed: 0, warning: 0, skipped: 0, passed: CHECKS.length } })
  t.ok(report.checks.every(({ advice }) => advice === null))
})

t.test('each way to be wrong is found, by the checks that it concerns and by no other', async (t) => {
  const names = Object.keys(WRONG)
  const reports = await Promise.all(names.map((name) => examine(name, WRONG[name])))
  for (const [index, name] of names.entries()) {
    const [report, { failed = [], warned = [], saw, advice } = {}] = [reports[index], WRONG[name]]
    if (report === undefined) return t.fail(name)
    t.strictSame(idsOf(report, 'failed'), failed, `${name}: failed`)
    t.strictSame(idsOf(report, 'warning'), warned, `${name}: warnings`)
    t.equal(report.passed, failed.length === 0, name)
    const told = report.checks.filter(({ verdict }) => verdict === 'failed' || verdict === 'warning')
    t.ok(
      told.every((check) => check.advice !== null),
      `${name}: with advice`,
    )
    if (saw !== undefined) t.match(told[0]?.saw, saw, name)
    if (advice !== undefined) t.match(told[0]?.advice, advice, name)
    t.equal(idsOf(report, 'skipped').length > 0, failed.includes('good'), `${name}: what can't be told is skipped`)
    t.notMatch(JSON.stringify(report), SECRET)
  }
  const found = new Set(Object.values(WRONG).flatMap(({ failed = [], warned = [] }) => [...failed, ...warned]))
  const unproven = CHECKS.map(({ id }) => id).filter((id) => !found.has(id))
  t.strictSame(unproven, ['answer-time', 'at-once'], 'and these two are judged by the time alone, below')
})

t.test('time: in half of the limit is good, later is a warning, after it is a failure', async (t) => {
  const answer = (durationMs: number) => ({ end: 'answered', status: 200, durationMs, reason: undefined }) as const
  const late = { end: 'late', status: null, durationMs: 5_000, reason: 'no answer within 5 s' } as const
  const judged = (
    check: (typeof CHECKS)[number] | undefined,
    answers: readonly (typeof late | ReturnType<typeof answer>)[],
  ) => {
    if (check === undefined) throw new Error('no such check')
    const labelled = answers.map((each, index) => ({ label: `number ${index + 1}`, answer: each }))
    return judge(check, labelled, 5_000)
  }
  for (const id of ['answer-time', 'at-once']) {
    const check = CHECKS.find((each) => each.id === id)
    t.match(judged(check, [answer(3), answer(2_500)]), { verdict: 'passed', saw: 'answered 200, in at most 2500 ms' })
    t.match(judged(check, [answer(3), answer(2_501)]), {
      verdict: 'warning',
      saw: 'number 2: answered 200 after 2501 ms',
    })
    t.match(judged(check, [answer(2_501), late]), { verdict: 'failed', saw: 'number 2: no answer within 5 s' })
  }
  const forgery = CHECKS.find(({ id }) => id === 'unsigned')
  t.match(judged(forgery, [late]), { verdict: 'failed' }, 'a forgery that nobody answers holds a connection')
  const silent = createServer(() => undefined)
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  t.teardown(() => silent.close())
  const address = silent.address()
  const port = typeof address === 'object' ? address?.port : 0
  const options = { secret: SECRET, headers: [], skipVerify: false, limitMs: 200, checks: checksOf(['good']) }
  const report = await takeExam({ ...options, url: new URL(`http://127.0.0.1:${port}/`) })
  t.match(report.checks, [{ id: 'good', verdict: 'failed', saw: /^no answer within/, advice: /^Answer first/ }])
  silent.closeAllConnections()
})

t.test('an event of the exam is, byte for byte, written as the service writes its own', async (t) => {
  const kit = { secret: SECRET, ids: makeIds() }
  for (const type of EventType.options) {
    const event = eventOf(kit, type)
    const { headers, body } = deliver(kit, event)
    t.equal(String(bytesOf(event)), envelope(event))
    t.strictSame(body, bytesOf(event))
    t.match(headers, {
      'content-type': 'application/json',
      'user-agent': 'svc-webhooks/1',
      'webhook-id': event.eventId,
    })
    t.equal(headers['X-Service-Signature'], hmac(envelope(event)))
    t.equal(event.data['test'], true)
  }
})

const env = { SVC_WEBHOOK_SECRET: SECRET }
const exam = (words: readonly string[], more: Parameters<typeof runCli>[1] = { env }) =>
  runCli(['webhooks', 'exam', ...words], more)

t.test('the command prints a line for each check, advice below what failed, and ends with 3', async (t) => {
  const right = await exam([urlOf('right').href, '--only', 'tampered,utf8'])
  t.match(right, {
    code: 0,
    stdout: /^good +ok: answered 200\nutf8 +ok: answered 200\ntampered +ok: answered 401\n\nPASSED: 3 of 3/,
  })
  const wrong = await exam([urlOf('checks nothing').href, '--only', 'tampered'])
  t.match(wrong, {
    code: 3,
    stdout: /tampered +FAILED: another amount: answered 200\n[^]*expected: 401[^]*whole body/,
  })
  t.match(wrong.stdout, /\nNOT PASSED: 1 of 2 checks passed, 1 failed\n$/)
  const warned = await exam([urlOf('throws at signatures of another length').href, '--only', 'unsigned'])
  t.match(warned, { code: 0, stdout: /unsigned +WARNING: [^]*\nPASSED: 1 of 2 .*, 1 warning\n$/ })
  const skipped = await exam([urlOf('is elsewhere').href, '--only', 'utf8,tampered'])
  t.match(skipped, { code: 3, stdout: /^good +FAILED: answered 404\n[^]*\n2 others +skipped/ })
  const json = await exam([urlOf('checks nothing').href, '--only', 'unsigned', '--json'])
  t.equal(json.code, 3)
  t.match(JSON.parse(json.stdout), {
    passed: false,
    counts: { failed: 1 },
    checks: [{ id: 'good' }, { id: 'unsigned', verdict: 'failed' }],
  })
  for (const { stdout, stderr } of [right, wrong, warned, skipped, json]) t.notMatch(stdout + stderr, SECRET)
})

t.test('the secret comes from standard input too, or from the running service', async (t) => {
  const words = [urlOf('right').href, '--only', 'good']
  t.match(await exam([...words, '--secret-stdin'], { stdin: `${SECRET}\nmore` }), { code: 0 })
  t.match(await exam([...words, '--secret-stdin'], { stdin: '\n', env }), { code: 2, stderr: /no secret/ })
  t.match(await exam(words, {}), { code: 2, stderr: /no signing secret is known here[^]*Try: SVC_WEBHOOK_SECRET/ })
  const state = {
    api_url: 'http://127.0.0.1:1',
    auth_url: null,
    demo_url: 'http://127.0.0.1:1',
    database_url: 'postgres://',
    state_dir: '/nowhere',
    pid: process.pid,
    merchant: { id: 'm', client_id: 'demo', webhook_secret: SECRET },
    operator: null,
    customer: null,
  }
  const cwd = t.testdir({ '.svc': { 'svc.json': JSON.stringify(state) } })
  t.match(await exam(words, { cwd }), { code: 0, stdout: /PASSED/ })
})

t.test('the list shows the checks and sends nothing; what is wrong on the line is exit code 2', async (t) => {
  const listed = JSON.parse((await exam(['--list', '--json'], {})).stdout)
  t.strictSame(
    listed.map(({ id }: { id: string }) => id),
    CHECKS.map(({ id }) => id),
  )
  t.equal(new Set(CHECKS.map(({ id }) => id)).size, CHECKS.length)
  t.match(await exam(['--list', '--only', 'late'], { tty: true, columns: 80 }), { code: 0, stdout: /late/ })
  t.match(await exam([]), { code: 2, stderr: /Its address is missing\nTry: svc webhooks exam localhost/ })
  t.match(await exam([urlOf('right').href, '--only', 'tamperd']), { code: 2, stderr: /is tampered meant/ })
  t.match(await exam(['ftp://shop.example']), { code: 2, stderr: /use an http or https URL\nTry: svc webhooks exam/ })
  t.match(await exam(['http://me:hush@shop.example']), { code: 2, stderr: /^(?![^]*hush)[^]*a name or a password/ })
  t.match(await exam([urlOf('right').href, '-H', 'X-Service-Signature: 1']), { code: 2, stderr: /event's own/ })
  const guarded = [urlOf('wants a key beside the signature').href, '--only', 'good,unsigned']
  t.match(await exam(guarded), { code: 3 })
  t.match(await exam([...guarded, '-H', 'X-Key: k1']), { code: 0 })
  const port = await freePort()
  t.match(await exam([`localhost:${port}/hook`]), { code: 8, stdout: '', stderr: /nothing listens there\nTry: start/ })
})
