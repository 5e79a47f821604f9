import { randomUUID } from 'node:crypto'
import t from 'tap'
import { numberText } from '../../cli/open-banking/named-account.ts'
import { createPayment } from '../support/app.ts'
import { addCustomer } from '../support/customers.ts'
import { realService } from './real-service.ts'

const service = await realService(t)
const { operate } = service

/** What is on the accounts together in pounds, by another way than the table's. */
function sumOf(accounts: readonly { balance: string; currency: string }[]): string {
  const pence = accounts
    .filter(({ currency }) => currency === 'GBP')
    .reduce((sum, { balance }) => sum + BigInt(balance.replace('.', '')), 0n)
  return `${String(pence).replace(/(\d\d)$/, '.$1')} GBP`
}

t.test('a customer is made from flags, and its accounts are listed', async (t) => {
  const words = ['sandbox', 'customers', 'create', '--name', 'Ada Payer', '--email', 'ada@example.org']
  const made = await operate([...words, '--account', '500.00', '--account', 'EUR:20', '--overdraft', '50', '--json'])
  t.equal(made.code, 0, made.stderr)
  const customer = JSON.parse(made.stdout)
  t.match(customer, {
    name: 'Ada Payer',
    email: 'ada@example.org',
    client_id: null,
    accounts: [
      { balance: '500.00', currency: 'GBP', overdraft_limit: '50.00' },
      { balance: '20.00', currency: 'EUR', overdraft_limit: '50.00' },
    ],
  })
  t.match(await operate(words), { code: 7, stderr: /email: ada@example\.org belongs to another customer/ })
  const shown = ['--mobile', '+447700900200', '--proxy-id', 'shown', '--balance', '250.00']
  const table = await operate(['sandbox', 'customers', 'create', ...shown])
  t.match(table, { code: 0, stdout: /Mobile +\+447700900200\nProxy id +shown\n\nID +CUSTOMER.*\n.* 250\.00 .*\n$/ })
  t.match(table.stderr, /svc ob --customer customer-[0-9a-f]{12} accounts/)

  const mine = ['sandbox', 'accounts', '--customer', customer.customer_id]
  t.same(JSON.parse((await operate([...mine, '--json'])).stdout), customer.accounts)
  t.match(await operate(mine), {
    code: 0,
    stdout: /^ID +CUSTOMER +NAME +ACCOUNT +BALANCE[^]*Ada Payer +00-00-75 \d{8} +500\.00/,
  })
  t.match(await operate([...mine, '-o', 'csv']), { stdout: /^account_id,customer_id,name,[^\n]+\n[^\n]+,500\.00,/ })
  const first = await operate([...mine, '--limit', '1', '-o', 'id'])
  t.match(first, { stdout: `${customer.accounts[0].account_id}\n`, stderr: /--cursor \S+, or --all/ })
  t.match(await operate(['sandbox', 'accounts', '--customer', 'nobody']), { stderr: 'There are no such accounts.\n' })
  const merchant = await service.merchant()
  t.match(await operate(['sandbox', 'accounts', '--merchant', merchant.realm, '--json']), { code: 0, stdout: '[]\n' })
})

t.test('what is no customer is refused before anything is sent, and --dry-run sends nothing', async (t) => {
  const create = ['sandbox', 'customers', 'create']
  t.match(await operate([...create, '--account', 'USD:5']), {
    code: 2,
    stderr: /invalid balance "USD:5"[^]*EUR:20\.00/,
  })
  t.match(await operate([...create, '--balance', 'much']), { code: 2, stderr: /--balance: invalid balance "much"/ })
  t.match(await operate([...create, '--balance', '5', '--account', '6']), { code: 2, stderr: /cannot be used with/ })
  t.match(await operate([...create, '--mobile', '07700', '--dry-run']), { code: 2, stderr: /\+447700900123/ })
  t.match(await operate([...create, '--name', 'Nobody', '--dry-run']), {
    code: 0,
    stdout: /POST .*\/sandbox\/customers/,
  })
  const { rows } = await service.owner.query(`select from customers where name = 'Nobody'`)
  t.equal(rows.length, 0)
})

