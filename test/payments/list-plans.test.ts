import t from 'tap'
import { listPaymentRows } from '../../src/payments/sql.ts'
import { listLineRows } from '../../src/settlements/sql.ts'
import { createPayment, testService } from '../support/app.ts'
import { measureKeptPlan, measurePlan } from '../support/kept-plan.ts'
import { statementOf } from '../support/statement-of.ts'

/** Settled payments of a merchant, of which none has failed, and of many merchants who have few. */
const SETTLED = 20_000
const OF_OTHERS = 6_000

const service = await testService(t)
const { owner } = service
const merchant = await service.merchant()
const { body } = await createPayment(service, merchant)
await owner.query('set session_replication_role = replica')
await owner.query(
  `with made as (
     insert into payment_consents (id, merchant_id, consent_type, status, amount, currency, expires_at, created_at)
     select gen_random_uuid(), merchant_id, consent_type, status, amount, currency, expires_at, created_at - n * interval '1 minute'
     from payment_consents, generate_series(1, ${SETTLED}) n
     where id = $1
     returning id, merchant_id, created_at
   )
   insert into payment_intents (
     id, merchant_id, consent_id, idempotency_key, request_fingerprint, amount, gross_amount, fee_amount, net_amount,
     fee_percentage, fee_flat, currency, status, end_to_end_id, bank_consent_id, bank_connector, redirect_uri, created_at
   )
   select gen_random_uuid(), m.merchant_id, m.id, m.id::text, p.request_fingerprint, p.amount, p.gross_amount, p.fee_amount,
     p.net_amount, p.fee_percentage, p.fee_flat, p.currency, 'Settled', 'SVC' || replace(m.id::text, '-', ''), m.id::text,
     p.bank_connector, p.redirect_uri, m.created_at
   from made m, payment_intents p
   where p.id = $2`,
  [body.consent_id, body.payment_id],
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
