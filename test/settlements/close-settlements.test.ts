import type { DatabaseTransactionConnection } from 'slonik'
import t from 'tap'
import { z } from 'zod'
import { makeAdminConnection, makePgConnection } from '../../src/db/connection.ts'
import { sql } from '../../src/db/sql.ts'
import { keepBalances } from '../../src/ledger/keep-balances.ts'
import type { Movement } from '../../src/ledger/movements.ts'
import { closeDueSettlements } from '../../src/settlements/close-settlements.ts'
import { closePeriod, listDuePeriods } from '../../src/settlements/sql.ts'
import { testService } from '../support/app.ts'
import { MONEY_OWED, brokenInvariants } from '../support/invariants.ts'
import { balancesOf, postFor } from '../support/ledger.ts'
import { times } from '../support/payments.ts'
import { until } from '../support/until.ts'

const service = await testService(t)
const { app, owner } = service

/** Lets time pass for a merchant, and closes what is due. */
async function pass(merchantId: string, by: string): Promise<void> {
  await keepBalances(app)
  await owner.query('select advance_sandbox_clock($1, array[]::uuid[], $2)', [merchantId, by])
  await closeDueSettlements(app)
}

async function settlementsOf(merchantId: string): Promise<Record<string, unknown>[]> {
  const { rows } = await owner.query<Record<string, unknown>>(
    `select kind, currency, opening_balance, gross_amount, fee_amount, refunded_amount, corrected_amount, rounding_amount,
       net_amount, payable_amount, line_count, bank_account_id
     from settlements where merchant_id = $1 order by currency, period_to`,
    [merchantId],
  )
  return rows
}

/** The lines that the transaction has read through an index until now. */
function linesRead(tx: DatabaseTransactionConnection): Promise<number> {
  return tx.oneFirst(sql.type(z.object({ count: z.int() }))`
    select idx_tup_fetch::int4 as count from pg_stat_xact_user_tables where relname = 'settlement_lines'
  `)
}

t.test('a day closes after midnight, with its totals, and its money becomes payable', async (t) => {
  const merchant = await service.merchant()
  await postFor(
    service,
    merchant.id,
    ['payment_settled', '50.0000'],
    ['fee_taken', '0.7125'],
    ['payment_refunded', '10.0000'],
    ['dispute_refunded', '5.0000'],
    ['payment_settled', '7.0000', 'EUR'],
  )
  await closeDueSettlements(app)
  t.same(await settlementsOf(merchant.id), [], 'the day has not ended')
  await pass(merchant.id, '1 day')
  await closeDueSettlements(app)
  t.match(await settlementsOf(merchant.id), [
    { kind: 'DAILY', currency: 'EUR', net_amount: '7.0000', rounding_amount: '0.0000', line_count: 1 },
    {
      kind: 'DAILY',
      currency: 'GBP',
      opening_balance: '0.0000',
      gross_amount: '50.0000',
      fee_amount: '0.7125',
      refunded_amount: '15.0000',
      corrected_amount: '0.0000',
      rounding_amount: '0.0025',
      net_amount: '34.2900',
      payable_amount: '34.2900',
      line_count: 5,
      bank_account_id: null,
    },
  ])
  t.match(await balancesOf(service, merchant), {
    GBP: { clearing: '0.0000', merchant_payable: '34.2900', rounding: '-0.0025', fees_earned: '0.7125' },
    EUR: { clearing: '0.0000', merchant_payable: '7.0000' },
  })
})