t.test('an account is blocked, opened and overdrawn; what can not be is refused', async (t) => {
  const id = (await operate(['sandbox', 'customers', 'create', '-q', 'accounts[0].account_id'])).stdout.trim()
  const set = (...words: string[]) => operate(['sandbox', 'account', 'set', ...words])
  t.match(await set(id, '--status', 'blocked'), { code: 0, stdout: /Status +Blocked/ })
  t.match(await set(id, '--status', 'enabled', '--overdraft', '25.00', '-q', 'overdraft_limit'), { stdout: '25.00\n' })
  t.match(await set(id), { code: 2, stderr: /--status blocked/ })
  t.match(await set(id, '--status', 'gone'), { code: 2 })
  t.match(await set('nobody', '--status', 'closed'), {
    code: 6,
    stderr: /account of the bank not found: nobody\nTry: svc sandbox accounts\n$/,
  })
  const [account] = JSON.parse((await operate(['sandbox', 'accounts', '--json', '--all'])).stdout).filter(
    (each: { account_id: string }) => each.account_id === id,
  )
  const numbers: string[] = account.identifications.map((each: { Identification: string }) => each.Identification)
  for (const name of [id.slice(-8), ...numbers, numbers[0]?.slice(-8) ?? '', numberText(numbers[0] ?? '')])
    t.match(await set(name, '--status', 'enabled', '-o', 'id'), { code: 0, stdout: `${id}\n` }, name)
  for (const unknown of ['00007500000000', '00000000', 'ffffffff', randomUUID()])
    t.match(await set(unknown, '--status', 'closed'), { code: 6, stderr: /Try: svc sandbox accounts\n/ }, unknown)
  await service.owner.query(
    `select book_transfer(gen_random_uuid(), $1, null, 101000, 'GBP', 'Ada', 'Shop', 'shoes')`,
    [id],
  )
  t.match(await set(id, '--overdraft', '0'), { code: 7, stderr: /overdrawn by 10\.00/ })
})

t.test('the same seed makes the same bank, and the books tell whether money was made or lost', async (t) => {
  const seed = ['sandbox', 'seed', '--seed', '7', '--customers', '2', '--days', '10']
  const made = await operate(seed)
  t.match(made, {
    code: 0,
    stdout: /^Seed +7\nTransactions +\d\d+\n\nCUSTOMER +NAME.*TOTAL\n(customer-[0-9a-f]{12} .* \d+\.\d\d GBP.*\n){2}$/,
  })
  const { customers } = JSON.parse((await operate([...seed, '--json'])).stdout)
  for (const { accounts } of customers) t.ok((await operate(seed)).stdout.includes(sumOf(accounts)))
  t.match(await operate([...seed, '--json']), { code: 0, stdout: /"transactions":0,"already_there":2\}/ })
  t.match(await operate([...seed, '-o', 'id']), { code: 0, stdout: /^(customer-[0-9a-f]{12}\n){2}$/ })
  t.match(await operate(['sandbox', 'seed', '--days', '0']), { code: 2, stderr: /days/ })
  t.match(await operate(['sandbox', 'seed', '--customers', 'many']), { code: 2, stderr: /whole number/ })
  const books = ['sandbox', 'books']
  t.match(await operate(books), { code: 0, stdout: /Balanced +yes[^]*CUR +ACCOUNTS[^]*GBP +\d+/ })
  t.match(await operate([...books, '-q', 'is_balanced']), { code: 0, stdout: 'true\n' })
  await service.owner.query('update accounts set balance_minor = balance_minor + 1 where currency = $1', ['EUR'])
  t.match(await operate(books), { code: 3, stdout: /Balanced +NO[^]*EUR +.* 0\.01 +1\n/ })
  t.match(await operate([...books, '-o', 'csv']), { code: 3, stdout: /^currency,accounts,[^\n]+\nEUR,1,/ })
  t.match(await operate([...books, '--json']), { code: 3, stdout: /"is_balanced":false/ })
})

