import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { planPayments } from '../../cli/sandbox/seed/plan.ts'
import { seedDemo } from '../../cli/sandbox/seed/seed-demo.ts'
import { SCRATCH } from '../support/scratch.ts'
import { until } from '../support/until.ts'
import { run as runLine } from '../../cli/entry/run.ts'
import { makeIo, runCli } from './harness.ts'
import { realService } from './real-service.ts'
import { provesLeaves } from './ran.ts'

const DISPUTES_KEPT = ['OPEN', 'UNDER_REVIEW', 'ESCALATED']

t.test('a seed makes shops that trade, and what waits for operators; once for each number', async (t) => {
  const { url, as, operate, merchant: addMerchant } = await realService(t)
  const merchant = await addMerchant()
  const run = (words: string[]) => as(merchant, words, { env: { SVC_PLATFORM_USER: 'ada' } })
  const words = ['sandbox', 'seed', '--merchants', '3', '--payments', '60']
  const made = await run([...words, '--json'])
  t.equal(made.code, 0, made.stderr)
  const trade = JSON.parse(made.stdout)
  t.match(trade, {
    seed: 1,
    already_there: false,
    merchants: ['Harbour Coffee', 'Northwind Books', 'Tin Whistle Toys'],
    payments: 60,
    held: ['Northwind Books'],
    kyb_pending: ['Bramble Bakery', 'Lantern Street Records', 'Pell & Daughter Shoes'],
  })
  t.same(Object.keys(trade.by_status).toSorted(), [
    'Authorised',
    'AwaitingAuthorisation',
    'Failed',
    'Refunded',
    'Settled',
  ])
  t.equal(JSON.parse((await run(['payments', 'list', '--limit', '100', '--json'])).stdout).length > 0, true)
  const disputes = JSON.parse((await operate(['disputes', 'list', '--all', '--json'])).stdout)
  t.equal(disputes.length, trade.disputes)
  const statuses = new Set(disputes.map(({ status }: { status: string }) => status))
  for (const status of DISPUTES_KEPT) t.ok(statuses.has(status), status)
  const dead = JSON.parse(
    (await operate(['webhooks', 'list', '--all-merchants', '--status', 'DEAD', '--all', '--json'])).stdout,
  )
  t.equal(dead.length, trade.dead_deliveries)
  t.ok(dead.length > 0)
  const list = async (noun: string) =>
    JSON.parse((await operate([noun, 'list', '--all-merchants', '--all', '--json'])).stdout)
  t.equal((await list('settlements')).length, trade.settlements)
  await until('payouts are PAID and FAILED', async () => {
    const payouts = new Set((await list('payouts')).map(({ status }: { status: string }) => status))
    return payouts.has('PAID') && payouts.has('FAILED')
  })
  t.match(await operate(['balances', '--all-merchants']), {
    stderr: /Northwind Books: .* is not paid out: payouts are held/,
  })
  t.match(await operate(['reconcile', '--fail-on-diff']), { code: 0 })
  t.equal((await operate(['sandbox', 'books', '-q', 'is_balanced'])).stdout, 'true\n')

  const again = await run([...words, '--json'])
  t.match(JSON.parse(again.stdout), { already_there: true, payments: 0 })
  t.match(await run(words), { code: 0, stderr: /there already/ })
  const other = await run(['sandbox', 'seed', '--seed', '2', '--merchants', '1', '--payments', '0'])
  t.match(other, { code: 0, stdout: /Shops +Harbour Coffee 2\n/ })
  t.match(
    other.stderr,
    /0 of 0 payments; shop Harbour Coffee 2\n0 of 0 payments; disputes/,
    'it says how far it is also in a pipe',
  )

  const words9 = ['sandbox', 'seed', '--seed', '9', '--merchants', '2', '--payments', '60']
  const { io, stdout, stderr } = makeIo({ env: { SVC_API_URL: url, SVC_PLATFORM_USER: 'ada' } })
  // Interrupted as soon as its first shop is told, when it has most of its work before it.
  const write = io.stderr.write.bind(io.stderr)
  io.stderr.write = (text) => {
    write(text)
    if (text.includes('; shop ')) process.emit('SIGINT', 'SIGINT')
  }
  t.equal(await runLine(words9, io), 130)
  t.equal(stdout.join(''), '')
  t.match(stderr.join(''), /interrupted; what there is of seed 9 stays/)
  t.match(stderr.join(''), /Try: svc .*sandbox seed --merchants 2 --payments 60 --seed 10\n/)
  const count = async () =>
    JSON.parse((await operate(['merchants', 'list', '--search', 'Coffee 9', '--json'])).stdout).length
  t.equal(await count(), 1)
  t.match(await run(words9), { code: 7, stderr: /seed 9 was begun here and has not come to its end/ })
  t.equal(await count(), 1, 'a number that was used makes nothing')
})

