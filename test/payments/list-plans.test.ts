import t from 'tap'
import { listPaymentRows } from '../../src/payments/sql.ts'
import { createPayment, testService } from '../support/app.ts'
import { statementOf } from '../support/statement-of.ts'

/** Settled payments of a merchant, of which none has failed. */
const SETTLED = 20_000

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
await owner.query('set session_replication_role = origin')
await owner.query('vacuum analyze payment_consents, payment_intents')

t.test('a list of failed or refunded payments reads these alone, however many have settled', async (t) => {
  for (const status of ['Failed', 'Refunded'] as const) {
    const page = { merchantId: merchant.id, query: { limit: 50, status }, afterId: undefined }
    const { text, values } = await statementOf((tx) => listPaymentRows(tx, page))
    const { rows } = await owner.query(`explain (analyze, buffers, format text) ${text}`, [...values])
    const plan = rows.map((row) => Object.values(row)[0]).join('\n')
    t.match(plan, /payment_intents__failed_refunded/)
    const [, hit = '0', read = '0'] = /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(plan) ?? []
    t.ok(Number(hit) + Number(read) < 20, plan)
  }
})