t.test("the bank's faults are set, shown and cleared", async (t) => {
  const { id, realm } = await service.merchant()
  const bank = (...words: string[]) => operate(['sandbox', 'bank', ...words, '--merchant', realm])
  const flags = ['--latency', '250ms', '--drop-callback', '20%', '--duplicate', '10%', '--seed', '7']
  t.match(await bank('fault', ...flags, '--dry-run'), { code: 0, stdout: /PUT .*\/sandbox\/bank\/faults/ })
  t.match(await bank('faults'), { code: 0, stdout: /Latency +none\n/ })
  t.match(await bank('fault', ...flags), {
    code: 0,
    stdout:
      /Latency +250ms\nCallbacks lost +20%\nCallbacks twice +10%\nWithout answer +none\nPayouts failed +none\nPayouts returned +none\nSeed +7\n/,
    stderr: /svc sandbox bank fault --clear/,
  })
  t.match(JSON.parse((await bank('faults', '--json')).stdout), { merchant_id: id, drop_callback: '20%', calls: 0 })
  t.match(await bank('fault', '--clear'), { code: 0, stdout: /Latency +none\nCallbacks lost +none\n/, stderr: '' })
  t.match(await bank('fault'), { code: 2, stderr: /there is no fault to set[^]*--clear/ })
  t.match(await bank('fault', '--seed', '7'), { code: 2, stderr: /there is no fault to set/ })
  t.match(await bank('fault', '--clear', '--latency', '1s'), { code: 2, stderr: /--clear .* alone/ })
  t.match(await bank('fault', '--latency', 'soon'), { code: 2, stderr: /latency/ })
  t.match(await bank('fault', '--latency', '2m'), { code: 2, stderr: /at most 60s/ })
  t.match(await bank('fault', '--drop-callback', '0.2'), { code: 2, stderr: /drop.callback.*20%/ })
  t.match(await bank('fault', '--unavailable', '101%'), { code: 2, stderr: /unavailable/ })
  t.match(await bank('fault', '--latency', '1s', '--seed', 'x'), { code: 2, stderr: /seed/ })
  t.match(await operate(['sandbox', 'bank', 'faults']), { code: 2, stderr: /--merchant <merchant>/ })
  t.match(await operate(['sandbox', 'bank', 'faults', '--merchant', randomUUID()]), { code: 6 })
  const list = await operate(['sandbox', 'bank', 'list'])
  t.match(list, { code: 0, stdout: /insufficient-funds +\S.*insufficient funds/ })
  t.equal((await operate(['sandbox', 'bank', 'list', '-o', 'id'])).stdout.trim().split('\n').length, 20)
})

t.test('the payer and the bank of a payment are played by commands', async (t) => {
  const merchant = await service.merchant()
  const pay = async (scenario = 'success-slow-settle:1h') =>
    String((await createPayment(service, merchant, { scenario })).body.payment_id)
  const first = await pay()
  const closed = await operate(['sandbox', 'bank', 'approve', first, '--no-return'])
  t.match(closed, { code: 0, stdout: /Is +AwaitingAuthorisation\n/, stderr: /The service does not know yet/ })
  const late = await operate(['sandbox', 'bank', 'cancel', first])
  t.match(late, { code: 3, stdout: /Is +Authorised\n/, stderr: /was approved at the bank before.*first decision/ })
  t.match(await operate(['sandbox', 'bank', 'approve', first]), { code: 0, stdout: /Is +Authorised\n/, stderr: '' })
  const second = await pay()
  await operate(['sandbox', 'bank', 'cancel', second, '--no-return'])
  const refusing = await operate(['sandbox', 'bank', 'approve', second])
  t.match(refusing, { code: 3, stdout: /Is +Failed\n/, stderr: /was cancelled at the bank before/ })
  t.match(await operate(['sandbox', 'bank', 'cancel', first]), { code: 7, stderr: /is Authorised/ })
  t.match(await operate(['sandbox', 'advance', first, '--dry-run']), { code: 0, stdout: /"to":"Settled"/ })
  t.match(await operate(['sandbox', 'advance', first]), { code: 0, stdout: /Was +Authorised\nIs +Settled\n/ })
  t.match(await operate(['sandbox', 'bank', 'approve', first]), { code: 7, stderr: /is Settled/ })
  t.match(await operate(['sandbox', 'bank', 'cancel', first]), { code: 7, stderr: /is Settled/ })
  t.match(await operate(['sandbox', 'bank', 'approve', second]), { code: 7, stderr: /is Failed/ })
  t.match(await operate(['sandbox', 'advance', first, '--to', 'Refunded', '-q', 'new_status']), {
    stdout: 'Refunded\n',
  })
  t.match(await operate(['sandbox', 'advance', first]), { code: 7, stderr: /can no longer become Settled/ })
  t.match(await operate(['sandbox', 'bank', 'cancel', await pay()]), { code: 0, stdout: /Is +Failed\n/ })
  const refused = await operate(['sandbox', 'advance', await pay('fraud-stop')])
  t.match(refused, { code: 3, stdout: /Is +Failed\n/, stderr: /did not become Settled/ })
  t.match(await operate(['sandbox', 'advance', first, '--to', 'Initiated']), { code: 2 })
  t.match(await operate(['sandbox', 'advance', randomUUID()]), { code: 6 })
  t.match(await operate(['sandbox', 'advance']), { code: 2, stderr: /which payment/ })
})

