import t from 'tap'
import type { Test } from 'tap'
import type { TestMerchant } from '../support/app.ts'
import { startReceiver } from '../support/receiver.ts'
import { countRows } from '../support/rows.ts'
import { until } from '../support/until.ts'
import { makeDead, paidPayment, realService } from './real-service.ts'

t.test('operators see the deliveries of all merchants, filtered, page by page', async (t) => {
  const service = await realService(t)
  const receiver = await startReceiver(t)
  const one = await service.merchant({ webhookUrl: receiver.url })
  const two = await service.merchant({ webhookUrl: receiver.url })
  const payment = await paidPayment(service, one)
  await service.as(two, ['webhooks', 'test', 'dispute.opened', '--wait'])
  await until('all are delivered', async () => {
    return (
      (await service.operate(['webhooks', 'list', '--all-merchants', '--status', 'PENDING', '-o', 'id'])).stdout === ''
    )
  })
  const list = async (...words: string[]): Promise<string> =>
    (await service.operate(['webhooks', 'list', '--all-merchants', ...words])).stdout
  t.match(
    await list(),
    new RegExp(`ID +MERCHANT +REALM +EVENT[^]*Acme +${two.realm} +dispute\\.opened \\(test\\) +DELIVERED +200`),
  )
  t.equal(await list('--merchant', two.realm, '-q', '[].event_type'), 'dispute.opened\n')
  t.equal(await list('--event', 'dispute.opened', '-q', '[].realm_slug'), `${two.realm}\n`)
  t.equal((await list('--payment', payment.slice(-8), '-o', 'id')).trim().split('\n').length, 3)
  const page = await service.operate(['webhooks', 'list', '--all-merchants', '--limit', '1'])
  t.match(page.stderr, /There are more: --cursor \S+, or --all\n/)
  t.equal((await list('--all', '-o', 'id')).trim().split('\n').length, 4)
  t.match(await service.operate(['webhooks', 'list', '--all-merchants', '--status', 'DEAD']), {
    code: 0,
    stdout: '',
    stderr: /no such/,
  })
})