t.test('totals are rounded half up, and only where they are paid', async (t) => {
  const CASES: [fee: string, rounding: string, net: string, payable: string][] = [
    ['0.0049', '0.0049', '1.0000', '1.0000'],
    ['0.0050', '0.0050', '1.0000', '1.0000'],
    ['0.0051', '-0.0049', '0.9900', '0.9900'],
    ['0.0001', '0.0001', '1.0000', '1.0000'],
    ['0.0100', '0.0000', '0.9900', '0.9900'],
    ['0.9950', '0.0050', '0.0100', '0.0100'],
    ['0.9951', '0.0000', '0.0049', '0.0000'],
    ['1.0000', '0.0000', '0.0000', '0.0000'],
    ['1.0051', '0.0000', '-0.0051', '0.0000'],
  ]
  for (const [fee, rounding_amount, net_amount, payable_amount] of CASES) {
    const merchant = await service.merchant()
    await postFor(service, merchant.id, ['payment_settled', '1.0000'], ['fee_taken', fee])
    await pass(merchant.id, '1 day')
    t.match(await settlementsOf(merchant.id), [{ rounding_amount, net_amount, payable_amount }], fee)
  }
})

t.test('a debt remains in clearing, and later settlements open with it until it is paid off', async (t) => {
  const merchant = await service.merchant()
  await postFor(service, merchant.id, ['payment_settled', '1.0000'], ['payment_refunded', '3.5000'])
  await pass(merchant.id, '1 day')
  t.match(await balancesOf(service, merchant), { GBP: { clearing: '-2.5000', merchant_payable: '0.0000' } })
  await postFor(service, merchant.id, ['payment_settled', '1.5000'])
  await pass(merchant.id, '1 day')
  await pass(merchant.id, '1 day')
  await postFor(service, merchant.id, ['payment_settled', '4.0012'])
  await pass(merchant.id, '1 day')
  t.match(await settlementsOf(merchant.id), [
    { opening_balance: '0.0000', net_amount: '-2.5000', payable_amount: '0.0000', line_count: 2 },
    { opening_balance: '-2.5000', net_amount: '-1.0000', payable_amount: '0.0000', line_count: 1 },
    {
      opening_balance: '-1.0000',
      net_amount: '3.0000',
      payable_amount: '3.0000',
      rounding_amount: '-0.0012',
      line_count: 2,
    },
  ])
  t.match(await balancesOf(service, merchant), { GBP: { clearing: '0.0000', merchant_payable: '3.0000' } })
})

t.test('corrections are lines with their sign', async (t) => {
  const merchant = await service.merchant()
  await postFor(service, merchant.id, ['payment_settled', '10.0000'])
  await owner.query(
    `select post_ledger(array[
       row($1, 'correction', gen_random_uuid(), 'clearing', 'fees_earned', 3, 'GBP')::ledger_posting,
       row($1, 'correction', gen_random_uuid(), 'bank', 'clearing', 1, 'GBP')::ledger_posting
     ])`,
    [merchant.id],
  )
  await pass(merchant.id, '1 day')
  t.match(await settlementsOf(merchant.id), [{ corrected_amount: '-2.0000', net_amount: '8.0000', line_count: 3 }])
})

t.test('a settlement names the bank account that was added last, if it is active', async (t) => {
  const merchant = await service.merchant()
  const body = { account_holder_name: 'Acme Ltd', sort_code: '12-34-56', account_number: '12345678' }
  const account = await service.call('POST', '/api/v1/portal/bank-accounts', { merchant, body })
  t.equal(account.status, 201, account.text)
  await postFor(service, merchant.id, ['payment_settled', '1.0000'])
  await pass(merchant.id, '1 day')
  await service.call('DELETE', `/api/v1/portal/bank-accounts/${account.body.id}`, { merchant })
  await postFor(service, merchant.id, ['payment_settled', '1.0000'])
  await pass(merchant.id, '1 day')
  t.match(await settlementsOf(merchant.id), [{ bank_account_id: account.body.id }, { bank_account_id: null }])
})

