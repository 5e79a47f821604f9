import t from 'tap'
import { listPaymentRows } from '../../src/payments/list-sql.ts'
import { listLineRows } from '../../src/settlements/sql.ts'
import { createPayment, testService } from '../support/app.ts'
import { listPaymentRowsOfAll } from '../../src/console/payments-sql.ts'
import { readExamined } from '../../src/db/examined-pages.ts'
import type { Examined } from '../../src/db/examined-sql.ts'
import { keyOfCursor } from '../../src/lib/cursor.ts'
import { isUuid } from '../../src/lib/ids.ts'
import { listTransactionRows } from '../../src/transactions/sql.ts'
import type { PaymentListQuery } from '../../src/wire/payments.ts'
import { measureKeptPlan, measurePlan } from '../support/kept-plan.ts'
import type { MeasuredPlan } from '../support/kept-plan.ts'
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
// The oldest: many have failed, and a few are refunded.
await owner.query(
  `update payment_intents
   set status = case when n % 1000 = 0 then 'Refunded' else 'Failed' end::payment_status,
     refunded_amount = case when n % 1000 = 0 then gross_amount else 0 end,
     failure_code = case when n % 1000 <> 0 then 'ACCESS_DENIED' end,
     failure_source = case when n % 1000 <> 0 then 'BANK' end
   from (select id as old, row_number() over (order by created_at) as n from payment_intents limit 3000) o where id = old`,
)
await owner.query(
  `update payment_consents set merchant_id = gen_random_uuid() where ctid in (select ctid from payment_consents limit ${OF_OTHERS})`,
)
await owner.query(
  `update payment_intents p set merchant_id = c.merchant_id from payment_consents c where c.id = p.consent_id`,
)
await owner.query('set session_replication_role = origin')
await owner.query('vacuum analyze payment_consents, payment_intents')

/** A merchant's page as the owner plans it, and as a merchant's request does. */
async function plansOf(query: Partial<PaymentListQuery>): Promise<MeasuredPlan[]> {
  const page = { merchantId: merchant.id, query: { limit: 50, ...query }, afterId: undefined }
  const { text, values } = await statementOf((tx) => listPaymentRows(tx, page))
  const asOwner = await measurePlan(owner, text, values)
  await owner.query('begin')
  await owner.query('set local role svc_merchant')
  await owner.query(`select set_config('svc.merchant_id', $1, true)`, [merchant.id])
  const asMerchant = await measurePlan(owner, text, values)
  await owner.query('rollback')
  return [asOwner, asMerchant]
}

t.test('a list of failed or refunded payments reads these alone, however many there are of others', async (t) => {
  for (const plan of await plansOf({ status: 'Refunded' })) {
    t.match(plan.text, /payment_intents__refunded/)
    t.ok(plan.buffers < 60, plan.text)
  }
  for (const plan of await plansOf({ status: 'Failed' })) {
    t.match(plan.text, /payment_intents__failed/)
    t.ok(plan.buffers < 51 * 14, plan.text)
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
  for (const plan of await plansOf({ status: 'Settled' })) {
    t.match(plan.text, /rows=51/)
    t.ok(plan.buffers < 51 * 14, plan.text)
  }
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

t.test('a filter that few payments match examines a limited number', async (t) => {
  for (const plan of await plansOf({ currency: 'CHF' })) {
    t.match(plan.text, /rows=5000/)
    t.notMatch(plan.text, /Seq Scan|Sort Key/)
  }
})

t.test('a filter that few payments match finds each once, over pages of one statement each', async (t) => {
  // As many have one time as fill several pages, so that the id decides.
  const second = await service.merchant()
  const { body: other } = await createPayment(service, second)
  await plantPayments(owner, {
    paymentId: other.payment_id,
    count: 6_000,
    columns: {
      end_to_end_id: "'SVX' || md5(n::text)",
      bank_consent_id: "'second ' || n",
      created_at: "p.created_at - interval '1 hour' * (n / 700)",
    },
  })
  const all = await owner.query<{ id: string; merchant_id: string; created_at: string }>(
    `select p.id, p.merchant_id, p.created_at from payment_intents p join merchants m on m.id = p.merchant_id
     where p.status = 'Settled' order by p.created_at desc, p.id desc`,
  )
  const own = all.rows.filter((row) => row.merchant_id === merchant.id)
  const others = all.rows.filter((row) => row.merchant_id === second.id)
  // About where a page's examination ends, of one merchant and of two, and the oldest.
  const places = [1_665, 1_666, 2_498, 2_499, 2_500, 4_997, 4_998, 4_999, 5_000, 5_001]
  const chosen = [own, others].flatMap((rows) => [...places, rows.length - 1].map((place) => rows[place]?.id ?? ''))
  await owner.query('update payment_intents set currency = $1 where id = any($2)', ['EUR', chosen])
  const rare = all.rows.filter(({ id }) => chosen.includes(id))
  const { pool } = service.app
  const one = { merchantId: merchant.id }
  const lists: Record<string, { expected: typeof rare; read: Reader }> = {
    payments: {
      expected: rare.filter((row) => row.merchant_id === merchant.id),
      read: (query, afterId) => listPaymentRows(pool, { ...one, query, afterId }),
    },
    transactions: {
      expected: rare.filter((row) => row.merchant_id === merchant.id),
      read: async (query, afterId) =>
        (await listTransactionRows(pool, { ...one, query, afterId })).map((row) => ({ ...row, id: row.payment_id })),
    },
    'of a merchant, for operators': {
      expected: rare.filter((row) => row.merchant_id === merchant.id),
      read: (query, afterId) => listPaymentRowsOfAll(pool, { ...one, query, afterId }),
    },
    'of all merchants': {
      expected: rare,
      read: (query, afterId) => listPaymentRowsOfAll(pool, { merchantId: undefined, query, afterId }),
    },
  }
  for (const [name, { expected, read }] of Object.entries(lists))
    for (const limit of [1, 3, 50]) {
      const { ids, pages } = await readAll(read, { limit, currency: 'EUR' })
      t.strictSame(
        ids,
        expected.map(({ id }) => id),
        `${name}, ${limit} a page`,
      )
      t.ok(pages >= Math.ceil(own.length / 5_000), `${name}: ${pages} pages`)
      t.strictSame((await readAll(read, { limit, bank_id: 'mock-none' })).ids, [], `${name} of a bank`)
    }
})

type Reader = (query: PaymentListQuery, afterId: string | undefined) => Promise<readonly (Examined & { id: string })[]>

/** The payments of a list whose pages are of one statement each, and how many pages those are. */
async function readAll(read: Reader, query: PaymentListQuery): Promise<{ ids: string[]; pages: number }> {
  const ids: string[] = []
  let after: string | undefined
  for (let pages = 1; ; pages += 1) {
    const page = await readExamined({
      limit: query.limit,
      after,
      fillMs: 0,
      read: (last, limit) => read({ ...query, limit }, last),
      keyOf: ({ id }) => id,
    })
    ids.push(...page.rows.map(({ id }) => id))
    if (page.nextCursor === null) return { ids, pages }
    after = keyOfCursor(page.nextCursor, isUuid)
  }
}
