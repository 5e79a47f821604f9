import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { request } from 'undici'
import { headerCredentials } from '../../cli/client/auth/credentials.ts'
import { makeClient } from '../../cli/client/call.ts'
import { playCase } from '../../cli/scenario/play/play.ts'
import type { CaseResult } from '../../cli/scenario/play/play.ts'
import { runCli } from '../cli/harness.ts'
import type { Outcome } from '../cli/harness.ts'
import { testService } from '../support/app.ts'
import { casesOf, scenarioOf } from './read.ts'

/** Without an identity provider a name is enough. */
const TESTER = headerCredentials({ clientId: undefined, platformUser: 'tester' })

const SERVICE = testService(t, { worker: true })

const PAY = 'pay: { as: p1, amount: "50.00", currency: GBP }'

type Limits = { timeoutMs?: number; requestTimeoutMs?: number; signal?: AbortSignal; more?: string; apiUrl?: string }

async function playSteps(t: Test, steps: readonly string[], limits: Limits = {}): Promise<CaseResult> {
  const apiUrl = limits.apiUrl ?? (await SERVICE).url
  const timeoutMs = limits.requestTimeoutMs ?? 15_000
  const client = makeClient({ apiUrl, credentials: TESTER, timeoutMs })
  t.teardown(() => client.close())
  const [scenario] = casesOf(scenarioOf(steps, limits.more))
  if (scenario === undefined) throw new Error('no case')
  const signal = limits.signal ?? new AbortController().signal
  return playCase(client, scenario, { timeoutMs: limits.timeoutMs ?? 30_000, signal, rerun: () => 'again' })
}

/** Plays a case whose time is over in its second step: with more of it where a busy machine has needed that before. */
async function endedInSecond(t: Test, steps: readonly string[], limits: Limits) {
  for (const timeoutMs of [1_500, 5_500]) {
    const result = await playSteps(t, steps, { ...limits, timeoutMs })
    if (result.failure?.step === 2) return { ...result, timeoutMs }
  }
  const timeoutMs = 15_500
  return { ...(await playSteps(t, steps, { ...limits, timeoutMs })), timeoutMs }
}