t.test('a settlement in euros names the account that its payout goes to, which has an IBAN', async (t) => {
  const merchant = await service.merchant()
  const add = async (more: object): Promise<string> => {
    const body = { account_holder_name: 'Acme Ltd', sort_code: '20-20-15', account_number: '55555555', ...more }
    return (await service.call('POST', '/api/v1/portal/bank-accounts', { merchant, body })).body.id
  }
  await add({ account_number: '12345678' })
  await postFor(service, merchant.id, ['payment_settled', '1.0000', 'EUR'])
  await pass(merchant.id, '1 day')
  const withIban = await add({ iban: 'GB33BUKB20201555555555' })
  await add({ account_number: '87654321' })
  await postFor(service, merchant.id, ['payment_settled', '1.0000', 'EUR'])
  await pass(merchant.id, '1 day')
  t.match(await settlementsOf(merchant.id), [{ bank_account_id: null }, { bank_account_id: withIban }])
})

t.test('workers that close at once make one settlement of each period', async (t) => {
  const shops = await Promise.all([1, 2, 3].map(() => service.merchant()))
  for (const { id } of shops) {
    await postFor(service, id, ['payment_settled', '5.0000'], ['payment_settled', '6.0000', 'EUR'])
    await keepBalances(app)
    await owner.query('select advance_sandbox_clock($1, array[]::uuid[], $2)', [id, '1 day'])
  }
  await times(8, () => closeDueSettlements(app))
  for (const { id } of shops) t.match(await settlementsOf(id), [{ currency: 'EUR' }, { currency: 'GBP' }])
})

t.test(
  'where the connection is lost in the middle of closing, nothing is closed, and the next run closes all',
  async (t) => {
    const merchant = await service.merchant()
    await postFor(service, merchant.id, ['payment_settled', '5.0025'], ['fee_taken', '0.1000'])
    await keepBalances(app)
    await owner.query('select advance_sandbox_clock($1, array[]::uuid[], $2)', [merchant.id, '1 day'])
    const tables = ['settlements', 'settlement_lines', 'ledger_entries', 'ledger_unfolded', 'ledger_kept_balances']
    const rowsOf = async () =>
      Promise.all(tables.map(async (name) => (await owner.query(`select * from ${name} order by 1, 2`)).rows))
    const before = await rowsOf()
    const connect = () => makeAdminConnection({ databaseUrl: service.databaseUrl })
    const [blocker, worker] = [await connect(), await connect()]
    t.teardown(() => blocker.end())
    // The last step of closing waits for this row, when lines, entries and the settlement are written.
    await blocker.query('begin')
    await blocker.query('select from ledger_kept_balances where merchant_id = $1 for update', [merchant.id])
    const { rows: pids } = await worker.query('select pg_backend_pid() as pid')
    const closing = worker
      .query(`select close_settlement(gen_random_uuid(), $1, $2, false, 100, '-infinity')`, [merchant.id, 'GBP'])
      .then(
        () => 'closed',
        () => 'lost',
      )
    await until('closing waits', async () => {
      const waits = await owner.query(`select from pg_stat_activity where pid = $1 and wait_event_type = 'Lock'`, [
        pids[0].pid,
      ])
      return waits.rowCount === 1
    })
    await owner.query('select pg_terminate_backend($1)', [pids[0].pid])
    t.equal(await closing, 'lost')
    await blocker.query('rollback')
    t.same(await rowsOf(), before)
    await closeDueSettlements(app)
    t.match(await settlementsOf(merchant.id), [{ net_amount: '4.9000', rounding_amount: '-0.0025', line_count: 3 }])
  },
)

t.test('a period of many lines is closed in several statements of one transaction', async (t) => {
  const merchant = await service.merchant()
  for (let batch = 0; batch < 4; batch += 1) {
    const movements = Array.from({ length: 25 }, () => ['payment_settled', '1.0001'] as ['payment_settled', string])
    await postFor(service, merchant.id, ...movements)
  }
  await keepBalances(app)
  const period = { merchant_id: merchant.id, currency: 'GBP' }
  // All lines of a batch have one time.
  const close = (tx: DatabaseTransactionConnection, linesAtOnce: number) =>
    closePeriod(tx, { id: app.ids.uuid(), period, byHand: true, linesAtOnce })
  const takenBack = app.pool.transaction(async (tx) => {
    t.equal(await close(tx, 30), true)
    throw new Error('taken back')
  })
  await t.rejects(takenBack, { message: 'taken back' })
  t.equal(await app.pool.transaction((tx) => close(tx, 30)), true)
  t.equal(await app.pool.transaction((tx) => close(tx, 30)), false)
  t.match(await settlementsOf(merchant.id), [{ gross_amount: '100.0100', line_count: 100 }])
})

