import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { postFor } from '../support/ledger.ts'
import { runCli } from './harness.ts'
import { realService } from './real-service.ts'

const service = await realService(t, {})
const shop = await service.merchant()
const env = { SVC_CLIENT_ID: shop.clientId }
const run = (words: readonly string[], cwd?: string) =>
  runCli(['settlements', ...words, '--api-url', service.url], { env, ...(cwd === undefined ? {} : { cwd }) })

t.test('a merchant closes, lists, shows and exports a settlement', async (t) => {
  await postFor(service, shop.id, ['payment_settled', '50.00'], ['fee_taken', '0.7025'], ['payment_refunded', '1.00'])
  t.match(await run(['close', '--dry-run']), { code: 0, stdout: /settle what is owed/ })
  t.match(await run(['list']), { code: 0, stdout: '', stderr: /no such settlements/ })
  const closed = await run(['close', '-o', 'id'])
  t.equal(closed.code, 0, closed.stderr)
  const id = closed.stdout.trim()
  t.match(await run(['close']), { code: 0, stderr: /no such settlements/ })
  t.match(await run(['list', '--status', 'CLOSED', '--since', '2d']), { code: 0, stdout: /50\.00 .*48\.30 +GBP/ })
  t.match(await run(['show', id.slice(-8)]), { code: 0, stdout: /Payable +48\.30 GBP[^]*Lines +4/ })
  const lines = await run(['lines', id])
  for (const line of [/PAYMENT +50\.00/, /FEE +-0\.7025/, /REFUND +-1\.00/, /ROUNDING +0\.0025/])
    t.match(lines, { code: 0, stdout: line })
  const dir = t.testdir({})
  t.match(await run(['export', id, '--file', 'lines.csv'], dir), { code: 0, stderr: /Exported 4 lines/ })
  t.match(readFileSync(join(dir, 'lines.csv'), 'utf8'), /^id,kind,payment_id,[^]*,ROUNDING,,,,,0\.0025,GBP,/)
  const operated = await service.operate(['settlements', 'list', '--merchant', shop.realm])
  t.match(operated, { code: 0, stdout: /48\.30/ })
  t.match(await service.operate(['settlements', 'show', id.slice(-8)]), { code: 0, stdout: /Payable +48\.30 GBP/ })
  t.match(await service.operate(['settlements', 'lines', id]), { code: 0, stdout: /FEE +-0\.7025/ })
  const explained = { code: 0, stdout: /settlement of 48\.30 GBP/i }
  t.match(await runCli(['explain', id.slice(-8), '--api-url', service.url], { env }), explained)
  t.match(await service.operate(['explain', id.slice(-8)]), explained)
  t.match(await service.operate(['settlements', 'export', id, '-o', 'jsonl']), { code: 0, stdout: /"ROUNDING"/ })
})

t.test('the schedule is shown and set, by operators with a reason', async (t) => {
  t.match(await run(['schedule', 'show']), { code: 0, stdout: /DAILY/ })
  t.match(await run(['schedule', 'set', 'WEEKLY']), { code: 0, stdout: /WEEKLY/ })
  const why = ['--reason', 'agreed']
  t.match(await service.operate(['merchants', 'schedule', shop.realm, 'MANUAL', ...why]), { code: 0 })
  t.match(await run(['schedule', 'show', '-o', 'id']), { code: 0, stdout: 'MANUAL\n' })
  t.match(await run(['schedule', 'set', 'HOURLY']), { code: 2 })
})

t.test('a settlement that is not there is exit code 6', async (t) => {
  t.match(await run(['show', 'ffffffff']), { code: 6, stderr: /settlements list/ })
})