t.test('an operator sends a dead delivery of any merchant again, and nothing else', async (t) => {
  const service = await realService(t)
  const receiver = await startReceiver(t)
  const merchant = await service.merchant({ webhookUrl: receiver.url })
  const other = await service.merchant()
  const { stdout } = await service.as(merchant, ['webhooks', 'test', '--wait', '-o', 'id'])
  const id = stdout.trim()
  const replay = (...words: string[]) => service.operate(['webhooks', 'replay', '--all-merchants', ...words])
  const list = new RegExp(`Try: svc webhooks list --merchant ${merchant.id} --status DEAD\n`)
  t.match(await replay(id), { code: 7, stderr: list })
  t.match(await replay(id, '--dry-run'), { code: 7, stdout: '', stderr: /is DELIVERED; only a DEAD one/ })
  await makeDead(service, [id])
  const before = await countRows(service.owner)
  t.match(await replay(id, '--merchant', other.realm), { code: 6, stderr: /Try: svc webhooks list --all-merchants\n/ })
  t.match(await replay(id.slice(-8), '--merchant', other.realm), { code: 6, stderr: /merchant's delivery not found/ })
  t.match(await replay(merchant.id), { code: 6, stderr: /merchant's delivery not found/ }, 'an id of something else')
  t.match(await replay('01a1fd03-f879-7eb7-872f-a2b4358c4f6d'), {
    code: 6,
    stderr: /Try: svc webhooks list --all-merchants\n/,
  })
  t.match(await replay(id, '--merchant', 'nobody'), { code: 6, stderr: /Try: svc merchants list\n/ })
  t.match(await replay(), { code: 2, stderr: /which deliveries/ })
  t.match(await replay(id, '--reason', ' '), { code: 2, stderr: /audit trail/ })
  t.match(await replay(id, '--dry-run'), {
    code: 0,
    stdout: new RegExp(`${id} +Acme`),
    stderr: 'Nothing was changed: these would be sent again.\n',
  })
  t.same(await countRows(service.owner), before)
  t.match(await replay(id.slice(-8), '--reason', 'their server is back'), {
    code: 0,
    stdout: new RegExp(`${id} +Acme +${merchant.realm} .* PENDING`),
  })
  await until('it is delivered again', () => receiver.receipts.length === 2)
  const audit = await service.operate(['audit', 'list', '--merchant', merchant.realm, '-q', '[0].reason'])
  t.equal(audit.stdout, 'their server is back\n')
})

/** Two merchants, each with deliveries that are dead; the receiver of both. */
async function dead(t: Test) {
  const service = await realService(t)
  const receiver = await startReceiver(t)
  const merchants = [
    await service.merchant({ webhookUrl: receiver.url }),
    await service.merchant({ webhookUrl: receiver.url }),
  ] as const
  const sent = async (merchant: TestMerchant): Promise<string> =>
    (await service.as(merchant, ['webhooks', 'test', '--wait', '-o', 'id'])).stdout.trim()
  const ids = [await sent(merchants[0]), await sent(merchants[0]), await sent(merchants[1])]
  await makeDead(service, ids)
  return { service, merchants, ids }
}

t.test('what list -o id prints is what replay takes, of all merchants; one refused keeps no other back', async (t) => {
  const { service, ids } = await dead(t)
  const listed = (await service.operate(['webhooks', 'list', '--all-merchants', '--status', 'DEAD', '-o', 'id'])).stdout
    .trim()
    .split('\n')
  t.same(listed.toSorted(), ids.toSorted())
  const words = ['webhooks', 'replay', '--all-merchants', ...listed, '--reason', 'x']
  const { code, stdout } = await service.operate([...words, '-o', 'id'])
  t.equal(code, 0)
  t.equal(stdout.trim(), listed.join('\n'))
  await until('all are delivered', async () => {
    return (
      (
        await service.operate(['webhooks', 'list', '--all-merchants', '--status', 'DELIVERED', '-o', 'id'])
      ).stdout.split('\n').length === 4
    )
  })
  await makeDead(service, ids.slice(0, 1))
  const some = await service.operate(words)
  t.match(some, { code: 7, stderr: /only a DEAD|not DEAD|DEAD/ })
  t.equal(some.stdout.trim().split('\n').length, 2, 'a header and the one that was dead')
})

t.test("all of a merchant's are replayed one after the other, of a time, and a dry run only counts", async (t) => {
  const { service, merchants, ids } = await dead(t)
  await service.owner.query("update webhook_deliveries set created_at = now() - interval '3 hours' where id = $1", [
    ids[0],
  ])
  const [{ realm }] = merchants
  const all = ['webhooks', 'replay', '--status', 'DEAD', '--merchant', realm]
  const before = await countRows(service.owner)
  const count = async (...words: string[]): Promise<string> =>
    (await service.operate([...all, '--dry-run', ...words, '-q', 'matching'])).stdout
  t.equal(await count(), '2\n')
  t.equal(await count('--since', '2h'), '1\n')
  t.equal(await count('--until', '2h'), '1\n')
  t.equal(await count('--event', 'dispute.opened'), '0\n')
  for (const [words, stderr] of [
    [['--status', 'DEAD'], /Those of one merchant/],
    [['--since', '2h'], /say --status DEAD as well/],
    [[ids[0] ?? '', '--status', 'DEAD'], /either ids, or --status DEAD/],
    [['--status', 'FAILED'], /DEAD/],
    [['--status', 'DEAD', '--merchant', realm, '--since', 'yesterday'], /--since/],
  ] as const)
    t.match(
      await service.operate(['webhooks', 'replay', '--all-merchants', ...words]),
      { code: 2, stdout: '', stderr },
      words.join(' '),
    )
  t.same(await countRows(service.owner), before)
  t.match(await service.operate([...all, '--since', '2h', '--reason', 'back']), {
    code: 0,
    stdout: /Dead +1\nSent again +1\n/,
  })
  const left = await service.operate(['webhooks', 'list', '--all-merchants', '--status', 'DEAD', '-o', 'id'])
  t.same(
    left.stdout.trim().split('\n').toSorted(),
    [ids[0], ids[2]].toSorted(),
    "the older one and another merchant's stay",
  )
})
