import t from 'tap'
import { listPaymentRows } from '../../src/payments/list-sql.ts'
import { listLineRows } from '../../src/settlements/sql.ts'
import { createPayment, testService } from '../support/app.ts'
import { listAdminPayments } from '../../src/console/admin-payments.ts'
import { listPayments } from '../../src/payments/list-payments.ts'
import { listTransactions } from '../../src/transactions/list-transactions.ts'
import type { PaymentListQuery } from '../../src/wire/payments.ts'
import { measureKeptPlan, measurePlan } from '../support/kept-plan.ts'
import { plantPayments } from '../support/plant-payments.ts'
import { statementOf } from '../support/statement-of.ts'

/** Settled payments of a merchant, of which none has failed, and of many merchants who have few. */
const SETTLED = 50_000
const OF_OTHERS = 6_000

const service = await testService(t)
const { owner } = service
const merchant = await service.merchant()
const { body } = await createPayment(service, merchant)
const CONSENT_ID = "md5('consent ' || n)::uuid"
const AGE = "interval '1 minute' * n"
await plantPayments(owner, {
  paymentId: body.payment_id,
  count: SETTLED,
  columns: { consent_id: CONSENT_ID, created_at: `p.created_at - ${AGE}` },
})
await owner.query('set session_replication_role = replica')
await owner.query(
  `insert into payment_consents (id, merchant_id, consent_type, status, amount, currency, expires_at, created_at)
   select ${CONSENT_ID}, merchant_id, consent_type, status, amount, currency, expires_at, created_at - ${AGE}
   from payment_consents, generate_series(1, ${SETTLED}) n
   where id = $1`,
  [body.consent_id],
)
await owner.query(
  `update payment_consents set merchant_id = gen_random_uuid() where ctid in (select ctid from payment_consents limit ${OF_OTHERS})`,
)
await owner.query(
  `update payment_intents p set merchant_id = c.merchant_id from payment_consents c where c.id = p.consent_id`,
)
await owner.query('set session_replication_role = origin')
await owner.query('vacuum analyze payment_consents, payment_intents')

t.test('a list of failed or refunded payments reads these alone, however many have settled', async (t) => {
  for (const status of ['Failed', 'Refunded'] as const) {
    const page = { merchantId: merchant.id, query: { limit: 50, status }, afterId: undefined }
    const { text, values } = await statementOf((tx) => listPaymentRows(tx, page))
    const plan = await measurePlan(owner, text, values)
    t.match(plan.text, /payment_intents__failed_refunded/)
    t.ok(plan.buffers < 20, plan.text)
  }
})

t.test('a plan that is kept, for merchants who have few payments, reads no more of one who has many', async (t) => {
  const page = { merchantId: merchant.id, query: { limit: 50 }, afterId: undefined }
  const plan = await measureKeptPlan(owner, (tx) => listPaymentRows(tx, page))
  t.match(plan.text, /rows=51/)
  // Of the page's rows: some of an index and one of the table for each payment and each consent.
  t.ok(plan.buffers < 51 * 8, plan.text)
})

t.test('a later page is planned for its merchant, and reads no more', async (t) => {
  const after = await owner.query<{ id: string }>(
    'select id from payment_intents where merchant_id = $1 order by created_at desc, id desc offset 100 limit 1',
    [merchant.id],
  )
  const page = { merchantId: merchant.id, query: { limit: 50 }, afterId: after.rows[0]?.id }
  const { text, values } = await statementOf((tx) => listPaymentRows(tx, page))
  const plan = await measurePlan(owner, text, values)
  t.match(plan.text, /rows=51/)
  t.ok(plan.buffers < 51 * 12, plan.text)
})

t.test('a filter that most payments match reads no more than its page', async (t) => {
  const page = { merchantId: merchant.id, query: { limit: 50, status: 'Settled' as const }, afterId: undefined }
  const { text, values } = await statementOf((tx) => listPaymentRows(tx, page))
  const plan = await measurePlan(owner, text, values)
  t.match(plan.text, /rows=51/)
  t.ok(plan.buffers < 51 * 14, plan.text)
})