t.test('the same number plans the same payments, every ending among the first', (t) => {
  const plan = { seed: 7, payments: 40, shares: [50, 5, 45] }
  t.same(planPayments(plan), planPayments(plan))
  t.notSame(planPayments(plan), planPayments({ ...plan, seed: 8 }))
  const endings = new Set(planPayments({ ...plan, payments: 11 }).map(({ ending }) => JSON.stringify(ending)))
  t.equal(endings.size, 11)
  t.end()
})

t.test('a seed is refused before anything is made, and --dry-run says what it would make', async (t) => {
  const nowhere = ['--api-url', 'http://127.0.0.1:9']
  const run = (words: string[]) => runCli(['sandbox', 'seed', ...words, ...nowhere])
  t.match(await run(['--merchants', '0']), { code: 2, stderr: /--merchants: must be from 1 to 8/ })
  t.match(await run(['--payments', 'many']), { code: 2, stderr: /whole number/ })
  t.match(await run(['--merchants', '2', '--days', '9']), { code: 2, stderr: /two commands/ })
  const dry = await run(['--payments', '9', '--dry-run', '--json'])
  t.match(JSON.parse(dry.stdout), { dry_run: true, seed: 1, merchants: 3, payments: 9 })
  t.equal((await run(['--payments', '9'])).code, 8)
  const { stdout } = await runCli(['sandbox', 'seed', '--help'])
  t.match(stdout.replaceAll(/\s+/g, ' '), /the planned payments.*ids and times are new each time.*A seed is used once/)
})

t.test('svc up --seed demo fills the service that has just started, and runs on where it can not', async (t) => {
  const { url, merchant: addMerchant } = await realService(t)
  const { id, clientId } = await addMerchant()
  const merchant = {
    id,
    client_id: clientId,
    client_secret: null,
    realm: 'demo',
    webhook_secret: '',
    email: null,
    password: null,
  }
  const said: string[] = []
  const state = { api_url: url, auth_url: null, merchant, operator: null }
  const small = { seed: 1, merchants: 1, payments: 4 }
  await seedDemo(state, (line) => void said.push(line), small)
  t.match(said.at(-1), /^Seeded 4 payments, \d disputes and \d settlements\.$/)
  await seedDemo(state, (line) => void said.push(line), small)
  t.equal(said.at(-1), 'The demo is there already.')
  await seedDemo({ ...state, api_url: 'http://127.0.0.1:9' }, (line) => void said.push(line), small)
  t.match(said.at(-1), /could not be seeded.*Everything else runs/)
  t.match(await runCli(['up', '--seed', 'everything']), { code: 2, stderr: /--seed/ })
})

t.test('svc sandbox reset removes the database of the state directory, once that is confirmed', async (t) => {
  const stateDir = realpathSync(mkdtempSync(join(SCRATCH, 'svc-reset-')))
  const dataDirectory = join(stateDir, 'postgres')
  const run = (words: string[], settings = {}) =>
    runCli(['sandbox', 'reset', ...words, '--state-dir', stateDir], settings)
  t.match(await run(['--yes']), { code: 6, stderr: /no database of its own/ })
  const put = (): void => {
    mkdirSync(dataDirectory, { recursive: true })
    writeFileSync(join(dataDirectory, 'PG_VERSION'), '18\n')
    writeFileSync(
      join(stateDir, 'postgres.json'),
      JSON.stringify({ password: 'ab'.repeat(16), port: null, dataDirectory }),
    )
    writeFileSync(join(stateDir, 'master.key'), 'kept')
  }
  put()
  t.match(await run([]), { code: 2, stderr: /--yes/ })
  t.match(await run([], { typed: 'no' }), { code: 2, stderr: /not confirmed/ })
  t.match(await run(['--dry-run']), { code: 0, stdout: /Would remove/ })
  t.ok(existsSync(dataDirectory), 'nothing was removed')
  t.match(await run([], { typed: 'reset' }), { code: 0, stdout: /Removed/ })
  t.notOk(existsSync(dataDirectory))
  put()
  t.match(JSON.parse((await run(['--yes', '--json'])).stdout), { dry_run: false, removed: dataDirectory })
  t.equal(readFileSync(join(stateDir, 'master.key'), 'utf8'), 'kept')
  const foreign = mkdtempSync(join(SCRATCH, 'svc-foreign-'))
  writeFileSync(join(foreign, 'PG_VERSION'), '18\n')
  writeFileSync(
    join(stateDir, 'postgres.json'),
    JSON.stringify({ password: 'ab'.repeat(16), port: null, dataDirectory: foreign }),
  )
  t.match(await run(['--yes']), { code: 2, stderr: /names a database elsewhere/ })
  t.ok(existsSync(join(foreign, 'PG_VERSION')), "somebody else's database is not taken away")
})

provesLeaves(t, import.meta.filename)
