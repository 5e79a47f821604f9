import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { untilText } from '../../cli/base/ages.ts'
import { makeDead, realService } from './real-service.ts'
import { runCli } from './harness.ts'

const NOW = Date.parse('2026-11-21T12:00:00Z')

t.test('a deadline is shown in its largest unit, and never later than it is', async (t) => {
  const text = (due: string) => untilText(due, NOW)
  t.equal(text('2026-11-21T15:59:00Z'), 'in 3 h')
  t.equal(text('2026-11-24T11:00:00Z'), 'in 2 d')
  t.equal(text('2026-11-21T12:05:30Z'), 'in 5 min')
  t.equal(text('2026-11-21T12:00:30Z'), 'in 30 s')
  t.equal(text('2026-11-19T11:00:00Z'), '2 d over')
  t.equal(text('2026-11-21T10:30:00Z'), '1 h over')
})

t.test(
  "svc inbox is the operators' or the merchant's, by who one is, and its commands run as they stand",
  async (t) => {
    const service = await realService(t, { worker: true })
    const empty = await service.operate(['inbox'])
    t.match(empty, { code: 0, stdout: '', stderr: 'No tasks need action.\n' })
    const merchant = await service.merchant({ webhookUrl: 'http://127.0.0.1:9/' })
    const pending = await service.merchant({ kybStatus: 'PENDING' })
    const sent = await service.as(merchant, ['webhooks', 'test', '-o', 'id'])
    await makeDead(service, [sent.stdout.trim()])

    const table = await service.operate(['inbox'])
    t.match(table, {
      code: 0,
      stdout: new RegExp(`DUE +KIND +MERCHANT +WHAT +COMMAND\n[^]*in \\d+ (h|d) +kyb_pending +Acme `),
    })
    const typed = await service.operate(['inbox'], { calledAs: 'npx svc' })
    t.match(typed.stdout, / npx svc kyb show \S+\n/, 'in a checkout, where no shell finds svc')
    const commands = await service.operate(['inbox', '-q', '[].command'])
    t.same(commands.stdout.trim().split('\n').toSorted(), [
      `svc kyb show ${pending.realm}`,
      `svc webhooks list --merchant ${merchant.realm} --status DEAD`,
    ])
    for (const line of commands.stdout.trim().split('\n')) {
      const [, ...words] = line.split(' ')
      t.match(await service.operate(words), { code: 0, stdout: /\S/ }, line)
    }
    const json = await service.as(merchant, ['inbox', '--json'])
    t.match(JSON.parse(json.stdout), [
      { kind: 'deliveries_dead', count: 1, command: 'svc webhooks replay --status DEAD' },
    ])
    const own = await service.as(merchant, ['inbox'])
    t.match(own.stdout, /DUE +KIND +WHAT +COMMAND\n/)
    t.match(await service.as(pending, ['inbox', '-o', 'id']), { stdout: `${pending.id}\n` })
    const asOperator = await service.as(merchant, ['inbox', '--platform', '-o', 'jsonl', '--limit', '1'])
    t.equal(asOperator.stdout.trim().split('\n').length, 1)
    t.match(asOperator.code, 0)
    t.match((await service.operate(['inbox', '--limit', '1'])).stderr, /There are more: --cursor \S+, or --all\n/)
    t.equal((await service.operate(['inbox', '--limit', '1', '--all', '-o', 'id'])).stdout.trim().split('\n').length, 2)
    t.match(await service.operate(['inbox', '--limit', '0']), { code: 2, stderr: /--limit/ })
    t.match(await service.operate(['inbox', '--cursor', 'x']), { code: 2, stderr: /cursor/ })
  },
)

