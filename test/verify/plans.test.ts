import t from 'tap'
import { findByKey } from '../../src/reconciliation/sql.ts'
import { SOURCE_NAMES, findEnd } from '../../src/verify/part-sql.ts'
import { INVARIANT_NAMES, findBreaches } from '../../src/verify/sql.ts'
import { authorisedPayment, testService, untilStatus } from '../support/app.ts'
import { raise } from '../support/disputes.ts'
import { measurePlan } from '../support/kept-plan.ts'
import { refund, times } from '../support/payments.ts'
import { statementOf } from '../support/statement-of.ts'

const PAYMENTS = 120
const SIDE_BY_SIDE = 12
/** Of the rows that a payment has in any table. */
const ROWS_EACH = 10

const service = await testService(t, { worker: true })
const { owner } = service
const merchant = await service.merchant()

/** A payment that is settled, and then disputed and refunded in part. */
async function live(): Promise<void> {
  const { id } = await authorisedPayment(service, merchant)
  await untilStatus(service, merchant, id, 'Settled')
  await raise(service, merchant, id)
  await refund(service, merchant, { id, body: { amount: '0.50' } })
}
for (let made = 0; made < PAYMENTS; made += SIDE_BY_SIDE) await times(SIDE_BY_SIDE, live)
await owner.query(`
  insert into webhook_attempts (merchant_id, delivery_id, attempt, worker, started_at, duration_ms, outcome)
  select merchant_id, id, 1, 'w', now(), 1, 'timeout' from webhook_deliveries`)

/** Rows that a plan has read in vain, in all the turns of each of its nodes together: the most of one node. */
function mostRemoved(plan: string): number {
  let loops = 1
  let most = 0
  for (const line of plan.split('\n')) {
    loops = Number(/ loops=(\d+)\)/.exec(line)?.[1] ?? loops)
    const [, rows = '0'] = /Rows Removed by (?:Join )?Filter: (\d+)/.exec(line) ?? []
    most = Math.max(most, Number(rows) * loops)
  }
  return most
}

t.test('every table that is read has rows of each payment', async (t) => {
  const tables = [
    'payment_intents',
    'payment_events',
    'payment_consents',
    'payment_refunds',
    'disputes',
    'dispute_events',
  ]
  tables.push('webhook_deliveries', 'webhook_attempts', 'ledger_entries', 'transfers', 'transactions')
  for (const table of tables) {
    const { rows } = await owner.query<{ n: string }>(`select count(*)::text as n from ${table}`)
    t.ok(Number(rows[0]?.n) >= PAYMENTS, `${table}: ${rows[0]?.n}`)
  }
  t.ok((await owner.query('select from accounts')).rowCount)
})

// A statement has five seconds, and a part is ten thousand payments.
t.test('no invariant compares every row with every other', async (t) => {
  await owner.query('analyze')
  await owner.query('begin')
  const { text: settings, values: joins } = await statementOf((tx) => findByKey(tx, true))
  await owner.query(settings, [...joins])
  // A few pages are read whole for each payment, although there is an index.
  await owner.query('set local enable_seqscan = off')
  for (const name of INVARIANT_NAMES) {
    const part = { after: null, upTo: null, graceMs: 0 }
    const { text, values } = await statementOf((tx) => findBreaches(tx, { name, part, limit: 1 }))
    const plan = await measurePlan(owner, text, values)
    const removed = mostRemoved(plan.text)
    t.ok(removed <= PAYMENTS * ROWS_EACH, `${name}: ${removed}`, { plan: plan.text })
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
    t.match(plan.text, /^Limit .*actual time=\S+ rows=0(\.00)? loops=1\)/, 'nothing is broken')
    t.ok(plan.buffers < PART * 20, plan.text)
  }
  await owner.query('rollback')
})
