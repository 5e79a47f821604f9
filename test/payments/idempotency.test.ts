import { randomBytes, randomUUID } from 'node:crypto'
import t from 'tap'
import { createPayment, paymentBody, testService } from '../support/app.ts'
import { eventsOf, tally, times, webhooksOf } from '../support/payments.ts'

const shared = { SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64') }
const service = await testService(t, { env: shared })
const other = await testService(t, { env: { ...shared, SVC_DATABASE_URL: service.databaseUrl } })
const merchant = await service.merchant()

async function countOf(merchantId: string): Promise<unknown> {
  const { rows } = await service.owner.query(
    `select (select count(*)::int4 from payment_intents where merchant_id = $1) as payments,
       (select count(*)::int4 from payment_consents where merchant_id = $1) as consents,
       (select count(*)::int4 from payment_events where merchant_id = $1) as events,
       (select count(*)::int4 from webhook_deliveries where merchant_id = $1) as webhooks`,
    [merchantId],
  )
  return rows[0]
}

t.test('a repeat returns 200 and the same bytes', async (t) => {
  const key = randomUUID()
  const first = await createPayment(service, merchant, {}, key)
  const repeat = await createPayment(service, merchant, {}, key)
  t.same([first.status, repeat.status], [201, 200])
  t.equal(repeat.text, first.text)
  t.equal(repeat.headers['location'], first.headers['location'])
})

t.test('a repeat with the same meaning in other JSON is the same request', async (t) => {
  const key = randomUUID()
  const { text } = await createPayment(service, merchant, { payer_name: 'Zoë', metadata: { a: '1', b: '2' } }, key)
  const bodies = [
    '{"metadata":{"b":"2","a":"1"},"payer_name":"Zo\\u00eb","redirect_uri":"https://shop.example/return","currency":"GBP","amount":"50"}',
    '{"amount":"50.0000","currency":"GBP","redirect_uri":"https://shop.example/return","payer_name":"Zoë","metadata":{"a":"1","b":"2"}}',
    '{"amount":"0050.0","currency":"GBP","redirect_uri":"https://shop.example/return","payer_name":"Zoë","metadata":{"a":"1","b":"2"}}',
  ]
  for (const raw of bodies) {
    const repeat = await service.call('POST', '/api/v1/payments', {
      merchant,
      raw,
      headers: { 'content-type': 'application/json', 'x-idempotency-key': key },
    })
    t.same([repeat.status, repeat.text], [200, text], raw)
  }
})

t.test('a key with another body is rejected and changes nothing', async (t) => {
  const own = await service.merchant()
  const key = randomUUID()
  const { body } = await createPayment(service, own, { payer_name: 'Zoë' }, key)
  const changes = [
    { amount: '50.01' },
    { currency: 'EUR' },
    { redirect_uri: 'https://shop.example/other' },
    { payer_name: 'Zoe' },
    { payer_name: undefined },
    { remittance_reference: 'INV 1' },
    { metadata: {} },
    { scenario: 'success' },
  ]
  for (const change of changes) {
    const answer = await createPayment(service, own, { payer_name: 'Zoë', ...change }, key)
    t.match(answer, { status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } }, JSON.stringify(change))
    t.notMatch(answer.text, body.payment_id)
  }
  t.same(await countOf(own.id), { payments: 1, consents: 1, events: 1, webhooks: 1 })
})

t.test('a scenario is part of the body, as a member or as a header', async (t) => {
  const key = randomUUID()
  const post = (body: unknown, scenario?: string) =>
    service.call('POST', '/api/v1/payments', {
      merchant,
      body,
      headers: { 'x-idempotency-key': key, ...(scenario === undefined ? {} : { 'x-sandbox-scenario': scenario }) },
    })
  t.equal((await post(paymentBody(), 'refund-fails')).status, 201)
  t.equal((await post(paymentBody(), 'refund-fails')).status, 200)
  t.equal((await post(paymentBody({ scenario: 'refund-fails' }))).status, 200)
  t.equal((await post(paymentBody())).status, 422)
  t.equal((await post(paymentBody(), 'sca-fails')).status, 422)
})

