import t from 'tap'
import { runCli } from '../cli/harness.ts'
import { testService } from '../support/app.ts'
import { PAY, scenarioOf } from './read.ts'

const SERVICE = testService(t, { worker: true })

async function failuresOf(text: string, calledAs = 'svc'): Promise<Record<string, unknown>[]> {
  const cwd = t.testdir({ 'x.yaml': text })
  const words = ['sandbox', 'run', 'x.yaml', '--api-url', (await SERVICE).url, '--as', 'tester', '-o', 'json']
  const { stdout } = await runCli(words, { cwd, calledAs })
  return JSON.parse(stdout).cases.map(({ failure }: { failure: Record<string, unknown> }) => failure)
}

t.test('a refusal of what is given points at its field, and advises nothing for a step', async (t) => {
  const good = scenarioOf([PAY], 'given: { merchant: { name: Ann } }\n')
  const bad = scenarioOf([PAY], 'given:\n  merchant:\n    name: Ann\n    fee_percentage: "1.5"\n')
  const [none, failure] = await failuresOf(`${good}---\n${bad}`)
  t.equal(none, null)
  t.match(failure, { step: 0, line: 12, column: 5, message: /fee_percentage|decimal string below 1/ })
  t.notMatch(failure?.['hint'] ?? '', /expect_error|in this step/)
})

t.test('how to run a case again is told as the user has to type it', async (t) => {
  const [failure] = await failuresOf(scenarioOf([PAY, 'http: { get: /payments/nothing }']), 'npx svc')
  t.match(failure, { step: 2, again: 'npx svc sandbox run x.yaml --only 1', hint: /expect_error/ })
})

t.test("the difference of a payment's secret is not shown", async (t) => {
  const [failure] = await failuresOf(scenarioOf([PAY.replace(' }', ', expect: { redirect_url: zzz } }')]))
  t.match(failure, { differences: [{ path: 'redirect_url', expected: '***', actual: '***' }] })
  t.notMatch(JSON.stringify(failure), /state=/)
})
