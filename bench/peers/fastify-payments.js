// The stack that one would otherwise write: fastify with a schema, a pg pool, and a transaction of plain statements over
// the same tables, triggers and constraints.
import { createHash, randomUUID } from 'node:crypto'
import fastify from 'fastify'
import pg from 'pg'
import { ready, settings } from '../support/measured-process.ts'

const pool = new pg.Pool({ connectionString: settings().url, max: 10 })
const app = fastify()

const schema = {
  body: {
    type: 'object',
    required: ['amount', 'currency', 'redirect_uri'],
    properties: {
      amount: { type: 'string', pattern: '^\\d{1,13}(\\.\\d{1,4})?$' },
      currency: { type: 'string', pattern: '^[A-Z]{3}$' },
      redirect_uri: { type: 'string', maxLength: 2048 },
    },
  },
}

app.post('/api/v1/payments', { schema }, async (request, reply) => {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const payment = await createPayment(client, request)
    await client.query('commit')
    return reply.code(201).send(payment)
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
})

async function createPayment(client, { headers, body }) {
  const found = await client.query('select * from merchants where client_id = $1', [headers['x-merchant-client-id']])
  const merchant = found.rows[0]
  if (!merchant || merchant.kyb_status !== 'APPROVED' || !merchant.is_active || merchant.payout_held) throw new Error('refused')
  const key = headers['x-idempotency-key']
  const known = await client.query('select id from payment_intents where merchant_id = $1 and idempotency_key = $2', [merchant.id, key])
  if (known.rowCount > 0) throw new Error('a repeat')
  const ids = { payment: randomUUID(), consent: randomUUID(), state: randomUUID(), event: `evt_${randomUUID()}` }
  const endToEndId = `SVC${randomUUID().replaceAll('-', '')}`
  const redirectUrl = `https://bank.example/authorise?state=${ids.state}`
  await client.query(
    `insert into payment_consents (id, merchant_id, consent_type, status, bank_consent_reference, amount, currency, expires_at)
     values ($1, $2, 'SINGLE_IMMEDIATE', 'AWAITING_AUTHORISATION', $3, $4, $5, now() + interval '90 minutes')`,
    [ids.consent, merchant.id, randomUUID(), body.amount, body.currency],
  )
  const { rows } = await client.query(
    `insert into payment_intents (
       id, merchant_id, consent_id, idempotency_key, request_fingerprint, amount, gross_amount, fee_amount, net_amount,
       fee_percentage, fee_flat, currency, status, end_to_end_id, bank_consent_id, bank_connector, redirect_uri, redirect_url, webhook_sequence
     )
     select $1, $2, $3, $4, $5, a, a, f, a - f, $6, $7, $8, 'AwaitingAuthorisation', $9, $10, 'mock', $11, $12, 1
     from (select $13::numeric as a, round($13::numeric * $6 + $7, 4) as f) amounts
     returning gross_amount, fee_amount, net_amount, created_at`,
    [
      ids.payment, merchant.id, ids.consent, key, createHash('sha256').update(JSON.stringify(body)).digest('hex'),
      merchant.fee_percentage, merchant.fee_flat, body.currency, endToEndId, ids.state, body.redirect_uri, redirectUrl,
      body.amount,
    ],
  )
  const payment = {
    payment_id: ids.payment, status: 'AwaitingAuthorisation', redirect_url: redirectUrl, end_to_end_id: endToEndId, ...rows[0],
    currency: body.currency, consent_id: ids.consent,
  }
  await client.query(
    `insert into payment_events (
       id, merchant_id, payment_intent_id, previous_status, new_status, changed_by, raw_payload,
       gross_amount, fee_amount, net_amount, currency
     )
     values ($1, $2, $3, null, 'AwaitingAuthorisation', 'MERCHANT_API', $4, $5, $6, $7, $8)`,
    [
      randomUUID(), merchant.id, ids.payment, JSON.stringify(body), rows[0].gross_amount, rows[0].fee_amount, rows[0].net_amount,
      body.currency,
    ],
  )
  await client.query(
    `insert into webhook_deliveries (id, merchant_id, payment_intent_id, event_id, event_type, payload)
     values ($1, $2, $3, $4, 'payment.initiated', $5)`,
    [randomUUID(), merchant.id, ids.payment, ids.event, JSON.stringify({ eventId: ids.event, data: payment })],
  )
  return payment
}

await app.listen({ port: 0, host: '127.0.0.1' })
ready({ port: app.server.address().port }, async () => {
  await app.close()
  await pool.end()
})
