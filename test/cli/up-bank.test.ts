import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { bringBack, visitBank } from '../support/obie.ts'
import { until } from '../support/until.ts'
import { runCli } from './harness.ts'
import { stateDirOf, upDetached } from './service.ts'

const SCENARIO = `scenario: v1
name: paid at a bank that redirects
steps:
  - pay: { as: p1, amount: "5.00", currency: GBP, debtor_bank_id: model }
  - bank: { approve: $p1 }
  - await: { payment: $p1, status: Settled }
  - pay: { as: p2, amount: "6.00", currency: GBP, debtor_bank_id: model }
  - bank: { cancel: $p2 }
  - await: { payment: $p2, status: Failed }
`

t.test('svc up --bank model: a payment at a bank with pages of its own, which both remember', async (t) => {
  const stateDir = stateDirOf(t)
  const env = { SVC_STATE_DIR: stateDir }
  const run = async (...words: string[]): Promise<string> => {
    const { code, stdout, stderr } = await runCli(words, { env })
    t.equal(code, 0, `${words.join(' ')}: ${stderr}`)
    return stdout
  }
  const state = await upDetached(stateDir, ['--bank', 'model'])
  t.match(state, { model_bank: { issuer: /^https:\/\/127\.0\.0\.1:\d+$/, control_url: /^http:/ } })
  const steps: { passed: boolean }[] = JSON.parse(await run('banks', 'test', 'model', '--json'))
  t.ok(steps.length >= 5 && steps.every(({ passed }) => passed))
  const pay = ['payments', 'create', '--amount', '12.50', '--currency', 'GBP', '--debtor-bank-id', 'model']
  const redirectUri = `${state.api_url}/payments/return`
  const made = JSON.parse(await run(...pay, '--redirect-uri', redirectUri, '--json'))
  const bank = { ca: readFileSync(join(stateDir, 'model-bank', 'model-bank-ca.pem'), 'utf8') }
  const { next } = await bringBack({ url: state.api_url }, await visitBank({ bank }, made.redirect_url))
  t.equal((await fetch(next ?? '')).status, 200)
  await until(
    'the payment is settled',
    async () => (await run('payments', 'show', made.payment_id, '-q', 'status')) === 'Settled\n',
  )
  const books = await (await fetch(`${String(state['model_bank']?.control_url)}/books`)).json()
  t.match(books, { payments: [{ amount: '12.50', status: 'ACSC' }] })

  const approved = await run(...pay, '--approve', '--wait', 'Settled', '--json')
  t.match(JSON.parse(approved), { status: 'Settled' })
  t.match(JSON.parse(await run(...pay, '--cancel', '--wait', 'Failed', '--json')), { status: 'Failed' })
  const file = join(stateDir, 'model.yaml')
  writeFileSync(file, SCENARIO)
  t.match(await run('sandbox', 'run', file), /1 passed/)

  await run('down')
  const again = await upDetached(stateDir, ['--bank', 'model'])
  t.same(again.model_bank, state.model_bank, 'it is the same bank, and the registration there stays')
  t.match(JSON.parse(await run(...pay, '--json')), { status: 'AwaitingAuthorisation' })
})