t.test('the built-in profile is the operator, or with --merchant the merchant, and hints at the other', async (t) => {
  const service = await realService(t, { worker: false })
  const merchant = await service.merchant()
  const dir = t.testdir({})
  const state = {
    api_url: service.url,
    auth_url: null,
    demo_url: service.url,
    database_url: 'postgres://nobody@127.0.0.1/none',
    state_dir: dir,
    pid: process.pid,
    merchant: { id: merchant.id, client_id: merchant.clientId, webhook_secret: 'none' },
    operator: null,
    customer: null,
  }
  writeFileSync(join(dir, 'svc.json'), JSON.stringify(state))
  const inbox = (...words: string[]) =>
    runCli(['inbox', ...words], { calledAs: 'npx svc', env: { SVC_STATE_DIR: dir } })
  t.match(await inbox(), {
    code: 0,
    stdout: '',
    stderr: /as the operator; as the merchant: npx svc inbox --merchant\n/,
  })
  t.match(await inbox('--merchant'), {
    code: 0,
    stderr: /as the merchant; as the operator: npx svc inbox --platform\n/,
  })
  t.match(await inbox('--merchant', '--platform'), { code: 2 })
  await service.merchant({ kybStatus: 'PENDING' })
  t.match(await inbox(), { code: 0, stdout: /kyb_pending/ })
  t.match(await inbox('--merchant'), { code: 0, stdout: '' })
  const named = await runCli(['inbox'], { env: { SVC_STATE_DIR: dir, SVC_CLIENT_ID: merchant.clientId } })
  t.match(named, { code: 0, stdout: '', stderr: 'No tasks need action.\n' }, 'who names one is that one')
})

t.test('without a service it says so', async (t) => {
  t.match(await runCli(['inbox', '--api-url', 'http://127.0.0.1:9']), { code: 8, stderr: /can't be reached/ })
})

t.test('operators list and show the payments of all merchants', async (t) => {
  const service = await realService(t, { worker: false })
  const one = await service.merchant()
  const two = await service.merchant()
  const create = async (merchant: typeof one) =>
    (
      await service.as(merchant, ['payments', 'create', '--amount', '5.00', '--currency', 'GBP', '-o', 'id'])
    ).stdout.trim()
  const ids = [await create(one), await create(two)]
  const list = await service.operate(['payments', 'list', '--all-merchants'])
  t.match(
    list.stdout,
    new RegExp(`ID +MERCHANT +REALM +STATUS +AMOUNT[^]*Acme +${two.realm} +AwaitingAuthorisation +5\\.00 +GBP`),
  )
  t.match(await service.operate(['payments', 'list', '--all-merchants', '--merchant', one.realm, '-o', 'id']), {
    stdout: `${ids[0]}\n`,
  })
  t.match(await service.operate(['payments', 'list', '--all-merchants', '--status', 'Settled']), {
    code: 0,
    stdout: '',
    stderr: /no such/,
  })
  const exported = (await service.operate(['payments', 'export', '--merchant', one.realm])).stdout.split('\r\n')
  t.match(exported, [/^payment_id,.*,realm_slug,trading_name$/, new RegExp(`^${ids[0]},.*,${one.realm},Acme$`), ''])
  t.notMatch(exported[0], 'redirect_url')
  t.match(
    (await service.operate(['payments', 'list', '--fees', '--all-merchants'])).stdout,
    /REALM +STATUS +GROSS +FEE +NET/,
  )
  t.match(await service.operate(['payments', 'list', '--all-merchants', '--status', 'nonsense']), { code: 2 })
  t.match(await service.operate(['payments', 'list', '--all-merchants', '--merchant', 'nobody']), { code: 6 })
  const short = ids[1]?.slice(-8) ?? ''
  t.match(await service.operate(['payments', 'show', short, '--all-merchants']), {
    stdout: new RegExp(`Payment +${ids[1]}\nMerchant +Acme \\(${two.realm}\\)\n`),
  })
  t.match(await service.operate(['payments', 'show', short, '--all-merchants', '-q', 'merchant_id']), {
    stdout: `${two.id}\n`,
  })
  t.match(await service.operate(['payments', 'show', 'ffffffff', '--all-merchants']), {
    code: 6,
    stderr: /Try: svc payments list --all-merchants\n/,
  })
  t.match(await service.operate(['merchants', 'payment']), { code: 2 })
})
