import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { insertSettledAfterFailure } from '../../src/payments/unanswered-sql.ts'
import { runReconciliation } from '../../src/reconciliation/run-reconciliation.ts'
import { createPayment } from '../support/app.ts'
import { britishFile } from '../support/bank-files.ts'
import { paidPayment, realService } from './real-service.ts'

const service = await realService(t)
const { owner } = service
const merchant = await service.merchant()

t.test('svc reconcile says that all adds up, and with --fail-on-diff ends with 3 where it does not', async (t) => {
  const paymentId = await paidPayment(service, merchant)
  const fine = await service.as(merchant, ['reconcile', '--fail-on-diff'])
  t.match(fine, { code: 0, stdout: /Differences +none[^]*GBP +settled 50\.00, fees 0\.70, refunded 0\.00/ })
  t.match(await service.as(merchant, ['balances']), { code: 0, stdout: /GBP +49\.30 +0\.00/ })
  t.match(await service.operate(['balances', '--merchant', merchant.realm]), {
    code: 0,
    stdout: new RegExp(`Acme +${merchant.realm} +GBP +49\\.30`),
    stderr: /GBP: bank 50\.00, owed 49\.30, fees 0\.70, rounding 0\.00/,
  })
  t.match(await service.operate(['balances', '--all-merchants', '-o', 'csv']), { code: 0, stdout: /^currency,/ })
  await owner.query('begin')
  await owner.query('set local session_replication_role = replica')
  await owner.query(
    'update payment_intents set gross_amount = 5000, amount = 5000, net_amount = 5000 - fee_amount where id = $1',
    [paymentId],
  )
  await owner.query('commit')
  const words = ['reconcile', '--merchant', merchant.realm]
  const broken = await service.operate([...words, '--fail-on-diff'])
  t.match(broken, {
    code: 3,
    stdout:
      /PAYMENT_LEDGER[^]*5000\.00 +50\.00[^]*settled 5000\.00 \(ledger 50\.00\)|settled 5000\.00 \(ledger 50\.00\)[^]*PAYMENT_LEDGER/,
  })
  t.match(await service.operate(words), { code: 0 }, 'without the flag it only reports')
  const json = JSON.parse((await service.operate([...words, '-o', 'json'])).stdout)
  t.match(json, {
    is_balanced: false,
    differences: [{ kind: 'PAYMENT_LEDGER', subject: paymentId }, { kind: 'BANK_DEBIT' }],
  })
  t.match(await service.operate(['reconcile', '--as-of', 'someday']), { code: 2 })
  await owner.query('delete from reconciliations')
  t.match(await service.operate(['reconcile', '--last']), { code: 0, stderr: /has not run yet/ })
  await t.resolves(runReconciliation(service.app, new AbortController().signal))
  t.match(await service.operate(['reconcile', '--last']), {
    code: 0,
    stdout: /Status +DIFFERENT[^]*Differences +2[^]*PAYMENT_LEDGER +Acme /,
  })
  t.match(await service.operate(['reconcile', '--last', '--fail-on-diff']), { code: 3 })
  t.match(await service.operate(['inbox']), { stdout: /the books have 2 differences[^]*svc reconcile --last/ })
  t.match(await service.operate(['reconcile', '--last', '--since', '1d']), { code: 2 })
})

t.test('what a bank settled after the payment had failed is resolved, one way or the other', async (t) => {
  const shop = await service.merchant()
  const late = async (): Promise<string> => {
    const { payment_id: id } = (await createPayment(service, shop, { amount: '20.00' })).body
    await service.call('POST', `/api/v1/payments/${id}/cancel`, { merchant: shop })
    await insertSettledAfterFailure(service.app.pool, { id, merchantId: shop.id, bankReference: 'P-1' })
    return id
  }
  const why = ['--reason', 'the bank says so']
  const books = ['reconcile', '--merchant', shop.realm, '--fail-on-diff']
  const id = await late()
  t.match(await service.operate(['inbox']), { stdout: new RegExp(`svc payments resolve ${id}`) })
  t.match(await service.operate(books), { code: 3, stdout: /SETTLED_AFTER_FAILURE +Acme[^]*none +20\.00 +GBP/ })
  for (const flags of [[], ['--returned', '--credited'], ['--not-taken', '--returned']])
    t.match(await service.operate(['payments', 'resolve', id, ...flags, ...why]), { code: 2 })
  t.match(await service.operate(['payments', 'resolve', id, '--not-taken', ...why]), { code: 7 })
  t.match(await service.operate(['payments', 'resolve', id, '--credited', ...why, '--dry-run']), {
    stderr: /Nothing was changed/,
  })
  t.match(await service.operate(['payments', 'resolve', id, '--credited', ...why]), { code: 0, stdout: /Failed/ })
  t.match(await service.as(shop, ['balances']), { stdout: /GBP +20\.00/ })
  t.match(await service.operate(['payments', 'resolve', await late(), '--returned', ...why]), { code: 0 })
  t.match(await service.operate(books), { code: 0 })
})

