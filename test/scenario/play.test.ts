import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { request } from 'undici'
import { headerCredentials } from '../../cli/client/auth/credentials.ts'
import { makeClient } from '../../cli/client/call.ts'
import type { Client } from '../../cli/client/call.ts'
import { playCase } from '../../cli/scenario/play/play.ts'
import type { CaseResult } from '../../cli/scenario/play/play.ts'
import { runCli } from '../cli/harness.ts'
import type { Outcome } from '../cli/harness.ts'
import { testService } from '../support/app.ts'
import type { TestService } from '../support/app.ts'
import { casesOf, scenarioOf } from './read.ts'

/** Without an identity provider a name is enough. */
const TESTER = headerCredentials({ clientId: undefined, platformUser: 'tester' })

const SERVICE = testService(t, { worker: true })

async function clientOf(t: Test): Promise<{ client: Client; service: TestService }> {
  const service = await SERVICE
  const client = makeClient({ apiUrl: service.url, credentials: TESTER, timeoutMs: 15_000 })
  t.teardown(() => client.close())
  return { client, service }
}

async function playSteps(t: Test, steps: readonly string[], more = ''): Promise<CaseResult> {
  const { client } = await clientOf(t)
  const [scenario] = casesOf(scenarioOf(steps, more))
  if (scenario === undefined) throw new Error('no case')
  return playCase(client, scenario, { timeoutMs: 30_000, signal: NEVER, rerun: () => 'again' })
}

async function svc(words: readonly string[], cwd = '/nowhere'): Promise<Outcome> {
  return runCli([...words, '--api-url', (await SERVICE).url], { cwd })
}

const NEVER = new AbortController().signal

const PAY = 'pay: { as: p1, amount: "50.00", currency: GBP }'
const SETTLED = [
  'pay: { as: p1, amount: "50.00", currency: GBP, bank: approve }',
  'await: { payment: $p1, status: Settled }',
]

t.test('what is on accounts and what became of orders is held against the bank as it is', async (t) => {
  const money = ['customer: { as: a, balance: "5.00" }', 'customer: { as: b, balance: "0.00" }']
  const outcome = async (...steps: string[]) => (await playSteps(t, [...money, ...steps])).failure
  t.match(await outcome('expect: { account: $a, balance: "6.00" }'), {
    message: 'the account of $a is not as expected: balance',
    differences: [{ path: 'balance', expected: '"6.00"', actual: '"5.00"' }],
  })
  t.match(await outcome('await: { account: $b, balance: "1.00", within: 50ms }'), {
    message: 'the balance of $b is still 0.00 after 50ms; awaited was 1.00',
  })
  t.match(await outcome('expect: { account: $merchant, balance: "0.00" }'), {
    message: 'there is no account of $merchant',
    hint: /once money has come to it/,
  })
  const late = [
    'order: { as: o1, from: $a, to: $b, amount: "5.01" }',
    'await: { order: $o1, status: AcceptedSettlementCompleted }',
  ]
  t.match(await outcome(...late), {
    message: /^\$o1 is Rejected \(AM04: .+\) and can no longer become AcceptedSettlementCompleted$/,
  })
  const own = ['order: { from: $a, to: $a, amount: "1.00" }', 'order: { from: $a, to: $b, amount: "1" }']
  for (const step of own)
    t.match(await outcome(step), { message: /^the service rejected it with 400 UK\.OBIE\.Field\.Invalid/ })
  t.equal(await outcome(`${own[1]}\n    expect_error: { http: 400, code: UK.OBIE.Field.Invalid }`), undefined)
})

t.test('an expectation that fails reports where, the difference, the history and the webhooks', async (t) => {
  const { failure, steps } = await playSteps(t, [
    ...SETTLED,
    'webhooks: { for: $p1, in_order: [payment.settled] }',
    'expect: { of: $p1, status: Settled, fee_amount: "0.50", net_amount: "> 49.30" }',
    'payments.refund: { payment: $p1 }',
  ])
  t.match(failure, {
    step: 4,
    message: '$p1 is not as expected: fee_amount, net_amount',
    place: { line: 7, column: 41 },
    differences: [
      { path: 'fee_amount', expected: '"0.50"', actual: '"0.70"' },
      { path: 'net_amount', expected: '> 49.30', actual: '"49.30"' },
    ],
    payments: [{ name: 'p1', payment: { status: 'Settled', status_history: [{}, {}, {}] } }],
    exchange: { method: 'GET', status: 200 },
  })
  t.same(failure?.webhooks?.map((receipt) => receipt.eventType).toSorted(), [
    'payment.authorized',
    'payment.initiated',
    'payment.settled',
  ])
  t.same(
    steps.map((step) => step.status),
    ['passed', 'passed', 'passed', 'failed', 'skipped'],
  )
})