t.test('each statement reads and adds up its own lines only, and the totals are those of all', async (t) => {
  const merchant = await service.merchant()
  const PART = [
    ['payment_settled', '1000000000.0001'],
    ['fee_taken', '0.0003'],
    ['payment_refunded', '0.1000'],
    ['dispute_refunded', '0.2000'],
    ['debt_deducted', '0.4000'],
    ['debt_restored', '0.1500'],
  ] as [Exclude<Movement, 'correction'>, string][]
  for (let part = 0; part < 50; part += 1) await postFor(service, merchant.id, ...PART)
  await owner.query(
    `select post_ledger(array[row($1, 'correction', gen_random_uuid(), 'clearing', 'fees_earned', 3, 'GBP')::ledger_posting])`,
    [merchant.id],
  )
  await keepBalances(app)
  const period = { merchant_id: merchant.id, currency: 'GBP' }
  const read: number[] = []
  await app.pool.transaction(async (tx) => {
    const counting = Object.assign(Object.create(tx), {
      one: async (query: Parameters<typeof tx.one>[0]) => {
        const row = await tx.one(query)
        read.push(await linesRead(tx))
        return row
      },
    })
    t.equal(await closePeriod(counting, { id: app.ids.uuid(), period, byHand: true, linesAtOnce: 60 }), true)
  })
  const perCall = read.map((sum, index) => sum - (read[index - 1] ?? 0))
  t.equal(perCall.length, 6)
  t.ok(
    perCall.every((count) => count <= 2 * 60),
    `${perCall}`,
  )
  t.match(await settlementsOf(merchant.id), [
    {
      gross_amount: '50000000000.0050',
      fee_amount: '0.0150',
      refunded_amount: '15.0000',
      corrected_amount: '-3.0000',
      rounding_amount: '0.0000',
      net_amount: '49999999994.4900',
      line_count: 301,
    },
  ])
  const left = await owner.query('select from settlement_sums')
  t.equal(left.rowCount, 0, 'sums are there while a settlement is closed')
})

t.test(
  'where the schedule changes between the statements that close a period, none of its lines is assigned',
  async (t) => {
    const merchant = await service.merchant()
    for (let batch = 0; batch < 2; batch += 1) {
      const movements = Array.from({ length: 25 }, () => ['payment_settled', '1.0000'] as ['payment_settled', string])
      await postFor(service, merchant.id, ...movements)
    }
    await keepBalances(app)
    await owner.query('select advance_sandbox_clock($1, array[]::uuid[], $2)', [merchant.id, '1 day'])
    const schedule = (name: string) =>
      owner.query('update merchants set settlement_schedule = $2 where id = $1', [merchant.id, name])
    const period = { merchant_id: merchant.id, currency: 'GBP' }
    const closing = app.pool.transaction((tx) => {
      const changing = Object.assign(Object.create(tx), {
        one: async (query: Parameters<typeof tx.one>[0]) => {
          const row = await tx.one(query)
          await schedule('MANUAL')
          return row
        },
      })
      return closePeriod(changing, { id: app.ids.uuid(), period, byHand: false, linesAtOnce: 30 })
    })
    await t.rejects(closing, { message: /schedule of the merchant was changed/ })
    const { rows } = await owner.query(
      'select count(*)::int4 as count from settlement_lines where merchant_id = $1 and settlement_id is null',
      [merchant.id],
    )
    t.same(rows, [{ count: 50 }])
    await schedule('DAILY')
    await closeDueSettlements(app)
    t.match(await settlementsOf(merchant.id), [{ gross_amount: '50.0000', line_count: 50 }])
  },
)