/** The service, but for `/api/v1/slow`, which is never answered; `asked` resolves when somebody waits for that. */
async function slowService(t: Test): Promise<{ apiUrl: string; asked: Promise<void> }> {
  const { url } = await SERVICE
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  async function pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (incoming.url === '/api/v1/slow') return resolve()
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk))
    const { host: _host, connection: _connection, 'content-length': _length, ...headers } = incoming.headers
    const method = incoming.method === 'PUT' ? 'PUT' : incoming.method === 'POST' ? 'POST' : 'GET'
    const body = chunks.length === 0 ? null : Buffer.concat(chunks)
    const answer = await request(`${url}${incoming.url}`, { method, headers, body })
    response.writeHead(answer.statusCode, { 'content-type': 'application/json' }).end(await answer.body.text())
  }
  const server = createServer((incoming, response) => void pass(incoming, response).catch(() => response.destroy()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { apiUrl: `http://127.0.0.1:${address.port}`, asked }
}

t.test("a request that can't be written as HTTP fails its step and not the run", async (t) => {
  t.match(await playSteps(t, ['http: { get: /payments, headers: { "x y": "1" } }']), {
    failure: { step: 1, message: 'invalid header "x y": HTTP can\'t carry it', place: { line: 4, column: 40 } },
  })
  const secret = await playSteps(t, [String.raw`http: { get: /payments, headers: { x-token: "hush\nhush" } }`])
  t.match(secret, { failure: { message: 'invalid header "x-token": HTTP can\'t carry it' } })
  const short = 'http: { post: /payments, body: { a: 1 }, headers: { content-length: "5" } }'
  t.match(await playSteps(t, [short]), {
    failure: { step: 1, message: /^this request can't be sent: /, place: { line: 4, column: 46 } },
  })
  t.match(await playSteps(t, [String.raw`pay: { amount: "5.00", currency: GBP, idempotency_key: "a\nb" }`]), {
    failure: { step: 1, message: /^this request can't be sent: / },
  })
  const dir = t.testdir({
    'a.yaml': `${scenarioOf([short])}---\n${scenarioOf([PAY])}`,
  })
  const words = ['sandbox', 'run', '.', '--api-url', (await SERVICE).url]
  t.match(await runCli(words, { cwd: dir }), { code: 3, stdout: /1 failed, 1 passed/ }, 'the next case is played')
})

t.test('an answer that does not come fails its step and not the run', async (t) => {
  const { apiUrl } = await slowService(t)
  // With room for what makes the merchant of the case.
  const limits = { apiUrl, requestTimeoutMs: 5_000 }
  t.match(await playSteps(t, ['http: { get: /slow }'], limits), {
    failure: { step: 1, message: /did not answer within 5s/ },
  })
})

t.test("a case's time ends the request under way", async (t) => {
  const { apiUrl } = await slowService(t)
  const steps = [PAY, 'http: { get: /slow }', PAY.replace('p1', 'p2')]
  const { failure, durationMs, timeoutMs } = await endedInSecond(t, steps, { apiUrl })
  t.match(failure, {
    step: 2,
    message: `the case may take ${timeoutMs}ms, and they were over in this step`,
    payments: [{ name: 'p1', payment: { status: 'AwaitingAuthorisation' } }],
  })
  t.ok(durationMs < timeoutMs + 6_500, `${durationMs} ms`)
})

t.test("a case's time ends an advance of the clock", async (t) => {
  const more = 'given: { receiver: { answers: [500], delay: 20s } }\n'
  const { failure, durationMs, timeoutMs } = await endedInSecond(t, [PAY, 'clock: { advance: 11h }'], { more })
  t.match(failure, { step: 2, message: `the case may take ${timeoutMs}ms` })
  t.ok(durationMs < timeoutMs + 8_500, `${durationMs} ms`)
})

t.test('an interruption ends the request under way', async (t) => {
  const { apiUrl, asked } = await slowService(t)
  const abort = new AbortController()
  const playing = playSteps(t, ['http: { get: /slow }', PAY], { apiUrl, signal: abort.signal })
  await asked
  const begunAt = performance.now()
  abort.abort()
  t.match(await playing, { failure: { step: 1 }, steps: [{ status: 'failed' }, { status: 'skipped' }] })
  t.ok(performance.now() - begunAt < 8_000)
})

t.test('a reference without a value fails its step instead of becoming text', async (t) => {
  const refused = 'pay: { as: p1, amount: "-1.00", currency: GBP }\n    expect_error: { http: 400 }'
  t.match(await playSteps(t, [refused, 'http: { get: "/payments/$p1.payment_id", expect: { http: 404 } }']), {
    failure: {
      step: 2,
      message: '$p1.payment_id: no step has given the name "p1"',
      place: { line: 6, column: 13 },
    },
  })
  const answered = 'http: { get: /payments, as: a }'
  t.match(await playSteps(t, [answered, 'http: { get: "/payments/$a.body.nope", expect: { http: 404 } }']), {
    failure: { step: 2, message: '$a.body.nope: the answer has no such member', place: { line: 5, column: 13 } },
  })
  t.match(
    await playSteps(t, [answered, 'http: { get: /payments, expect: { body: { data: $a.body.nope } } }']),
    { failure: { message: '$a.body.nope: the answer has no such member', place: { line: 5, column: 47 } } },
    'also where it is the whole value',
  )
  t.match(
    await playSteps(t, [answered, `${refused.replace('http: 400', 'code: $a.body.nope')}`]),
    { failure: { message: '$a.body.nope: the answer has no such member', place: { line: 6, column: 21 } } },
    'also in expect_error',
  )
})

t.test('expect_error is held against what its references stand for', async (t) => {
  const steps = [
    'http: { get: /payments/nothing, as: a, expect: { http: 404 } }',
    'http: { get: /payments/nothing }\n    expect_error: { code: $a.body.code }',
  ]
  t.equal((await playSteps(t, steps)).failure, undefined)
})

t.test('an alias without an end is a mistake of the file', async (t) => {
  const dir = t.testdir({ 'a.yaml': `scenario: v1\nname: x\nsteps: &s\n  - ${PAY}\n  - *s\n` })
  t.match(await runCli(['sandbox', 'scenarios', 'validate', 'a.yaml'], { cwd: dir }), {
    code: 2,
    stderr: /a\.yaml:5:5: \*s is inside of what it repeats/,
  })
})

t.test('what is begun with is valid, passes, and is never written over a file', async (t) => {
  const dir = t.testdir({})
  const svc = (...words: string[]): Promise<Outcome> => runCli(words, { cwd: dir })
  t.match(await svc('sandbox', 'scenarios', 'create', 'A "first": refund #1'), {
    code: 0,
    stdout: /a-first-refund-1\.yaml/,
  })
  t.match(await svc('sandbox', 'scenarios', 'create', 'x', '--file', 'own.yaml', '--json'), {
    code: 0,
    stdout: /"own\.yaml"/,
  })
  const api = ['--api-url', (await SERVICE).url]
  t.match(await svc('run', '.', ...api), { code: 0, stdout: /A "first": refund #1[^]*2 passed/ })
  t.match(await svc('sandbox', 'scenarios', 'create', 'y', '--file', 'own.yaml'), {
    code: 2,
    stderr: /own\.yaml is there already/,
  })
  t.match(await svc('sandbox', 'scenarios', 'create', '../x/y'), {
    code: 2,
    stderr: /"\.\.\/x\/y" is a path[^]*svc sandbox scenarios create y --file \.\.\/x\/y\.yaml/,
  })
  t.match(readFileSync(join(dir, 'own.yaml'), 'utf8'), /^# yaml-language-server: \$schema=\.\/scenario\.schema\.json\n/)
  t.match(await svc('sandbox', 'scenarios', 'create', 'y', '--file', 'own.txt'), {
    code: 2,
    stderr: /own\.txt is no \*\.yaml/,
  })
  t.match(await svc('sandbox', 'scenarios', 'create', 'y', '--file', 'no/own.yaml'), {
    code: 2,
    stderr: /--file: there is no folder .*\/no\nTry: mkdir -p /,
  })
  t.match(await svc('sandbox', 'scenarios', 'create', 'y'.repeat(201)), {
    code: 2,
    stderr: /can't be the name of a case/,
  })
})

t.test('branches are played at the same time, and one that fails lets the others end', async (t) => {
  const branches = (last: string): string[] => [
    PAY,
    `parallel:\n      - [ bank: { approve: $p1 }, await: { payment: $p1, status: Settled } ]\n      - [ http: { get: /sandbox/clock?merchant_id=$merchant.merchant_id, as: before }, ${last} ]`,
    'webhooks: { for: $p1, in_order: [payment.settled] }',
  ]
  const fine = await playSteps(t, branches('pay: { as: p2, amount: "5.00", currency: GBP, bank: approve }'))
  t.equal(fine.failure?.message, undefined)
  t.same(
    fine.steps.map(({ number, label, status }) => `${number} ${label} ${status}`),
    ['1 1 passed', '2 2.1.1 passed', '3 2.1.2 passed', '4 2.2.1 passed', '5 2.2.2 passed', '6 3 passed'],
  )
  const one = await playSteps(t, branches('http: { get: /payments/nothing, expect: { http: 200 } }'))
  t.same(
    one.steps.map(({ label, status }) => `${label} ${status}`),
    ['1 passed', '2.1.1 passed', '2.1.2 passed', '2.2.1 passed', '2.2.2 failed', '3 skipped'],
  )
  t.match(one.failure, { step: 5, label: '2.2.2', place: { line: 7 }, exchange: { url: /payments\/nothing/ } })
  t.equal(one.failure?.payments.length, 1)
})

t.test('what both branches do wrong is reported for the first in the file', async (t) => {
  const slow = 'await: { payment: $p1, status: Settled, within: 200ms }'
  const { failure, steps } = await playSteps(t, [PAY, `parallel: [ ${slow}, http: { get: /nothing } ]`])
  t.match(failure, {
    label: '2.1',
    message: /AwaitingAuthorisation after 200ms.*; beside it, 2\.2 failed too$/,
    exchange: { url: /payments\// },
  })
  t.same(
    steps.map(({ status }) => status),
    ['passed', 'failed', 'failed'],
  )
})

t.test('a step is played as another merchant of the case', async (t) => {
  const { failure } = await playSteps(t, [
    'merchant: { as: other }',
    `${PAY}\n    acting_as: $other`,
    'http: { get: "/payments/$p1.payment_id" }\n    expect_error: { http: 404 }',
    'expect: { of: $p1, status: AwaitingAuthorisation }\n    acting_as: $other',
    'secret.rotate: { overlap: 1h }\n    acting_as: $other',
    'http: { get: "/payments/$p1.payment_id" }\n    acting_as: $other',
  ])
  t.equal(failure?.message, undefined)
})
