import { randomUUID } from 'node:crypto'
import type { DatabaseTransactionConnection } from 'slonik'
import t from 'tap'
import { withHash } from '../../src/payers/contact.ts'
import { deleteMessages } from '../../src/payers/erase-sql.ts'
import { findPayerConsent, findPayerPayment, listPayerPaymentRows } from '../../src/payers/payments-sql.ts'
import { claimLinkRequest } from '../../src/payers/sign-in-sql.ts'
import { createPayment, testService } from '../support/app.ts'
import { measurePlan } from '../support/kept-plan.ts'
import { statementOf } from '../support/statement-of.ts'

/** Consents and payments of the payers of a busy platform, beside one payer who pays every day. */
const OTHERS = 20_000
const OWN = 2_000

const service = await testService(t)
const { owner } = service
const merchant = await service.merchant()
const { body } = await createPayment(service, merchant, { payer_email: 'ada@payer.example' })
/** In parts: a slow machine takes longer for all than a statement may take. */
const PART = 2_000
const SEED = `with made as (
     insert into payment_consents (id, merchant_id, consent_type, status, amount, currency, expires_at, payer_email_hash,
       created_at)
     select gen_random_uuid(), merchant_id, consent_type, status, amount, currency, expires_at,
       case when n <= ${OWN} then payer_email_hash else md5(n::text) || md5(n::text) end, created_at - n * interval '1 minute'
     from payment_consents, generate_series($3::int, $4::int) n
     where id = $1
     returning id, merchant_id, created_at
   )
   insert into payment_intents (
     id, merchant_id, consent_id, idempotency_key, request_fingerprint, amount, gross_amount, fee_amount, net_amount,
     fee_percentage, fee_flat, currency, status, end_to_end_id, bank_consent_id, bank_connector, redirect_uri, created_at
   )
   select gen_random_uuid(), m.merchant_id, m.id, m.id::text, p.request_fingerprint, p.amount, p.gross_amount, p.fee_amount,
     p.net_amount, p.fee_percentage, p.fee_flat, p.currency, p.status, 'SVC' || replace(m.id::text, '-', ''), m.id::text,
     p.bank_connector, p.redirect_uri, m.created_at
   from made m, payment_intents p
   where p.id = $2`
await owner.query('set session_replication_role = replica')
for (let from = 1; from <= OWN + OTHERS; from += PART)
  await owner.query(SEED, [body.consent_id, body.payment_id, from, from + PART - 1])
await owner.query('set session_replication_role = origin')
await owner.query(
  `insert into mails (id, realm, kind, recipient, recipient_hash, subject, status, payment_id)
   select gen_random_uuid(), 'payer hub', 'payer receipt', 'v1.x', repeat(md5(n::text), 2), 'Receipt', 'SENT', gen_random_uuid()
   from generate_series(1, 5000) n`,
)
await owner.query('analyze payment_consents, payment_intents, disputes, mails')

/** The plan of a use case's own statement, executed, as text. */
async function planOf(run: (tx: DatabaseTransactionConnection) => unknown): Promise<string> {
  const { text, values } = await statementOf(run)
  const { rows } = await owner.query(`explain (analyze, buffers, format text) ${text}`, [...values])
  return rows.map((row) => Object.values(row)[0]).join('\n')
}

/** The number of pages that a plan read: the first line with buffers is the root's. */
function pagesOf(plan: string): number {
  const [, hit = '0', read = '0'] = /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(plan) ?? []
  return Number(hit) + Number(read)
}

const contact = await withHash(service.app, { type: 'EMAIL', value: 'ada@payer.example' })

t.test('the last fifty payments of a payer with thousands are found by index', async (t) => {
  const plan = await planOf((db) => listPayerPaymentRows(db, { contact, windowDays: 120, limit: 50 }))
  t.match(plan, /payment_consents__payer_email/)
  t.notMatch(plan, /Seq Scan on (payment_consents|payment_intents)/)
  t.ok(pagesOf(plan) < 3_000, `${pagesOf(plan)} pages`)
})

t.test('a payment and a consent are found by the index of their id', async (t) => {
  const payment = await planOf((db) => findPayerPayment(db, { contact, windowDays: 120, id: body.payment_id }))
  t.notMatch(payment, /Seq Scan on (payment_consents|payment_intents)/)
  t.ok(pagesOf(payment) < 100, `${pagesOf(payment)} pages`)
  const consent = await planOf((db) => findPayerConsent(db, { contact, id: body.consent_id }))
  t.notMatch(consent, /Seq Scan/)
  t.ok(pagesOf(consent) < 200, `${pagesOf(consent)} pages`)
})

t.test('whether a contact is known is read from an index', async (t) => {
  for (const value of ['ada@payer.example', 'nobody@payer.example']) {
    await owner.query(
      `insert into payer_link_requests (id, contact_type, contact, contact_hash, request_ip_hash, wide_ip_hash)
       values ($1, 'EMAIL', 'v1.', $2, repeat('0', 64), repeat('0', 64))`,
      [randomUUID(), await service.app.lookupHash('EMAIL', value)],
    )
  }
  const plan = await planOf((db) => claimLinkRequest(db))
  t.notMatch(plan, /Seq Scan on payment_consents/)
})

t.test('a payer is erased without a look at the consents and mails of others', async (t) => {
  await owner.query('begin')
  // As the server keeps a plan of the function, whichever kind of contact comes next.
  await owner.query('set local plan_cache_mode = force_generic_plan')
  const erase = (kind: string) => measurePlan(owner, `select * from erase_payer('${kind}', repeat('0', 64))`)
  // The first call of a connection reads catalogues besides.
  await erase('EMAIL')
  for (const kind of ['EMAIL', 'PHONE']) {
    const plan = await erase(kind)
    t.ok(plan.buffers < 30, plan.text)
  }
  const messages = { contact, sentTo: '0'.repeat(64), payments: [body.payment_id] }
  const { text, values } = await statementOf((tx) => deleteMessages(tx, messages))
  const plan = await measurePlan(owner, text, values)
  t.match(plan.text, /mails__payment_id/)
  t.notMatch(plan.text, /Seq Scan on mails/)
  await owner.query('rollback')
})

t.test('how soon a mail may follow is read from the mails of its recipient', async (t) => {
  const wait = () => measurePlan(owner, `select seconds_to_next_mail('payer receipt', repeat('0', 64), null, 5)`)
  await wait()
  const plan = await wait()
  t.ok(plan.buffers < 10, plan.text)
})