t.test('an unmatched line of a statement belongs to no merchant', async (t) => {
  const on = new Date(Date.now() - 4 * 86_400_000).toISOString().slice(0, 10)
  const cwd = t.testdir({ 'bank.xml': britishFile([{ amount: '7.77', ref: 'GIFT', text: 'A GIFT', on }]) })
  await service.operate(['statements', 'import', 'bank.xml'], { cwd })
  t.match(await service.operate(['reconcile', '--all-merchants', '--fail-on-diff']), {
    code: 3,
    stdout: /STATEMENT_LINE_UNKNOWN +- +\S+ +none +7\.77 +GBP/,
  })
  await t.resolves(runReconciliation(service.app, new AbortController().signal))
  await owner.query('update reconciliations set next_run_at = now()')
  await t.resolves(runReconciliation(service.app, new AbortController().signal))
  t.match(await service.operate(['reconcile', '--last']), { stdout: /STATEMENT_LINE_UNKNOWN +- / }, 'and is kept')
})

t.test('reconciling large books may take longer than other requests', async (t) => {
  const readLocked = async () => {
    await owner.query('begin')
    await owner.query('lock table payment_intents in access exclusive mode')
    const began = performance.now()
    const reading = service.operate(['reconcile', '--all-merchants'], { env: { SVC_TIMEOUT: '500ms' } })
    // Longer than other requests may take, and shorter than the service waits for a lock.
    await delay(800)
    await owner.query('commit')
    return { read: await reading, locked: performance.now() - began }
  }
  // Where a stall of the machine held the lock for longer, the service may rightly have given up.
  let { read, locked } = await readLocked()
  for (let again = 0; again < 4 && read.code !== 0 && locked > 900; again += 1) ({ read, locked } = await readLocked())
  t.match(read, { code: 0, stdout: /Compared/ })
})

t.test('a CSV file is imported by its columns; a line is resolved by hand', async (t) => {
  const dir = t.testdir({
    'bank.csv': 'Date,Details,Paid out,Paid in\n22/11/2026,FEE,0.35,\n',
    'latin.csv': Buffer.from([0xe9]),
  })
  const settings = { cwd: dir }
  const csv = ['--account', '20-20-15 55555555', '--currency', 'GBP', '--date-format', 'DD/MM/YYYY']
  const columns = ['--columns', 'date=Date,credit=Paid in,debit=Paid out,reference=Details']
  const dry = await service.operate(['statements', 'import', 'bank.csv', ...csv, ...columns, '--dry-run'], settings)
  t.match(dry, { code: 0, stderr: /Nothing was changed/ })
  const done = await service.operate(['statements', 'import', 'bank.csv', ...csv, ...columns], settings)
  t.match(done, {
    code: 0,
    stdout: /20201555555555/,
    stderr: /1 new, 0 known before; 0 matched now\n[^]*--state unmatched/,
  })
  t.match(await service.operate(['statements', 'import', 'bank.csv', ...csv, ...columns], settings), {
    stderr: /0 new, 1 known/,
  })
  t.match(await service.operate(['statements', 'lines', '--state', 'unmatched']), { stdout: /2026-11-22 +-0\.35 +GBP/ })
  const id = (await service.operate(['statements', 'lines', '-o', 'id'])).stdout.trim()
  const resolved = await service.operate(['statements', 'resolve', id.slice(-8), '--reason', "the bank's fee"])
  t.match(resolved, { code: 0, stdout: /Matched by +MANUAL/ })
  t.match(await service.operate(['statements', 'resolve', id, '--reason', 'x']), { code: 6 })
  for (const [words, message] of [
    [['bank.csv', ...columns], /needs --columns, --account and --currency/],
    [['bank.csv', ...csv, '--columns', 'day=Date'], /"day=Date" is not <what>=<column>/],
    [['bank.csv', ...csv, '--columns', 'date=Day,amount=Paid in'], /there is no column "Day"/],
    [['latin.csv', ...csv, ...columns], /can't read latin\.csv as text/],
    [['nothing.xml'], /can't read nothing\.xml/],
  ] as const)
    t.match(await service.operate(['statements', 'import', ...words], settings), { code: 2, stderr: message })
  writeFileSync(join(dir, 'huge.xml'), Buffer.alloc(10 * 1024 * 1024 + 1, 32))
  t.match(await service.operate(['statements', 'import', 'huge.xml'], settings), {
    code: 2,
    stderr: /at most 10485760/,
  })
  writeFileSync(
    join(dir, 'evil.xml'),
    britishFile([]).replace('?>\n', '?>\n<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>\n'),
  )
  t.match(await service.operate(['statements', 'import', 'evil.xml'], settings), {
    code: 2,
    stderr: /document type/,
  })
  t.match(await service.operate(['statements', 'missing']), { code: 0 })
})