t.test('a key belongs to its merchant', async (t) => {
  const [one, two] = [await service.merchant(), await service.merchant()]
  const key = randomUUID()
  const answers = await Promise.all([
    createPayment(service, one, {}, key),
    createPayment(service, two, { amount: '7.00' }, key),
  ])
  t.same(
    answers.map(({ status }) => status),
    [201, 201],
  )
  t.not(answers[0].body.payment_id, answers[1].body.payment_id)
})

t.test('a rejected request does not use up its key', async (t) => {
  const key = randomUUID()
  t.equal((await createPayment(service, merchant, { amount: '0.01' }, key)).status, 400)
  t.equal((await createPayment(service, merchant, {}, key)).status, 201)
})

t.test('a repeat is answered even when the merchant may no longer take payments', async (t) => {
  const states = [
    `kyb_status = 'SUSPENDED'`,
    `payout_held = true, payout_held_at = now()`,
    'is_active = false',
    `fee_flat = 100`,
    `currencies = '{EUR}'`,
    'payment_amount_max = 1',
  ]
  for (const state of states) {
    const gated = await service.merchant()
    const key = randomUUID()
    const { text } = await createPayment(service, gated, {}, key)
    await service.owner.query(`update merchants set ${state} where id = $1`, [gated.id])
    const repeat = await createPayment(service, gated, {}, key)
    t.same([repeat.status, repeat.text], [200, text], state)
    t.equal((await createPayment(service, gated, { amount: '51.00' }, key)).status, 422, state)
    t.ok((await createPayment(service, gated)).status >= 400, `${state}: a new one is refused`)
  }
})

t.test('50 concurrent repeats create one payment, one event and one webhook', async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const own = await service.merchant()
    const key = randomUUID()
    const answers = await times(50, () => createPayment(service, own, {}, key))
    t.same(tally(answers.map(({ status }) => status)), { '200': 49, '201': 1 })
    t.equal(new Set(answers.map(({ text }) => text)).size, 1, 'all are told the same')
    t.same(await countOf(own.id), { payments: 1, consents: 1, events: 1, webhooks: 1 })
  }
})

t.test('concurrent repeats at two services over one database create one payment', async (t) => {
  for (let round = 0; round < 10; round += 1) {
    const own = await service.merchant()
    const key = randomUUID()
    const answers = await times(20, (index) => createPayment(index % 2 === 0 ? service : other, own, {}, key))
    t.same(tally(answers.map(({ status }) => status)), { '200': 19, '201': 1 })
    t.equal(new Set(answers.map(({ body }) => body.payment_id)).size, 1)
    t.same(await countOf(own.id), { payments: 1, consents: 1, events: 1, webhooks: 1 })
  }
})

t.test('of two concurrent bodies under one key, one creates the payment and the other is rejected', async (t) => {
  const own = await service.merchant()
  for (let round = 0; round < 10; round += 1) {
    const key = randomUUID()
    const answers = await times(20, (index) =>
      createPayment(index % 4 < 2 ? service : other, own, { amount: index % 2 === 0 ? '10.00' : '20.00' }, key),
    )
    t.same(tally(answers.map(({ status }) => status)), { '200': 9, '201': 1, '422': 10 })
    const ids = answers
      .filter(({ status }) => status !== 422)
      .map(({ body }) => `${body.payment_id} ${body.gross_amount}`)
    t.equal(new Set(ids).size, 1)
  }
})

t.test('a repeat returns the current status and the same URL', async (t) => {
  const key = randomUUID()
  const first = await createPayment(service, merchant, {}, key)
  await service.call('POST', `/api/v1/payments/${first.body.payment_id}/cancel`, { merchant })
  const repeat = await createPayment(service, merchant, {}, key)
  t.same(repeat.body, { ...first.body, status: 'Failed' })
  t.equal((await eventsOf(service, first.body.payment_id)).length, 2)
  t.equal((await webhooksOf(service, first.body.payment_id)).length, 2)
})
