import t from 'tap'
import { runCli } from '../cli/harness.ts'
import { testService } from '../support/app.ts'
import { PAY, mistakesOf, scenarioOf } from './read.ts'

const SERVICE = testService(t, { worker: true })

async function failuresOf(text: string, calledAs = 'svc'): Promise<Record<string, unknown>[]> {
  const cwd = t.testdir({ 'x.yaml': text })
  const words = ['sandbox', 'run', 'x.yaml', '--api-url', (await SERVICE).url, '-o', 'json']
  const { stdout } = await runCli(words, { cwd, calledAs })
  return JSON.parse(stdout).cases.map(({ failure }: { failure: Record<string, unknown> }) => failure)
}

t.test('a refusal of what is given names its field at the case, and advises nothing for a step', async (t) => {
  const good = scenarioOf([PAY], 'given: { merchant: { name: Ann } }\n')
  const bad = scenarioOf([PAY], 'given:\n  merchant:\n    name: Ann\n    fee_percentage: "1.5"\n')
  const [none, failure] = await failuresOf(`${good}---\n${bad}`)
  t.equal(none, null)
  t.match(failure, { step: 0, line: 8, message: /fee_percentage|decimal string below 1/ })
  t.notMatch(failure?.['hint'] ?? '', /expect_error|in this step/)
})

t.test('the command that runs a case again is printed as the user has to type it', async (t) => {
  const [failure] = await failuresOf(scenarioOf([PAY, 'http: { get: /payments/nothing }']), 'npx svc')
  t.match(failure, { step: 2, again: /^npx svc --api-url \S+ run x\.yaml --only 1$/, hint: /expect_error/ })
})

t.test("the difference of a payment's secret is not shown", async (t) => {
  const [failure] = await failuresOf(scenarioOf([PAY.replace(' }', ', expect: { redirect_url: zzz } }')]))
  t.match(failure, { differences: [{ path: 'redirect_url', expected: '***', actual: '***' }] })
  t.notMatch(JSON.stringify(failure), /state=/)
})

t.test('what goes wrong at the bank is given, and changed on the way; what makes no sense is refused', async (t) => {
  const given = 'given: { bank: { latency: 1ms, drop_callback: 0%, duplicate: 100%, seed: 7 } }\n'
  const steps = [
    PAY,
    'bank: { approve: $p1, returns: false }',
    'await: { payment: $p1, status: Settled }',
    'bank: { fault: { drop_callback: 100% } }',
    PAY.replace('p1', 'p2'),
    'bank: { approve: $p2, returns: false }',
    'expect: { of: $p2, status: AwaitingAuthorisation }',
  ]
  t.same(await failuresOf(scenarioOf(steps, given)), [null])
  const wrong = [
    '{ latency: soon }',
    '{ drop_callback: 101% }',
    '{ duplicate: 20 }',
    '{ unavailable: much }',
    '{ lost: 5% }',
  ]
  for (const fault of wrong) t.ok(mistakesOf(scenarioOf([`bank: { fault: ${fault} }`])).length > 0, fault)
  t.ok(mistakesOf(scenarioOf([PAY], 'given: { bank: { latency: 5 } }\n')).length > 0)
  t.match(mistakesOf(scenarioOf([PAY, 'bank: { approve: $p1, fault: {} }'])), [/one of approve, cancel and fault/])
})

t.test('hints are steps: the merchant of a case is gone before a command is typed', async (t) => {
  const kyb = scenarioOf([PAY], 'given: { merchant: { kyb: PENDING } }\n')
  const held = scenarioOf([PAY], 'given: { merchant: { payout_held: true } }\n')
  const missing = scenarioOf(['http: { get: /portal/disputes/nothing, expect: { http: 200 } }'])
  const told = await failuresOf([kyb, held, missing].join('---\n'))
  t.match(told[0], { step: 1, hint: /^kyb\.approve: \{ reason: checked \} before this step; or expect_error/ })
  t.match(told[1], { step: 1, hint: /^hold\.release: \{ reason: cleared \} before this step; or expect_error/ })
  for (const failure of told) t.notMatch(failure['hint'] ?? '', /svc (kyb|hold|payments|portal)/)
  const refused = PAY.replace('"5.00"', '"5.001"')
  t.match(await failuresOf(scenarioOf([`${refused}\n    expect_error: { match: "GBP has two decimals" }`])), [null])
})

t.test('a receiver that is behind a rotation is reported as that', async (t) => {
  const steps = (overlap: string): string[] => [
    `secret.rotate: ${overlap}`,
    'receiver: { secret: previous }',
    PAY,
    'webhooks: { for: $p1, in_order: [payment.initiated] }',
  ]
  t.same(await failuresOf(scenarioOf(steps('{ overlap: 1h }'))), [null])
  const [failure] = await failuresOf(scenarioOf(steps('{ overlap: 0s }')))
  t.match(failure, { message: /signature that is not/, hint: /secret of before.*receiver: \{ secret: previous \}/ })
})
