import t from 'tap'
import { makeAdminConnection } from '../../src/db/connection.ts'
import { keepBalancesOf } from '../../src/ledger/keep-balances.ts'
import { createPayouts } from '../../src/payouts/create-payouts.ts'
import { sendPayouts } from '../../src/payouts/send-payouts.ts'
import { closeDueSettlements } from '../../src/settlements/close-settlements.ts'
import { testService, until } from '../support/app.ts'
import type { TestMerchant } from '../support/app.ts'
import { brokenInvariants } from '../support/invariants.ts'
import { balancesOf } from '../support/ledger.ts'
import { refund, settledPayment } from '../support/payments.ts'
import { payoutAccount, payoutsOf, transfersOf } from '../support/payouts.ts'
import { startWorkerProcess } from '../support/worker-process.ts'

const service = await testService(t)
const { app, owner } = service
const headers = { 'x-platform-user': 'olga' }
const JOBS = ['keep-balances', 'close-settlements']

/** A merchant whose day has ended: two payments, one refunded in part, with a fee that is rounded when it is settled. */
async function dayOf(): Promise<TestMerchant> {
  const merchant = await service.merchant()
  await payoutAccount(service, merchant)
  const id = await settledPayment(service, merchant, { amount: '10.01' })
  await settledPayment(service, merchant, { amount: '50.00' })
  await refund(service, merchant, { id, body: { amount: '1.00' } })
  return merchant
}

/** Ends the merchant's day on its own clock. */
async function endDay({ id }: TestMerchant): Promise<void> {
  await owner.query(`insert into sandbox_clock_shifts values ($1, now(), '2 days')`, [id])
}

/** Where a worker stands still, and whether the merchant's balances were kept before. */
const STEPS = [
  { name: 'while its balances are kept', lock: 'lock table ledger_kept_balances in share row exclusive mode' },
  { name: 'while its lines are listed', lock: 'lock table settlement_lines in share row exclusive mode' },
  {
    name: 'while its lines are assigned',
    lock: 'select from settlement_lines where merchant_id = $1 for update',
    isKept: true,
  },
  { name: 'while its entry is posted', lock: 'lock table ledger_entries in share row exclusive mode', isKept: true },
  { name: 'while it is recorded', lock: 'lock table settlements in share row exclusive mode', isKept: true },
  {
    name: 'while its period is ended',
    lock: 'select from ledger_kept_balances where merchant_id = $1 for update',
    isKept: true,
  },
] as const

/** Has a worker stand still where it waits for this lock, and kills it there. */
async function killAt(lock: string, { id }: TestMerchant): Promise<void> {
  // It may be idle within its transaction for as long as a worker takes to start.
  const holder = await makeAdminConnection({ databaseUrl: service.databaseUrl })
  await holder.query('begin')
  await holder.query(lock, lock.includes('$1') ? [id] : [])
  const worker = await startWorkerProcess(t, service, JOBS)
  await until(async () => {
    // A worker waits for a lock for a second, and its jobs for a minute until they try again.
    for (const job of JOBS) app.wake.notify(job)
    const waiting = `select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query ~ '(fold_ledger|close_settlement)'`
    return (await owner.query(waiting)).rowCount !== 0
  })
  await worker.kill()
  await holder.query('rollback')
  await holder.end()
  await worker.lost()
}

for (const { name, lock, ...step } of STEPS)
  t.test(`a worker that is killed ${name} closes the settlement once, whole`, async (t) => {
    const merchant = await dayOf()
    if ('isKept' in step) await keepBalancesOf(app, merchant.id)
    await endDay(merchant)
    await killAt(lock, merchant)
    const left = await owner.query('select from settlements where merchant_id = $1', [merchant.id])
    t.equal(left.rowCount, 0, 'nothing of it is left')
    const { rows: assigned } = await owner.query(
      'select from settlement_lines where merchant_id = $1 and settlement_id is not null',
      [merchant.id],
    )
    t.equal(assigned.length, 0)

    await Promise.all([closeDueSettlements(app), closeDueSettlements(app)])
    await closeDueSettlements(app)
    const { rows } = await owner.query(
      `select gross_amount, fee_amount, refunded_amount, rounding_amount, payable_amount, line_count
       from settlements where merchant_id = $1`,
      [merchant.id],
    )
    t.match(rows, [
      { gross_amount: '60.0100', refunded_amount: '1.0000', payable_amount: /^\d+\.\d\d00$/, line_count: 6 },
    ])
    t.equal(rows.length, 1)
    t.not(rows[0].rounding_amount, '0.0000', 'it was rounded')
    t.match(await balancesOf(service, merchant), {
      GBP: { clearing: '0.0000', merchant_payable: rows[0].payable_amount },
    })

    await createPayouts(app)
    await sendPayouts(app)
    await createPayouts(app)
    t.match(await payoutsOf(service, merchant), [{ status: 'PAID', amount: rows[0].payable_amount }])
    t.equal((await transfersOf(service, merchant)).length, 1, 'and is paid by one transfer')
    const { body } = await service.call('GET', `/api/v1/admin/reconciliation?merchant_id=${merchant.id}`, { headers })
    t.same(body.differences, [])
  })

t.test('the ledger adds up after all of them', async (t) => {
  t.same(
    await brokenInvariants(owner, [
      'I10 every currency of the ledger sums to zero, and its balances are the recount',
      'LEDGER_HASH',
    ]),
    [],
  )
})
