import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { bringBack, visitBank } from '../support/obie.ts'
import type { BooksView } from '../support/model-bank.ts'
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
  - pay: { as: p3, amount: "500000.00", currency: GBP, debtor_bank_id: model, bank: approve }
  - await: { payment: $p3, status: Failed }
  - pay:
      as: m1
      amount: "10.00"
      currency: GBP
      debtor_bank_id: model
      bank: approve
      mandate: { max_amount_per_payment: "20.00", periodic_limits: [{ period: MONTH, max_amount: "60.00" }] }
  - await: { payment: $m1, status: Settled }
  - pay: { as: c1, amount: "11.00", currency: GBP, consent: $m1 }
  - await: { payment: $c1, status: Settled }
  - pay: { as: c2, amount: "12.00", currency: GBP, consent: $m1 }
  - await: { payment: $c2, status: Settled }
  - pay: { as: c3, amount: "13.00", currency: GBP, consent: $m1 }
  - await: { payment: $c3, status: Settled }
  - payments.mandates.end: { consent: $m1, expect: { status: REVOKED } }
  - pay: { amount: "1.00", currency: GBP, consent: $m1 }
    expect_error: { http: 409, code: MANDATE_NOT_USABLE }
`

/** The same payments in every way that the command line has, at the bank of this start. */
for (const version of ['4.0', '3.1'] as const)
  t.test(
    `svc up with the model bank, version ${version}: by address, --approve, --cancel and a scenario`,
    async (t) => {
      const stateDir = stateDirOf(t)
      const env = { SVC_STATE_DIR: stateDir }
      const run = async (...words: string[]): Promise<string> => {
        const { code, stdout, stderr } = await runCli(words, { env })
        t.equal(code, 0, `${words.join(' ')}: ${stderr}`)
        return stdout
      }
      const words = ['--bank', version === '4.0' ? 'model' : 'model-3.1']
      const state = await upDetached(stateDir, words)
      t.match(state, { model_bank: { issuer: /^https:\/\/127\.0\.0\.1:\d+$/, control_url: /^http:/ } })
      t.match(JSON.parse(await run('banks', 'list', '--json')), [{ payments_version: version, vrp_version: version }])
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
      const control = String(state['model_bank']?.control_url)
      const books = async () => (await (await fetch(`${control}/books`)).json()) as BooksView
      t.match((await books()).payments, [{ amount: '12.50', status: 'ACSC' }])

      const approved = await run(...pay, '--approve', '--wait', 'Settled', '--json')
      t.match(JSON.parse(approved), { status: 'Settled' })
      t.match(JSON.parse(await run(...pay, '--cancel', '--wait', 'Failed', '--json')), { status: 'Failed' })
      const file = join(stateDir, 'model.yaml')
      writeFileSync(file, SCENARIO)
      const late = JSON.stringify({ name: 'late_settlement', seconds: 2, times: 1 })
      await fetch(`${control}/faults`, { method: 'POST', body: late })
      t.match(await run('sandbox', 'run', file), /1 passed/)
      await until('the mandate is revoked at the bank', async () =>
        (await books()).consents.some(({ status }) => status === 'revoked'),
      )
      t.same(
        (await books()).payments.map(({ amount, status }) => [amount, status]).toSorted(),
        ['10.00', '11.00', '12.00', '12.50', '12.50', '13.00', '5.00'].map((amount) => [amount, 'ACSC']),
        'what was cancelled or rejected moved no money',
      )

      await run('down')
      const again = await upDetached(stateDir, words)
      t.same(again.model_bank, state.model_bank, 'it is the same bank, and the registration there stays')
      t.match(JSON.parse(await run(...pay, '--json')), { status: 'AwaitingAuthorisation' })
    },
  )

t.test('the model bank ends with a service that is killed, and the next start has it again', async (t) => {
  const stateDir = stateDirOf(t)
  const first = await upDetached(stateDir, ['--bank', 'model'])
  process.kill(first.pid, 'SIGKILL')
  const control = String(first.model_bank?.control_url)
  await until('the bank is gone', async () =>
    fetch(control).then(
      () => false,
      () => true,
    ),
  )
  t.same((await upDetached(stateDir, ['--bank', 'model'])).model_bank, first.model_bank)
})
