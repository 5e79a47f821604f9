import t from 'tap'
import { createPayouts } from '../../src/payouts/create-payouts.ts'
import { sendPayouts } from '../../src/payouts/send-payouts.ts'
import { closedSettlement, payoutAccount, payoutsOf } from '../support/payouts.ts'
import { runCli } from './harness.ts'
import { provesLeaves } from './ran.ts'
import { realService } from './real-service.ts'

const service = await realService(t, { worker: false })
const { app } = service
const shop = await service.merchant()
const run = (words: readonly string[]) =>
  runCli(['payouts', ...words, '--api-url', service.url], { env: { SVC_CLIENT_ID: shop.clientId } })
const balances = (env: Record<string, string>) => runCli(['balances', '--api-url', service.url], { env })
const operate = (words: readonly string[]) => service.operate(['payouts', ...words])

t.test('a merchant lists and shows its payouts, and an operator retries one', async (t) => {
  t.match(await run(['list']), { code: 0, stdout: '', stderr: /no such payouts/ })
  await payoutAccount(service, shop, { sort_code: '00-00-75', account_number: '99999999' })
  const settlement = await closedSettlement(service, shop)
  await createPayouts(app)
  await sendPayouts(app)
  const rejected = /49\.30 GBP is not paid out: the bank rejected the account\s/
  t.match(await balances({ SVC_CLIENT_ID: shop.clientId }), { code: 0, stderr: rejected })
  t.match(await service.operate(['balances', '--all-merchants']), { code: 0, stdout: /Acme/, stderr: rejected })
  const [failed] = await payoutsOf(service, shop)
  const id = failed?.id ?? ''
  t.match(await run(['list', '--status', 'FAILED']), { code: 0, stdout: /49\.30 +GBP +FAILED/ })
  t.match(await service.operate(['explain', id.slice(-8)]), { code: 0, stdout: /payout of 49\.30 GBP/i })
  t.match(await run(['list', '--status', 'PAID', '--since', '1h', '--currency', 'gbp']), { code: 0, stdout: '' })
  t.match(await run(['show', id.slice(-8)]), {
    code: 0,
    stdout: /Status +FAILED\nFailure +INVALID_CREDITOR_ACCOUNT[^]*CREATED [^]*SENT [^]*FAILED /,
  })
  t.match(await operate(['list', '--merchant', shop.realm, '-o', 'id']), { code: 0, stdout: `${id}\n` })
  t.match(JSON.parse((await operate(['show', id, '--json'])).stdout), { payout_id: id, status: 'FAILED' })

  await payoutAccount(service, shop)
  t.match(await operate(['retry', id, '--dry-run', '--reason', 'another account']), {
    code: 0,
    stdout: /send the payout/,
  })
  const retried = await operate(['retry', id.slice(-8), '--reason', 'another account', '--json'])
  t.equal(retried.code, 0, retried.stderr)
  const next: string = JSON.parse(retried.stdout).payout_id
  await sendPayouts(app)
  t.match(await run(['show', next]), {
    code: 0,
    stdout: new RegExp(`PAID[^]*Settlement +${settlement}`),
  })
  t.match(await operate(['retry', next, '--reason', 'once more']), {
    code: 7,
    stderr: /it is paid[^]*svc payouts show/,
  })
})

t.test('a payout that is not there is exit code 6', async (t) => {
  t.match(await run(['show', 'ffffffff']), { code: 6, stderr: /payouts list/ })
  t.match(await operate(['retry', '0198c0de-0000-7000-8000-000000000001', '--reason', 'x']), { code: 6 })
})

provesLeaves(t, import.meta.filename)