t.test("waiting for a status that can't come any more fails at once", async (t) => {
  const { failure, durationMs } = await playSteps(t, [
    'pay: { as: p1, amount: "5.00", currency: GBP, bank: cancel }',
    'await: { payment: $p1, status: Settled, within: 25s }',
  ])
  t.match(failure, {
    message: /\$p1 is Failed \(ACCESS_DENIED: .*\) and can no longer become Settled/,
    place: { line: 5, column: 28 },
  })
  t.ok(durationMs < 20_000)
})

t.test('waiting for what does not come ends at its time', async (t) => {
  t.match(await playSteps(t, [PAY, 'await: { payment: $p1, status: Settled, within: 50ms }']), {
    failure: {
      message: '$p1 is still AwaitingAuthorisation after 50ms; awaited was Settled',
      hint: /bank: \{ approve/,
    },
  })
  t.match(await playSteps(t, [PAY, 'await: { webhook: payment.settled, for: $p1, within: 50ms }']), {
    failure: { message: /there is none/ },
  })
})

t.test('a delivery that is DEAD will not be DELIVERED by waiting', async (t) => {
  const steps = [
    'pay: { as: p1, amount: "5.00", currency: GBP }',
    'clock: { advance: 11h }',
    'await: { webhook: payment.initiated, for: $p1, within: 25s }',
  ]
  t.match(await playSteps(t, steps, 'given: { receiver: { answers: [503] } }\n'), {
    failure: { message: /is DEAD .* and can no longer become DELIVERED/, hint: /replay/ },
  })
})

t.test("an unexpected error response fails the case with the API's words", async (t) => {
  const { failure } = await playSteps(t, [PAY], 'given: { merchant: { payout_held: true } }\n')
  t.match(failure, {
    step: 1,
    message: /403 PAYOUT_HELD/,
    hint: /expect_error: \{ http: 403, code: PAYOUT_HELD \}/,
    exchange: { status: 403 },
  })
})

t.test('a balance, settlement or payout that is not there, or is another, is named', async (t) => {
  const failed = async (...steps: string[]) => (await playSteps(t, steps)).failure
  t.match(await failed('expect: { balance: EUR, total: "1.00" }'), { message: 'there is no balance in EUR' })
  t.match(await failed('await: { payout: GBP, status: PAID, within: 50ms }'), { message: /the payout of GBP/ })
  const settled = [PAY, 'bank: { approve: $p1 }', 'await: { payment: $p1, status: Settled }', 'settlements.close: {}']
  t.match(await failed(...settled, 'expect: { settlement: GBP, status: PAID_OUT }'), {
    differences: [{ path: 'status', actual: 'CLOSED' }],
  })
})

t.test('an expected refusal is held against status, code and message', async (t) => {
  const held = 'given: { merchant: { payout_held: true } }\n'
  const refused = async (expected: string): Promise<CaseResult> =>
    playSteps(t, [`${PAY}\n    expect_error: ${expected}`], held)
  t.equal((await refused('{ http: 403, code: PAYOUT_HELD, match: held }')).failure, undefined)
  t.equal((await refused('{ match: /PAYOUTS/i }')).failure, undefined)
  t.match((await refused('{ http: 409, code: X, match: nothing of this }')).failure, {
    differences: [{ path: 'http', actual: '403' }, { path: 'code', actual: 'PAYOUT_HELD' }, { path: 'match' }],
    place: { line: 6, column: 21 },
  })
  t.match(await playSteps(t, [`${PAY}\n    expect_error: { http: 403 }`]), {
    failure: { message: /expected to be rejected \(403\), but it succeeded/, place: { line: 5, column: 5 } },
  })
  t.match(
    await playSteps(t, [PAY, 'expect: { of: $p1, status: Settled }\n    expect_error: { http: 403 }']),
    { failure: { message: /status/ } },
    'a failed expectation is no refusal',
  )
})

t.test('a merchant that is not approved, and a merchant without a receiver', async (t) => {
  t.equal(
    (
      await playSteps(
        t,
        [`${PAY}\n    expect_error: { http: 403, code: MERCHANT_NOT_APPROVED }`],
        'given: { merchant: { kyb: PENDING } }\n',
      )
    ).failure,
    undefined,
  )
  t.equal(
    (
      await playSteps(
        t,
        [
          PAY,
          'expect: { webhook: payment.initiated, for: $p1, status: PENDING }',
          'receiver: { answers: [200] }',
          'await: { webhook: payment.initiated, for: $p1 }',
        ],
        'given: { receiver: false }\n',
      )
    ).failure,
    undefined,
  )
})

t.test('a forged webhook fails the case although no step asks for signatures', async (t) => {
  const { client, service } = await clientOf(t)
  // The receiver takes its time, so that the forger has some.
  const [scenario] = casesOf(
    scenarioOf([PAY, 'await: { webhook: payment.initiated, for: $p1 }'], 'given: { receiver: { delay: 500ms } }\n'),
  )
  if (scenario === undefined) throw new Error('no case')
  const over = new AbortController()
  const forger = forge(service, over.signal)
  const { failure } = await playCase(client, scenario, { timeoutMs: 30_000, signal: NEVER, rerun: () => '' })
  over.abort()
  await forger
  t.match(failure, { message: 'the receiver was sent not an event without a signature' })
})

/** Whoever learns a receiver's address can post to it; here it is learnt from the database. */
async function forge({ owner }: TestService, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    const { rows } = await owner.query(
      'select webhook_url from merchants where webhook_url is not null order by id desc limit 1',
    )
    const url: unknown = rows[0]?.webhook_url
    if (typeof url !== 'string') continue
    const isSent = await request(url, { method: 'POST', body: '{}' }).then(
      (answer) => answer.body.dump().then(() => true),
      () => false,
    )
    if (isSent) return
  }
}

