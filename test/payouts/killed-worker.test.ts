import { randomUUID } from 'node:crypto'
import t from 'tap'
import { makeAdminConnection } from '../../src/db/connection.ts'
import { collectReturns } from '../../src/payouts/collect-returns.ts'
import { createPayouts } from '../../src/payouts/create-payouts.ts'
import { sendPayouts } from '../../src/payouts/send-payouts.ts'
import { testService, until } from '../support/app.ts'
import { balancesOf } from '../support/ledger.ts'
import {
  closedSettlement,
  passPayoutTimes,
  payableMerchant,
  payoutWebhooksOf,
  payoutsOf,
  transfersOf,
} from '../support/payouts.ts'
import { startWorkerProcess } from '../support/worker-process.ts'

const service = await testService(t)
const { app, owner } = service
const OPERATOR = { 'x-platform-user': 'olga' }
const JOBS = ['create-payouts', 'send-payouts', 'collect-payout-returns']

/** Where a worker stands still when a table can't be written, and what is left when it is killed there. */
const STEPS = [
  { name: 'while it is created', table: 'ledger_entries', left: [], booked: 0 },
  { name: 'before it is marked as sent', table: 'payout_events', created: true, left: ['CREATED'], booked: 0 },
  { name: 'before the bank is asked', table: 'mock_bank.payouts', left: ['SENT'], booked: 0 },
  { name: 'while the bank books it', table: 'transfers', left: ['SENT'], booked: 0 },
  { name: 'before the answer is recorded', table: 'ledger_entries', created: true, left: ['SENT'], booked: 1 },
] as const

async function run(): Promise<void> {
  await createPayouts(app)
  await sendPayouts(app)
  await collectReturns(app)
}

/** Has a worker stand still where it writes to a table, and kills it there. */
async function killAt(table: string): Promise<void> {
  // It may be idle within its transaction for as long as a worker takes to start.
  const holder = await makeAdminConnection({ databaseUrl: service.databaseUrl })
  await holder.query(`begin; lock table ${table} in share row exclusive mode`)
  const worker = await startWorkerProcess(t, service, JOBS)
  await until(async () => {
    const { rowCount } = await owner.query(`select from pg_locks l where l.relation = $1::regclass and not l.granted`, [
      table,
    ])
    return rowCount !== 0
  })
  await worker.kill()
  await holder.query('rollback')
  await holder.end()
  await worker.lost()
}

for (const { name, table, left, booked, ...step } of STEPS)
  t.test(`a worker that is killed ${name} neither loses nor repeats the payout`, async (t) => {
    const merchant = await payableMerchant(service)
    if ('created' in step) await createPayouts(app)
    await killAt(table)
    t.same(
      (await payoutsOf(service, merchant)).map(({ status }) => status),
      left,
    )
    t.equal((await transfersOf(service, merchant)).length, booked)
    await passPayoutTimes(service, merchant)
    await run()
    await run()
    t.match(await payoutsOf(service, merchant), [{ status: 'PAID', amount: '49.3000' }])
    t.same(await transfersOf(service, merchant), [4930])
    t.same(
      (await payoutWebhooksOf(service, merchant)).map(({ type }) => type),
      ['payout.created', 'payout.paid'],
    )
    t.match(await balancesOf(service, merchant), { GBP: { merchant_payable: '0.0000', payouts_in_transit: '0.0000' } })
  })

t.test('a worker that is killed while a return is recorded takes the money back once', async (t) => {
  const merchant = await payableMerchant(service)
  const body = { merchant_id: merchant.id, return_payout: '100%' }
  await service.call('PUT', '/api/v1/sandbox/bank/faults', { headers: OPERATOR, body })
  await createPayouts(app)
  await sendPayouts(app)
  await killAt('ledger_entries')
  t.match(await payoutsOf(service, merchant), [{ status: 'PAID' }])
  await run()
  await run()
  t.match(await payoutsOf(service, merchant), [{ status: 'RETURNED' }])
  t.match(await balancesOf(service, merchant), { GBP: { merchant_payable: '49.3000', bank: '49.3000' } })
  t.same(
    (await payoutWebhooksOf(service, merchant)).map(({ type }) => type),
    ['payout.created', 'payout.paid', 'payout.returned'],
  )
})

