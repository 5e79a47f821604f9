import t from 'tap'
import { findByKey } from '../../src/reconciliation/sql.ts'
import { SOURCE_NAMES, findEnd } from '../../src/verify/part-sql.ts'
import { INVARIANT_NAMES, findBreaches } from '../../src/verify/sql.ts'
import { createPayment, testService } from '../support/app.ts'
import { measurePlan } from '../support/kept-plan.ts'
import { statementOf } from '../support/statement-of.ts'

const PAYMENTS = 200
const SIDE_BY_SIDE = 20
/** Of the rows that a payment has in any table. */
const ROWS_EACH = 10

const service = await testService(t)
const { owner } = service
const merchant = await service.merchant()
for (let made = 0; made < PAYMENTS; made += SIDE_BY_SIDE)
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, () => createPayment(service, merchant)))

// A statement has five seconds, and a part is ten thousand payments.
t.test('no invariant compares every row with every other', async (t) => {
  await owner.query('analyze')
  await owner.query('begin')
  const { text: settings, values: joins } = await statementOf((tx) => findByKey(tx, true))
  await owner.query(settings, [...joins])
  for (const name of INVARIANT_NAMES) {
    const part = { after: null, upTo: null, graceMs: 0 }
    const { text, values } = await statementOf((tx) => findBreaches(tx, { name, part, limit: 1 }))
    const plan = await measurePlan(owner, text, values)
    const removed = [...plan.text.matchAll(/Rows Removed by (?:Join )?Filter: (\d+)/g)].map(([, rows]) => Number(rows))
    t.ok(Math.max(0, ...removed) <= PAYMENTS * ROWS_EACH, name, { plan: plan.text })
  }
  await owner.query('rollback')
})

t.test('the end of a part is found by the index of its key, and not by sorting all that is left', async (t) => {
  await owner.query('begin')
  // Small tables are read and sorted, where that is possible at all.
  await owner.query('set local enable_sort = off')
  await owner.query('set local enable_seqscan = off')
  for (const source of SOURCE_NAMES) {
    const { text, values } = await statementOf((tx) => findEnd(tx, { source, after: null, rows: 10 }))
    t.notMatch((await measurePlan(owner, text, values)).text, /Sort/, source)
  }
  await owner.query('rollback')
})

const BOOKINGS = 10_000
const PART = 100

t.test('a part reads its own bookings, however many an account has', async (t) => {
  await owner.query('begin')
  await owner.query('set local session_replication_role = replica')
  const account = service.app.ids.uuid()
  await owner.query(
    `insert into accounts (id, customer_id, currency, account_type, account_sub_type, name, iban, balance_minor, transaction_count)
     values ($1, $1, 'GBP', 'Business', 'CurrentAccount', 'Acme', 'GB00', ${BOOKINGS}, ${BOOKINGS})`,
    [account],
  )
  await owner.query(
    `with made as (
       insert into transfers (id, creditor_account_id, amount_minor, currency, booked_at)
       select gen_random_uuid(), $1, 1, 'GBP', now() from generate_series(1, ${BOOKINGS})
       returning id
     )
     insert into transactions (
       account_id, number, transfer_id, amount_minor, credit_debit_indicator, booking_date_time, balance_minor
     )
     select $1, row_number() over (), id, 1, 'Credit', now(), row_number() over () from made`,
    [account],
  )
  await owner.query('analyze accounts, transfers, transactions')
  const { text: settings, values: joins } = await statementOf((tx) => findByKey(tx, true))
  await owner.query(settings, [...joins])
  const parts = {
    ACCOUNT_BALANCE: { after: null, upTo: [account], graceMs: 0 },
    ACCOUNT_BOOKINGS: { after: [account, '5000'], upTo: [account, String(5000 + PART)], graceMs: 0 },
  } as const
  for (const name of ['ACCOUNT_BALANCE', 'ACCOUNT_BOOKINGS'] as const) {
    const { text, values } = await statementOf((tx) => findBreaches(tx, { name, part: parts[name], limit: 1 }))
    const plan = await measurePlan(owner, text, values)
    t.match(plan.text, /rows=0/)
    t.ok(plan.buffers < PART * 20, plan.text)
  }
  await owner.query('rollback')
})