t.test('order, completeness and payloads of webhooks', async (t) => {
  const cancelled = 'pay: { as: p1, amount: "5.00", currency: GBP, bank: cancel }'
  t.match(
    await playSteps(t, [
      PAY,
      // It rests after this, so that what comes next was not under way together.
      'webhooks: { for: $p1, in_order: [payment.initiated], exactly: true }',
      'http: { post: "/payments/$p1.payment_id/cancel" }',
      'webhooks: { for: $p1, in_order: [payment.failed, payment.initiated] }',
    ]),
    {
      failure: {
        message: 'the webhooks of $p1 came in another order',
        differences: [{ actual: 'payment.initiated, payment.failed' }],
      },
    },
  )
  t.match(
    await playSteps(t, [
      cancelled,
      'await: { webhook: payment.failed, for: $p1 }',
      'await: { webhook: payment.initiated, for: $p1 }',
      'webhooks: { for: $p1, in_order: [payment.failed], exactly: true }',
    ]),
    { failure: { message: /had other webhooks/ } },
  )
  t.match(
    await playSteps(t, [PAY, 'webhooks: { for: $p1, in_order: [payment.initiated, payment.settled], within: 100ms }']),
    { failure: { message: 'payment.settled did not arrive within 100ms' } },
  )
  t.match(
    await playSteps(t, [
      cancelled,
      'expect: { webhook: payment.failed, for: $p1, payload: { data: { status: SETTLED } } }',
    ]),
    {
      failure: {
        differences: [{ path: 'data.status', expected: '"SETTLED"', actual: '"FAILED"' }],
        came: { what: /^the payload of payment\.failed \(evt_/, value: { data: { status: 'FAILED' } } },
        exchange: undefined,
      },
    },
  )
})

t.test('http sends what the file says, captures the answer, and takes no surprise', async (t) => {
  t.equal(
    (
      await playSteps(t, [
        PAY,
        'http: { get: "/payments/$p1.payment_id", as: r, expect: { headers: { Content-Type: "/json/" } } }',
        'http: { get: "/payments?currency=$r.body.currency", expect: { http: 200, body: { data: [{ payment_id: $p1.payment_id }] } } }',
      ])
    ).failure,
    undefined,
  )
  t.match(await playSteps(t, ['http: { get: /payments/nothing }']), { failure: { message: /404 PAYMENT_NOT_FOUND/ } })
  t.match(await playSteps(t, ['http: { get: /nowhere }']), {
    failure: { message: 'the service answered 404', hint: /expect: \{ http: 404 \}/ },
  })
  t.match(await playSteps(t, ['http: { get: /payments, expect: { http: 201 } }']), {
    failure: { differences: [{ path: 'http', expected: '201', actual: '200' }] },
  })
  const either = [PAY, 'pay: { repeat: $p1, expect: { http: [200, 201] } }']
  const matchers = ['[201, 200]', '{ one_of: [200] }', '"< 300"']
  const gets = matchers.map((status) => `http: { get: /payments, expect: { http: ${status} } }`)
  t.equal((await playSteps(t, [...either, ...gets])).failure, undefined)
  t.match(await playSteps(t, ['http: { get: /payments, expect: { http: [201, 202] } }']), {
    failure: { message: 'the service answered 200', differences: [{ path: 'http', actual: '200' }] },
  })
  t.equal(
    (
      await playSteps(t, [
        'http: { get: /payments, headers: { X-Merchant-Client-Id: nobody } }\n    expect_error: { http: 401, code: UNKNOWN_CLIENT }',
      ])
    ).failure,
    undefined,
  )
})

t.test('a case that takes too long fails', async (t) => {
  const { client } = await clientOf(t)
  const [scenario] = casesOf(scenarioOf([PAY, 'await: { payment: $p1, status: Settled, within: 1h }']))
  if (scenario === undefined) throw new Error('no case')
  // Longer where a busy machine has needed it for the first step.
  for (const [timeoutMs, text] of [
    [300, '300ms'],
    [2_500, '2500ms'],
    [12_500, '12500ms'],
  ] as const) {
    const { failure } = await playCase(client, scenario, { timeoutMs, signal: NEVER, rerun: () => '' })
    t.match(failure, { message: `the case may take ${text}, and they were over in this step` })
    if (failure?.step === 2) return
  }
  t.fail('it never came to its second step')
})

t.test('after a case nothing more is sent to its receiver', async (t) => {
  const { service } = await clientOf(t)
  await playSteps(t, [PAY], 'given: { receiver: { answers: [500] } }\n')
  const { rows } = await service.owner.query('select webhook_url from merchants order by id desc limit 1')
  t.same(rows, [{ webhook_url: null }])
})

t.test('svc run reports failures with exit code 3, and with several reporters at once', async (t) => {
  const dir = t.testdir({
    'shop.yaml': `${scenarioOf([PAY])}---\n${scenarioOf([PAY, 'expect: { of: $p1, status: Settled }'])}`,
    more: {
      'b.json': JSON.stringify({
        scenario: 'v1',
        name: 'in JSON',
        steps: [{ pay: { amount: '5.00', currency: 'GBP' } }],
      }),
    },
  })
  const all = await svc(
    ['sandbox', 'run', '.', 'more/b.json', '--reporter', 'tap', '--reporter', 'junit=junit.xml'],
    dir,
  )
  t.equal(all.code, 3)
  t.match(all.stdout, /^TAP version 14\n1\.\.3\n/)
  t.match(all.stdout, /again: svc --api-url http:\/\/127\.0\.0\.1:\d+ run shop\.yaml --only 2\n/)
  t.match(readFileSync(join(dir, 'junit.xml'), 'utf8'), /tests="3" failures="1"/)
  t.match(await svc(['sandbox', 'run', 'shop.yaml', '--only', '1'], dir), { code: 0, stdout: /1 passed in / })
  t.match(await svc(['sandbox', 'run', 'more/b.json', '--only', 'in json', '--json'], dir), {
    code: 0,
    stdout: /"passed":1/,
  })
  t.match(await svc(['sandbox', 'run', 'shop.yaml', '--only', '7'], dir), {
    code: 2,
    stderr: /case not found: 7; use one of 1 \(.*2 \(/,
  })
  writeFileSync(
    join(dir, 'shop.yaml'),
    scenarioOf(['pay: { amount: $amount, currency: GBP }', 'expect_nothing: {}'], 'vars: { amount: "1.00" }\n'),
  )
  t.match(
    await svc(['sandbox', 'run', '.'], dir),
    { code: 2, stdout: '', stderr: /shop\.yaml:6:5: unknown verb "expect_nothing"/ },
    'nothing is played of files with mistakes',
  )
})

t.test('--bail stops at the first failure, --var replaces a variable', async (t) => {
  const failing = scenarioOf(
    ['pay: { as: p1, amount: $amount, currency: GBP, expect: { gross_amount: "2.00" } }'],
    'vars: { amount: "1.00" }\n',
  )
  const dir = t.testdir({ 'a.yaml': failing, 'b.yaml': failing })
  t.match(await svc(['sandbox', 'run', '.', '--bail'], dir), { code: 3, stdout: /1 failed, 0 passed, 1 not played/ })
  t.match(await svc(['sandbox', 'run', '.', '--var', 'amount=2.00'], dir), { code: 0, stdout: /2 passed/ })
  t.match(await svc(['sandbox', 'run', '.', '--var', 'amount'], dir), { code: 2 })
})

t.test('cases that are played at once are reported in their order', async (t) => {
  const slow = scenarioOf(
    [PAY, 'await: { webhook: payment.initiated, for: $p1 }'],
    'given: { receiver: { delay: 300ms } }\n',
  ).replace('a case', 'slow')
  const dir = t.testdir({
    'a.yaml': [slow, ...['1', '2', '3'].map((name) => scenarioOf([PAY]).replace('a case', `fast ${name}`))].join(
      '---\n',
    ),
  })
  const { code, stdout } = await svc(['sandbox', 'run', 'a.yaml', '--parallel', '3', '-o', 'json'], dir)
  t.equal(code, 0)
  t.same(
    JSON.parse(stdout).cases.map((one: { name: string }) => one.name),
    ['slow', 'fast 1', 'fast 2', 'fast 3'],
  )
  t.match(await svc(['sandbox', 'run', 'a.yaml', '--parallel', '0'], dir), { code: 2 })
})

t.test('an interrupted case ends early', async (t) => {
  const { client } = await clientOf(t)
  const [scenario] = casesOf(scenarioOf([PAY, 'await: { payment: $p1, status: Settled, within: 25s }']))
  if (scenario === undefined) throw new Error('no case')
  const { durationMs } = await playCase(client, scenario, {
    timeoutMs: 30_000,
    signal: AbortSignal.abort(),
    rerun: () => '',
  })
  t.ok(durationMs < 20_000)
})

t.test('a service that is not there is exit code 8', async (t) => {
  const outcome = await runCli(['sandbox', 'run', 'happy-path', '--api-url', 'http://127.0.0.1:1'])
  t.match(outcome, { code: 8, stderr: /can't be reached/ })
  t.match(await runCli(['sandbox', 'run', 'happy-path']), { code: 8, stderr: /no service is running/ })
})

t.test('what comes with svc can be listed, read and checked without a service', async (t) => {
  t.match(await runCli(['sandbox', 'scenarios', 'list', '-o', 'id']), { code: 0, stdout: /^happy-path$/m })
  t.match(await runCli(['sandbox', 'scenarios', 'show', 'refund']), { code: 0, stdout: /^# A settled payment/ })
  t.match(await runCli(['sandbox', 'scenarios', 'show', 'refunds']), {
    code: 6,
    stderr: /Try: svc sandbox scenarios show refund\n/,
  })
  t.match(await runCli(['sandbox', 'scenarios', 'validate', 'happy-path', 'refund', '--json']), {
    code: 0,
    stdout: '{"files":2,"cases":2,"valid":true}\n',
  })
  t.match(JSON.parse((await runCli(['sandbox', 'scenarios', 'schema'])).stdout), { title: 'svc scenario, v1' })
  const dir = t.testdir({ 'x.yaml': 'scenario: v1\nname: x\nsteps: [{ clok: {} }]\n', empty: {} })
  t.match(await runCli(['sandbox', 'scenarios', 'validate', 'x.yaml'], { cwd: dir }), {
    code: 2,
    stderr: /x\.yaml:3:11: unknown verb "clok": did you mean "clock"\?\n.*\n.*\n +\| +\^\^\^\^\n/,
  })
  t.match(JSON.parse((await runCli(['sandbox', 'scenarios', 'validate', 'x.yaml', '--json'], { cwd: dir })).stderr), {
    error: { code: 'SCENARIO_INVALID', errors: [{ path: 'x.yaml:3:11' }] },
  })
  t.match(await runCli(['sandbox', 'scenarios', 'validate', 'empty'], { cwd: dir }), { code: 2 })
})

t.test("svc sandbox clock advance lets a merchant's time pass", async (t) => {
  const { service } = await clientOf(t)
  const merchant = await service.merchant()
  t.match(await svc(['sandbox', 'clock', 'advance', '11h', '--merchant', merchant.id, '--json']), {
    code: 0,
    stdout: /"advanced_ms":39600000/,
  })
  t.match(await svc(['sandbox', 'clock', 'advance', '1m', '--merchant', merchant.realm, '-o', 'id']), {
    code: 0,
    stdout: `${merchant.id}\n`,
  })
  t.match(await svc(['sandbox', 'clock', 'advance', '11h', '--merchant', 'nobody']), { code: 6 })
  t.match(await svc(['sandbox', 'clock', 'advance', '11 hours', '--merchant', merchant.id]), { code: 2 })
  t.match(await svc(['sandbox', 'clock', 'advance', '1h']), { code: 2, stderr: /--merchant/ })
})