t.test('two workers at once, one killed on the way, pay every merchant once', async (t) => {
  const merchants = await Promise.all(Array.from({ length: 12 }, () => payableMerchant(service)))
  const workers = [await startWorkerProcess(t, service, JOBS), await startWorkerProcess(t, service, JOBS)]
  const paid = async (): Promise<number> => {
    const { rows } = await owner.query(
      "select count(*)::int as count from payouts where status = 'PAID' and merchant_id = any ($1)",
      [merchants.map(({ id }) => id)],
    )
    return rows[0].count
  }
  await until(async () => (await paid()) > 0)
  await workers[0]?.kill()
  await Promise.all(merchants.map((merchant) => closedSettlement(service, merchant, { amount: '1.0000' })))
  await until(async () => {
    await run()
    for (const merchant of merchants) await passPayoutTimes(service, merchant)
    const { rowCount } = await owner.query(
      `select from settlements s where s.merchant_id = any ($1) and not exists (
         select from payouts p where p.merchant_id = s.merchant_id and p.id = s.payout_id and p.status = 'PAID'
       )`,
      [merchants.map(({ id }) => id)],
    )
    return rowCount === 0
  })
  await workers[1]?.kill()
  for (const merchant of merchants) {
    const transfers = await transfersOf(service, merchant)
    t.equal(
      transfers.reduce((sum, amount) => sum + amount, 0),
      5030,
    )
    t.equal((await payoutWebhooksOf(service, merchant)).length, 2 * transfers.length)
  }
  const { rows } = await owner.query(`select count(*)::int as count from ledger_recount group by currency having
    sum(case normal_side when 'debit' then balance else -balance end) <> 0`)
  t.same(rows, [], 'the ledger sums to zero')
})

t.test('a silent bank is asked again, later each time, and makes one transfer', async (t) => {
  const merchant = await payableMerchant(service)
  const silence = (unavailable?: string) =>
    service.call('PUT', '/api/v1/sandbox/bank/faults', {
      headers: OPERATOR,
      body: { merchant_id: merchant.id, ...(unavailable === undefined ? {} : { unavailable }) },
    })
  await silence('100%')
  const seconds: number[] = []
  for (let turn = 0; turn < 5; turn += 1) {
    await run()
    const { rows } = await owner.query(
      'select extract(epoch from next_attempt_at - updated_at)::int as seconds from payouts where merchant_id = $1',
      [merchant.id],
    )
    seconds.push(rows[0].seconds)
    await passPayoutTimes(service, merchant)
  }
  t.same(seconds, [10, 20, 40, 80, 160])
  t.match(await payoutsOf(service, merchant), [{ status: 'SENT', attempt_count: 5 }])
  t.equal((await transfersOf(service, merchant)).length, 1, 'of which one was heard')
  await owner.query(
    "update merchants set payout_held = true, payout_held_at = now(), payout_held_by = 'olga' where id = $1",
    [merchant.id],
  )
  await silence()
  await run()
  t.match(await payoutsOf(service, merchant), [{ status: 'PAID' }], 'a hold does not stop what is sent')
  t.same(await transfersOf(service, merchant), [4930])
})

t.test('what the bank returns was paid, also where its answer was lost', async (t) => {
  const merchant = await payableMerchant(service)
  const body = { merchant_id: merchant.id, return_payout: '100%', unavailable: '100%' }
  await service.call('PUT', '/api/v1/sandbox/bank/faults', { headers: OPERATOR, body })
  for (let turn = 0; turn < 6; turn += 1) {
    await run()
    await passPayoutTimes(service, merchant)
  }
  t.match(await payoutsOf(service, merchant), [{ status: 'RETURNED', bank_reference: /^MB/ }])
  t.same(
    (await payoutWebhooksOf(service, merchant)).map(({ type }) => type),
    ['payout.created', 'payout.paid', 'payout.returned'],
  )
})

t.test('a bank that knows the id with other terms leaves the payout SENT', async (t) => {
  const merchant = await payableMerchant(service)
  await createPayouts(app)
  const [payout] = await payoutsOf(service, merchant)
  await owner.query(
    `insert into mock_bank.payouts (payout_id, merchant_id, amount, currency, creditor_hash, bank_reference)
     values ($1, $2, 1, 'GBP', repeat('0', 64), $3)`,
    [payout?.id, merchant.id, randomUUID()],
  )
  await run()
  t.match(await payoutsOf(service, merchant), [{ status: 'SENT', failure_code: null }])
  t.match(await balancesOf(service, merchant), { GBP: { merchant_payable: '0.0000', payouts_in_transit: '49.3000' } })
})
