import t from 'tap'
import { runCli } from './harness.ts'
import { databaseProcesses, stateDirOf, svc, upDetached } from './service.ts'

t.test('without an identity provider names are enough, and there are no logins', async (t) => {
  const stateDir = stateDirOf(t)
  const state = await upDetached(stateDir, ['--idp', 'none'])
  t.match(state, { auth_url: null, operator: null, merchant: { client_id: 'demo-server', client_secret: null } })
  t.match(state.customer, { id: 'customer-demo', password: null, client_id: null, realm: null, account_id: String })
  const env = { SVC_STATE_DIR: stateDir }
  t.match(await runCli(['status', '-q', 'identity'], { env }), { code: 0, stdout: 'none\n' })
  t.match(await runCli(['payments', 'create', '--amount', '5.00', '--currency', 'GBP'], { env }), { code: 0 })
  t.match(await runCli(['hold', 'set', 'demo', '--reason', 'a test'], { env: { ...env, SVC_PLATFORM_USER: 'ada' } }), {
    code: 0,
  })
  t.match(await runCli(['hold', 'list', '-q', '[0].payout_held_by'], { env }), { stdout: 'ada\n' })

  t.match(await runCli(['down'], { env }), { code: 0 })
  const proven = await upDetached(stateDir)
  t.equal(proven.merchant.id, state.merchant.id, 'the merchant is the same one, and has a realm now')
  t.ok(proven.merchant.client_secret)
  t.match(await runCli(['hold', 'release', 'demo', '--reason', 'a test'], { env }), { code: 0 })
  t.match(await runCli(['payments', 'list', '-q', '[0].gross_amount'], { env }), { code: 0, stdout: '5.00\n' })
})

t.test('live mode has no demo merchant and no demo operator', async (t) => {
  const stateDir = stateDirOf(t)
  // Nothing of what live mode needs is asked for first.
  const env = { SVC_MODE: 'live' }
  t.match(await svc(['up', '--port', '0', '--state-dir', stateDir], { env }), {
    code: 2,
    stderr: /staff bootstrap/,
  })
  t.same(databaseProcesses(stateDir), [])
})
