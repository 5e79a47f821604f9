import { randomUUID } from 'node:crypto'
import t from 'tap'
import { setPayoutHold } from '../../src/merchant-status/set-payout-hold.ts'
import { createPayment, testService } from '../support/app.ts'
import type { Answer, TestMerchant, TestService } from '../support/app.ts'
import { settledPayment } from '../support/payments.ts'
import { countRows } from '../support/rows.ts'
import { plantDeliveries } from '../support/webhooks.ts'

const REQUEST_ID = { 'x-request-id': 'the-same-for-all' }

function explain(service: TestService, merchant: TestMerchant, id: string): Promise<Answer> {
  return service.call('GET', `/api/v1/portal/explain/${id}`, { merchant, headers: REQUEST_ID })
}

/** The ids of one record of each kind. */
async function recordsOf(service: TestService, merchant: TestMerchant): Promise<Record<string, string>> {
  const payment = await settledPayment(service, merchant)
  const [delivery = ''] = await plantDeliveries(service.owner, merchant.id, { nextRetryAt: 'infinity' })
  const { body: dispute } = await service.call('POST', `/api/v1/payments/${payment}/dispute`, {
    merchant,
    body: { reason: 'OTHER', statement: 'wrong' },
  })
  await service.call('POST', `/api/v1/payments/${payment}/refund`, { merchant, body: { amount: '1.00' } })
  const { rows } = await service.owner.query(
    `select r.id as refund, p.end_to_end_id, d.event_id
     from payment_refunds r, payment_intents p, webhook_deliveries d
     where p.id = $1 and r.payment_intent_id = $1 and d.id = $2`,
    [payment, delivery],
  )
  return {
    payment,
    delivery,
    dispute: dispute.id,
    merchant: merchant.id,
    refund: rows[0].refund,
    'end-to-end id': rows[0].end_to_end_id,
    'event id': rows[0].event_id,
  }
}

t.test("unknown, malformed and other merchants' ids have the same response", async (t) => {
  const service = await testService(t)
  const [mine, theirs] = [await service.merchant(), await service.merchant()]
  const own = await recordsOf(service, mine)
  const others = await recordsOf(service, theirs)
  const before = await countRows(service.owner)
  for (const [what, id] of Object.entries(own)) t.equal((await explain(service, mine, id)).status, 200, `my ${what}`)
  const answers = await Promise.all(
    [
      ...Object.values(others),
      randomUUID(),
      'nonsense',
      '0',
      'a'.repeat(300),
      '%00',
      `SVC${'0'.repeat(32)}`,
      'evt_1',
    ].map((id) => explain(service, mine, id)),
  )
  for (const answer of answers) t.equal(answer.text, answers[0]?.text)
  t.match(answers[0], { status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
  t.same(await countRows(service.owner), before, 'explaining writes nothing')
  await t.test('an operator can explain all of them', async (t) => {
    const headers = await service.operator()
    for (const [what, id] of Object.entries(others)) {
      const { status, body } = await service.call('GET', `/api/v1/admin/explain/${id}`, { headers })
      t.match({ status, body }, { status: 200, body: { merchant_id: theirs.id } }, what)
    }
    const unknown = await service.call('GET', `/api/v1/admin/explain/${randomUUID()}`, { headers })
    t.match(unknown, { status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
  })
})

t.test('an explanation contains no payer data, payload, address or secret', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant({ webhookUrl: 'https://shop.example/hook?key=hush' })
  const { body } = await createPayment(service, merchant, {
    payer_name: 'Paula Payer',
    payer_email: 'paula@payer.example',
    remittance_reference: 'INV-77',
    metadata: { order: 'O-1' },
    debtor_account_scheme: 'UK.OBIE.SortCodeAccountNumber',
    debtor_identification: '20325912345678',
  })
  const texts = [
    (await explain(service, merchant, body.payment_id)).text,
    (await explain(service, merchant, merchant.id)).text,
    (await service.call('GET', `/api/v1/admin/explain/${body.payment_id}`, { headers: await service.operator() })).text,
  ]
  const state = new URL(body.redirect_url).searchParams.get('state') ?? 'none'
  for (const text of texts)
    t.notMatch(text, new RegExp(`aula|INV-77|O-1|12345678|hush|eventId|${state}|${merchant.secret}`))
})

t.test('SUPPORT sees masked addresses and no commands that change anything', async (t) => {
  const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
  const merchant = await service.merchant()
  const payment = await createPayment(service, merchant)
  const actor = { id: 'o-1', name: 'grace@pay.example', role: 'OPS' }
  await setPayoutHold(service.app, { id: merchant.id, payoutHeld: true, reason: 'wrote to ada@acme.example', actor })
  const path = `/api/v1/admin/explain/${merchant.id}`
  const support = await service.call('GET', path, { headers: await service.operator('SUPPORT') })
  const ops = await service.call('GET', path, { headers: await service.operator('OPS') })
  t.match(ops.text, /grace@pay\.example.*ada@acme\.example/)
  t.notMatch(support.text, /grace@|ada@/)
  t.match(support.text, /g\*\*\*@pay\.example/)
  t.match(support.body, { next: [{ how: null }], also: [{ what: 'release its payouts', how: null }, {}] })
  t.match(ops.body.also, [{ how: `svc hold release ${merchant.realm} --reason "..."` }, {}])
  const own = await service.call('GET', `/api/v1/portal/explain/${payment.body.payment_id}`, { merchant })
  t.notMatch(own.text, /grace|ada@/)
})

t.test('roles without access to webhooks get the rest, and left_out says so', async (t) => {
  const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
  const merchant = await service.merchant({ serverRole: 'FINANCE' })
  const developer = await service.merchant({ serverRole: 'DEVELOPER' })
  const [delivery = ''] = await plantDeliveries(service.owner, merchant.id, { nextRetryAt: 'infinity' })
  const whole = await service.call('GET', `/api/v1/portal/explain/${merchant.id}`, { merchant })
  t.equal(whole.status, 200)
  t.notMatch(whole.text, /webhook endpoint: deliveries/)
  t.match(await service.call('GET', `/api/v1/portal/explain/${delivery}`, { merchant }), {
    status: 403,
    body: { code: 'FORBIDDEN_ROLE' },
  })
  t.match(await service.call('GET', `/api/v1/portal/explain/${delivery}`, { merchant: developer }), { status: 404 })
})
