import t from 'tap'
import type { DatabaseTransactionConnection } from 'slonik'
import { hoursWithoutRun } from '../../src/alerts/sql.ts'
import { keepBalances } from '../../src/ledger/keep-balances.ts'
import { compareEverything, runReconciliation } from '../../src/reconciliation/run-reconciliation.ts'
import { testService } from '../support/app.ts'
import { byHandOf } from '../support/by-hand.ts'
import { settledPayment } from '../support/payments.ts'

const service = await testService(t)
const { app, owner } = service
const byHand = byHandOf(owner)
const headers = await service.operator('SUPPORT')
const never = new AbortController().signal

async function runs(query = '') {
  const { body } = await service.call('GET', `/api/v1/admin/reconciliations${query}`, { headers })
  return body
}

/** The tasks of operators about the reconciliation. */
async function tasks() {
  const { body } = await service.call('GET', '/api/v1/admin/inbox', { headers })
  return body.data.filter(({ kind }: { kind: string }) => kind.startsWith('reconciliation'))
}

const makeDue = () => owner.query(`update reconciliations set next_run_at = now() - interval '1 second'`)

async function gauge(name: string) {
  return (await app.metrics.registry.getSingleMetric(name)?.get())?.values ?? []
}

const merchant = await service.merchant()
const paymentId = await settledPayment(service, merchant, { amount: '50.00' })
await keepBalances(app)
const { rows: ages } = await owner.query(`update merchants set created_at = now() - interval '3 days' returning id`)
t.equal(ages.length, 1)

t.test('a run is kept, once a day, whichever processes try', async (t) => {
  await Promise.all([1, 2, 3].map(() => runReconciliation(app, never)))
  await runReconciliation(app, never)
  const { data } = await runs()
  t.equal(data.length, 1)
  t.match(data[0], {
    status: 'BALANCED',
    difference_count: 0,
    differences: [],
    failure: null,
    totals: [{ merchant_id: merchant.id, settled_amount: '50.00', ledger_settled_amount: '50.00' }],
  })
  t.equal(Date.parse(data[0].next_run_at) - Date.parse(data[0].started_at), 86_400_000)
  t.same(await tasks(), [])
  const finished = Date.parse(data[0].finished_at) / 1000
  const isThen = (value: number): boolean => Math.abs(value - finished) < 0.001
  const shown = await gauge('svc_reconciliation_last_run_timestamp_seconds')
  t.ok(shown.length === 1 && shown.every(({ value }) => isThen(value)))
})

t.test('differences are kept, counted, shown as metrics and as a task that a clean run takes away', async (t) => {
  const setGross = (gross: number) =>
    owner.query(
      `update payment_intents set gross_amount = $2, amount = $2, net_amount = $2::numeric - fee_amount where id = $1`,
      [paymentId, gross],
    )
  await setGross(5000)
  await owner.query('update ledger_kept_balances set clearing = clearing - 1, rounding = rounding + 1')
  await makeDue()
  await runReconciliation(app, never)
  const { data } = await runs('?limit=1')
  t.match(data, [
    {
      status: 'DIFFERENT',
      difference_count: 4,
      difference_counts: [
        { kind: 'PAYMENT_LEDGER', count: 1 },
        { kind: 'LEDGER_BALANCE', count: 2 },
        { kind: 'BANK_DEBIT', count: 1 },
      ],
      differences: [
        { trading_name: 'Acme', subject: paymentId, expected_amount: '5000.00', found_amount: '50.00' },
        { subject: 'clearing' },
        { subject: 'rounding' },
        { subject: paymentId },
      ],
    },
  ])
  t.equal(Date.parse(data[0].next_run_at) - Date.parse(data[0].started_at), 3_600_000, 'looked at again soon')
  const [first] = data[0].differences
  await owner.query(`update merchants set trading_name = 'Acme Shoes'`)
  await owner.query(`update reconciliations set differences = differences #- '{0,trading_name}'`)
  t.same((await runs('?limit=1')).data[0].differences[0], { ...first, trading_name: 'Acme Shoes' }, 'as it is now')
  t.same((await runs('?limit=1')).data[0].differences.length, 4)
  t.match(await tasks(), [
    {
      kind: 'reconciliation_different',
      id: data[0].id,
      merchant_id: null,
      count: 4,
      summary: 'the books have 4 differences',
      command: 'svc reconcile --last',
    },
  ])
  t.match(
    (await gauge('svc_reconciliation_differences')).filter(({ value }) => value > 0),
    [
      { labels: { kind: 'PAYMENT_LEDGER' }, value: 1 },
      { labels: { kind: 'LEDGER_BALANCE' }, value: 2 },
      { labels: { kind: 'BANK_DEBIT' }, value: 1 },
    ],
  )

  await setGross(50)
  await owner.query('update ledger_kept_balances set clearing = clearing + 1, rounding = rounding - 1')
  await makeDue()
  await runReconciliation(app, never)
  t.same(await tasks(), [])
  const all = await runs('?limit=2')
  t.match(all, { data: [{ status: 'BALANCED' }, { status: 'DIFFERENT' }], has_more: true })
  t.match(await runs(`?limit=2&cursor=${all.next_cursor}`), { data: [{ status: 'BALANCED' }], has_more: false })
  t.match(await service.call('GET', '/api/v1/admin/reconciliations?cursor=x', { headers }), { status: 400 })
})