t.test('a page of the lines of a settlement looks up its payments alone', async (t) => {
  const id = service.app.ids.uuid()
  await owner.query('begin')
  await owner.query(
    `insert into settlement_lines (merchant_id, ordinal, currency, movement, subject_id, amount, occurred_at, settlement_id)
     select merchant_id, row_number() over (), 'GBP', 'payment_settled', id, 50, created_at, $2
     from payment_intents where merchant_id = $1 limit 5000`,
    [merchant.id, id],
  )
  await owner.query('analyze settlement_lines')
  // As where many more payments make a join of all seem cheaper than it is.
  await owner.query('set local enable_nestloop = off')
  const page = { merchantId: merchant.id, id, after: undefined, limit: 50 }
  const { text, values } = await statementOf((tx) => listLineRows(tx, page))
  const plans = [await measurePlan(owner, text, values)]
  await owner.query('set local role svc_merchant')
  await owner.query(`select set_config('svc.merchant_id', $1, true)`, [merchant.id])
  plans.push(await measurePlan(owner, text, values))
  await owner.query('rollback')
  for (const plan of plans) {
    t.match(plan.text, /rows=51/)
    t.ok(plan.buffers < 51 * 15, plan.text)
  }
})

/** What a list returns page by page: its payments' ids, and how many requests it took. */
async function readAll(
  read: (query: PaymentListQuery) => Promise<{ ids: string[]; nextCursor: string | null }>,
  query: Partial<PaymentListQuery>,
): Promise<{ ids: string[]; pages: number }> {
  const ids: string[] = []
  let cursor: string | undefined
  for (let pages = 1; ; pages += 1) {
    const page = await read({ limit: 50, ...query, cursor })
    ids.push(...page.ids)
    if (page.nextCursor === null) return { ids, pages }
    cursor = page.nextCursor
  }
}

t.test('a filter that few payments match finds each once, over pages that examine a limited number', async (t) => {
  const { app } = service
  const own = await owner.query<{ id: string; created_at: string }>(
    'select id, created_at from payment_intents where merchant_id = $1 order by created_at desc, id desc',
    [merchant.id],
  )
  // The last one that the first page examines, the first one of the second page, and the oldest.
  const rare = [4_999, 5_000, own.rows.length - 1].map((index) => own.rows[index]?.id ?? '')
  await owner.query('update payment_intents set currency = $1 where id = any($2)', ['EUR', rare])
  const pagesMin = Math.ceil(own.rows.length / 5_000)
  const lists = {
    payments: async (query: PaymentListQuery) => {
      const { payments, nextCursor } = await listPayments(app, { merchantId: merchant.id, query })
      return { ids: payments.map(({ id }) => id), nextCursor }
    },
    transactions: async (query: PaymentListQuery) => {
      const { transactions, nextCursor } = await listTransactions(app, { merchantId: merchant.id, query })
      return { ids: transactions.map((each) => each.payment_id), nextCursor }
    },
    'payments of a merchant, for operators': async (query: PaymentListQuery) => {
      const { payments, nextCursor } = await listAdminPayments(app, { ...query, merchant_id: merchant.id })
      return { ids: payments.map(({ id }) => id), nextCursor }
    },
    'payments of all merchants': async (query: PaymentListQuery) => {
      const { payments, nextCursor } = await listAdminPayments(app, query)
      return { ids: payments.map(({ id }) => id), nextCursor }
    },
  }
  for (const [name, read] of Object.entries(lists)) {
    const found = await readAll(read, { currency: 'EUR' })
    t.strictSame(found.ids, rare, name)
    t.ok(found.pages >= pagesMin, `${name}: ${found.pages} pages`)
    t.strictSame((await readAll(read, { currency: 'EUR', limit: 1 })).ids, rare, `${name}, one a page`)
    const all = await readAll(read, { status: 'Settled', limit: 100, from: own.rows[500]?.created_at })
    t.strictSame(
      all.ids,
      own.rows
        .slice(0, 501)
        .filter(({ id }) => id !== body.payment_id)
        .map(({ id }) => id),
      name,
    )
    t.strictSame((await readAll(read, { bank_id: 'mock-none' })).ids, [], `${name} of a bank`)
  }
  const page = { merchantId: merchant.id, query: { limit: 50, currency: 'CHF' }, afterId: undefined }
  const { text, values } = await statementOf((tx) => listPaymentRows(tx, page))
  const plan = await measurePlan(owner, text, values)
  t.match(plan.text, /rows=5000/)
  t.notMatch(plan.text, /Seq Scan|Sort Key/)
})