t.test('an entry whose transaction commits after its period has closed is in the next one', async (t) => {
  const merchant = await service.merchant()
  const late = await makeAdminConnection({ databaseUrl: service.databaseUrl })
  t.teardown(() => late.end())
  await late.query('begin')
  await late.query(
    `select post_ledger(array[row($1, 'payment_settled', gen_random_uuid(), 'bank', 'clearing', 9, 'GBP')::ledger_posting])`,
    [merchant.id],
  )
  await postFor(service, merchant.id, ['payment_settled', '5.0000'])
  await pass(merchant.id, '1 day')
  await late.query('commit')
  await pass(merchant.id, '1 minute')
  t.match(await settlementsOf(merchant.id), [{ gross_amount: '5.0000' }])
  await pass(merchant.id, '1 day')
  t.match(await settlementsOf(merchant.id), [{ gross_amount: '5.0000' }, { gross_amount: '9.0000' }])
})

t.test('a merchant that failed to close does not keep the others open', async (t) => {
  const [broken, fine] = [await service.merchant(), await service.merchant()]
  for (const { id } of [broken, fine]) {
    await postFor(service, id, ['payment_settled', '5.0000'])
    await keepBalances(app)
    await owner.query('select advance_sandbox_clock($1, array[]::uuid[], $2)', [id, '1 day'])
  }
  await owner.query(
    `create function refuse_settlement() returns trigger language plpgsql as $$ begin raise 'no room'; end $$`,
  )
  await owner.query(
    `create trigger refuse before insert on settlements for each row when (new.merchant_id = '${broken.id}') execute function refuse_settlement()`,
  )
  const [first, ...others] = await listDuePeriods(app.pool, 100)
  t.equal(others.length, 1)
  t.same(await listDuePeriods(app.pool, 1), [first])
  t.same(await listDuePeriods(app.pool, 1, first), others, 'a page begins behind the one before')
  t.same(await listDuePeriods(app.pool, 1, others[0]), [])
  await t.rejects(closeDueSettlements(app), { message: /^1 of a job's items failed/ })
  t.equal((await settlementsOf(broken.id)).length, 0)
  t.equal((await settlementsOf(fine.id)).length, 1)
  await owner.query('drop trigger refuse on settlements')
  await closeDueSettlements(app)
  t.equal((await settlementsOf(broken.id)).length, 1)
})

t.test('one run closes every period of a merchant that has ended', async (t) => {
  const merchant = await service.merchant()
  for (const amount of ['1.0000', '2.0000', '3.0000']) {
    await postFor(service, merchant.id, ['payment_settled', amount])
    await keepBalances(app)
    await owner.query('select advance_sandbox_clock($1, array[]::uuid[], $2)', [merchant.id, '1 day'])
  }
  t.same(await closeDueSettlements(app), { more: false })
  const amounts = (await settlementsOf(merchant.id)).map((settlement) => settlement['gross_amount'])
  t.same(amounts, ['1.0000', '2.0000', '3.0000'])
})

t.test('the role of the service can close and read settlements, and write nothing else', async (t) => {
  const client = await makePgConnection({ databaseUrl: service.databaseUrl, onError: () => undefined })
  t.teardown(() => client.end())
  await client.query('set role svc_runtime')
  for (const statement of [
    'update settlements set payable_amount = 1',
    'delete from settlements',
    'insert into settlements select * from settlements',
    'update settlement_lines set settlement_id = null',
    'delete from settlement_lines',
    'insert into settlement_lines select * from settlement_lines',
  ])
    await t.rejects(client.query(statement), { code: '42501' }, statement)
})

t.test('after all of this, settlements, their lines and the ledger agree', async (t) => {
  t.same(await brokenInvariants(owner, MONEY_OWED), [])
})
