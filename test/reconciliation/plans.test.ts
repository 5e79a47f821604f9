import t from 'tap'
import { findEntriesEnd, sumEntries } from '../../src/reconciliation/balance-sql.ts'
import { listDifferences } from '../../src/reconciliation/sql.ts'
import { testService } from '../support/app.ts'
import { measurePlan } from '../support/kept-plan.ts'
import { statementOf } from '../support/statement-of.ts'

/** Entries of one merchant, each with its line of one of a few settlements. */
const ENTRIES = 20_000
const SETTLEMENTS = 5
const PART = 100

const service = await testService(t)
const { owner } = service
const { id: merchantId } = await service.merchant()
await owner.query('set session_replication_role = replica')
await owner.query(
  `with made as (
     insert into ledger_entries (merchant_id, movement, subject_id, debit, credit, amount, currency, entry_hash)
     select $1, 'payment_settled', gen_random_uuid(), 'bank', 'clearing', 1, 'GBP', ''
     from generate_series(1, ${ENTRIES})
     returning *
   )
   insert into settlement_lines (merchant_id, ordinal, currency, movement, subject_id, amount, occurred_at, settlement_id)
   select merchant_id, ordinal, currency, movement, subject_id, amount, created_at,
     (repeat('0', 31) || ordinal % ${SETTLEMENTS})::uuid
   from made`,
  [merchantId],
)
await owner.query('set session_replication_role = origin')
await owner.query('vacuum analyze')

t.test('entries are added up in parts, each found by their index', async (t) => {
  await owner.query('begin')
  await owner.query('set local enable_sort = off; set local enable_seqscan = off')
  for (const own of [merchantId, undefined]) {
    const end = await statementOf((tx) => findEntriesEnd(tx, { merchantId: own, after: null, rows: PART }))
    t.notMatch((await measurePlan(owner, end.text, end.values)).text, /Sort/)
  }
  await owner.query('rollback')
})

t.test('a merchant’s part is found by their index in the merchant’s role too', async (t) => {
  const after = await findEntriesEnd(service.app.pool, { merchantId, after: null, rows: ENTRIES / 2 })
  const upTo = await findEntriesEnd(service.app.pool, { merchantId, after, rows: PART })
  const end = await statementOf((tx) => findEntriesEnd(tx, { merchantId, after, rows: PART }))
  const sums = await statementOf((tx) => sumEntries(tx, { merchantId, after, upTo }))
  const plans = [await measurePlan(owner, end.text, end.values), await measurePlan(owner, sums.text, sums.values)]
  await owner.query('begin')
  await owner.query('set local role svc_merchant')
  await owner.query(`select set_config('svc.merchant_id', $1, true)`, [merchantId])
  plans.push(await measurePlan(owner, end.text, end.values), await measurePlan(owner, sums.text, sums.values))
  await owner.query('rollback')
  for (const plan of plans) t.ok(plan.buffers < PART * 2, plan.text)
})

t.test('entries that were not added up are no empty ledger', async (t) => {
  const scope = { merchantId, from: undefined, asOf: new Date().toISOString() }
  const find = { name: 'LEDGER_BALANCE', limit: 10 } as const
  await t.rejects(async () => listDifferences(service.app.pool, { ...find, scope }), /not added up/)
  t.same(await listDifferences(service.app.pool, { ...find, scope: { ...scope, sums: [] } }), [])
})

t.test('lines without a settlement are found by their settlements', async (t) => {
  const scope = { merchantId, from: undefined, asOf: new Date().toISOString() }
  const find = { name: 'LINE_WITHOUT_SETTLEMENT', scope, limit: 10 } as const
  t.equal((await listDifferences(service.app.pool, find)).length, SETTLEMENTS)
  const { text, values } = await statementOf((tx) => listDifferences(tx, find))
  await owner.query('begin')
  await owner.query(
    `insert into settlements (
       id, merchant_id, currency, kind, period_from, period_to, opening_balance, gross_amount, fee_amount, refunded_amount,
       corrected_amount, deducted_amount, rounding_amount, net_amount, payable_amount, line_count
     )
     select id, $1, 'GBP', 'MANUAL', now(), now() + place * interval '1 day', 0, 0, 0, 0, 0, 0, 0, 0, 0, 1
     from (
       select settlement_id as id, row_number() over () as place
       from (select distinct settlement_id from settlement_lines) each
     ) each`,
    [merchantId],
  )
  const plan = await measurePlan(owner, text, values)
  await owner.query('rollback')
  t.ok(plan.buffers < 100, plan.text)
})