t.test('a kind with many differences hides no later one in what is kept', async (t) => {
  await byHand([
    `insert into ledger_entries (merchant_id, movement, subject_id, debit, credit, amount, currency, entry_hash)
     select $1, 'payment_settled', gen_random_uuid(), 'bank', 'clearing', 1, 'GBP', 'many' from generate_series(1, 101)`,
    [merchant.id],
  ])
  await makeDue()
  await runReconciliation(app, never)
  const [run] = (await runs('?limit=1')).data
  await byHand([`delete from ledger_entries where entry_hash = 'many'`])
  const counts = [
    { kind: 'LEDGER_WITHOUT_PAYMENT', count: 101 },
    { kind: 'LEDGER_BALANCE', count: 2 },
    { kind: 'SETTLEMENT_LINE', count: 101 },
  ]
  t.same([run.difference_counts, run.difference_count], [counts, 204])
  t.same(
    run.differences.map(({ kind }: { kind: string }) => kind),
    [
      ...Array(49).fill('LEDGER_WITHOUT_PAYMENT'),
      ...Array(2).fill('LEDGER_BALANCE'),
      ...Array(49).fill('SETTLEMENT_LINE'),
    ],
  )
})

t.test('a run that fails is visible, and tried again', async (t) => {
  await owner.query('alter table ledger_entries rename to ledger_gone')
  await makeDue()
  await t.rejects(runReconciliation(app, never))
  await owner.query('alter table ledger_gone rename to ledger_entries')
  const { data } = await runs('?limit=1')
  t.match(data, [{ status: 'FAILED', failure: String }])
  t.equal(Date.parse(data[0].next_run_at) - Date.parse(data[0].started_at), 600_000)
  t.match(await tasks(), [{ kind: 'reconciliation_failed', command: 'svc reconcile --last' }])
  await makeDue()
  await runReconciliation(app, never)
  t.match(await runs('?limit=1'), { data: [{ status: 'BALANCED' }] })
  t.same(await tasks(), [])
})

t.test('a run whose process died is marked as failed, and followed by another', async (t) => {
  await owner.query(
    `insert into reconciliations (id, as_of, next_run_at) values (gen_random_uuid(), now(), now() + interval '1 hour')`,
  )
  await runReconciliation(app, never)
  t.match(await runs('?limit=1'), { data: [{ status: 'RUNNING', finished_at: null }] }, 'its claim holds')
  t.same(await tasks(), [], 'the last run that ended was clean')
  await makeDue()
  await runReconciliation(app, never)
  t.match(await runs('?limit=2'), {
    data: [{ status: 'BALANCED' }, { status: 'FAILED', failure: 'the process that ran it has ended' }],
  })
})

t.test('a run from before the clock was set back keeps no other run waiting, and hides none', async (t) => {
  await owner.query('delete from reconciliations')
  await owner.query(`
    insert into reconciliations (id, status, as_of, started_at, finished_at, next_run_at, difference_count, difference_counts)
    select gen_random_uuid(), 'DIFFERENT', at, at, at, at + interval '1 day', 2, '[{"kind":"FEE_LEDGER","count":2}]'
    from (select now() + interval '1 year') f (at)`)
  const none = await hoursWithoutRun(app.pool, 'reconciliation')
  await runReconciliation(app, never)
  await runReconciliation(app, never)
  t.equal(none, 72, 'since the first merchant')
  t.equal(await hoursWithoutRun(app.pool, 'reconciliation'), 0)
  const { rows } = await owner.query('select status from reconciliations where started_at <= now()')
  t.same(rows, [{ status: 'BALANCED' }])
  t.same(
    (await gauge('svc_reconciliation_differences')).filter(({ value }) => value > 0),
    [],
  )
  t.same(await tasks(), [])
  await owner.query('delete from reconciliations')
})

t.test('a run that is stopped ends within a merchant, and not after it', async (t) => {
  const stop = new AbortController()
  const stopping = (tx: DatabaseTransactionConnection): DatabaseTransactionConnection =>
    new Proxy(tx, {
      get: (of, name) => (name === 'any' ? stopAtSums(of) : Reflect.get(of, name)),
    })
  const stopAtSums =
    (tx: DatabaseTransactionConnection): typeof tx.any =>
    (statement) => {
      if (statement.sql.includes('sum(amount)')) stop.abort()
      return tx.any(statement)
    }
  const transaction: typeof app.pool.transaction = (run, retries) =>
    app.pool.transaction((tx) => run(stopping(tx)), retries)
  const pool = new Proxy(app.pool, {
    get: (of, name) => (name === 'transaction' ? transaction : Reflect.get(of, name)),
  })
  await t.rejects(compareEverything({ pool }, new Date().toISOString(), stop.signal), { name: 'AbortError' })
  t.ok(stop.signal.aborted)
})