t.test('what a silent bank has heard is said not to be known', async (t) => {
  const merchant = await service.merchant()
  const { body } = await createPayment(service, merchant)
  const fault = ['sandbox', 'bank', 'fault', '--merchant', merchant.realm]
  t.equal((await operate([...fault, '--unavailable', '100%'])).code, 0)
  const silent = await operate(['sandbox', 'bank', 'approve', String(body.payment_id)])
  t.match(silent, { stderr: /may have received the call[^]*Try: svc payments show [0-9a-f-]{36}/ })
  t.not(silent.code, 0)
  await operate([...fault, '--clear'])
})

t.test('time passes for a merchant and customers, is set forwards, and is shown', async (t) => {
  const clock = ['sandbox', 'clock']
  const [merchant, { externalId }] = [await service.merchant(), await addCustomer(service)]
  const mine = ['--merchant', merchant.realm]
  const both = await operate([...clock, 'advance', '36h', ...mine, '--customer', externalId])
  t.match(both, {
    code: 0,
    stdout: /Merchant +\S+\nCustomers +customer-\S+\nAdvanced by +36h\nDue times passed +0/,
  })
  t.match(await operate([...clock, 'show', ...mine]), { code: 0, stdout: /Time +20\S+Z\nAhead by +1 day 12 hours\n/ })
  const show = async () => JSON.parse((await operate([...clock, 'show', '--customer', externalId, '--json'])).stdout)
  const before = await show()
  t.match(before, { merchant_id: null, customer_id: externalId, ahead_ms: 129_600_000 })

  const next = new Date(Date.parse(before.now) + 86_400_000).toISOString()
  t.match(await operate([...clock, 'set', next, '--customer', externalId]), { code: 0, stdout: /Advanced to +20/ })
  t.ok((await show()).now >= next)
  t.match(await operate(['sandbox', 'bank', 'reject', 'a2b4358c']), {
    code: 2,
    stderr: /is now svc payments create --scenario/,
  })
  const back = await operate([...clock, 'set', next, '--customer', externalId])
  t.match(back, { code: 2, stderr: /<moment>: is in the past: the clock is at 20\S+ and can't go back/ })
  t.match(await operate([...clock, 'set', 'tomorrow', ...mine]), {
    code: 2,
    stderr: /invalid time[^]*svc sandbox clock set 20/,
  })
  t.match(await operate([...clock, 'advance', '1h']), { code: 2, stderr: /which merchant[^]*--merchant <merchant>/ })
  const unknown = await operate([...clock, 'advance', '1h', '--customer', 'nobody'])
  t.match(unknown, { stderr: /--customer: the bank has no such customer/ })
})
