import t from 'tap'
import { atBank, authorisedPayment, createPayment, testService } from '../support/app.ts'
import type { Answer } from '../support/app.ts'
import { comparable, messagesTo, paymentOf, signIn } from '../support/payers.ts'
import { settlePayments } from '../../src/payments/settle-payments.ts'
import { approve, plainToken, seenByPayer, startPayment } from '../support/checkout.ts'

const service = await testService(t)
const merchant = await service.merchant()

const leave = (id: string, state: string, body: unknown): Promise<Answer> =>
  service.call('POST', `/api/v1/payments/${id}/contact`, { headers: { 'x-payment-state': state }, body })

/** A payment that a payer started with a token, approved. */
async function authorisedCheckout(changes: Record<string, unknown> = {}): Promise<{ id: string; state: string }> {
  const started = await startPayment(service, plainToken(service, merchant, changes), { debtor_bank_id: 'mock-slow' })
  await approve(service, started)
  return { id: started.body.payment_id, state: started.body.payment_state }
}

const listed = async (contact: { email: string } | { phone: string }): Promise<string[]> => {
  const headers = await signIn(service, contact)
  const { body } = await service.call('GET', '/api/v1/payer/payments', { headers })
  return body.data.map(({ payment_id }: { payment_id: string }) => payment_id)
}

t.test('a payer leaves a contact on the receipt, and finds the payment by it', async (t) => {
  const { id, state } = await authorisedCheckout()
  const left = await leave(id, state, { email: ' New@Payer.Example ' })
  t.same([left.status, left.body], [200, { status: 'kept' }])
  t.same(await messagesTo(service, 'new@payer.example'), [], 'nothing is sent there unasked')
  t.same(await listed({ email: 'new@payer.example' }), [id])
  const other = await leave(id, state, { phone: '07700 900777' })
  t.match(other, { status: 409, body: { code: 'CONTACT_ALREADY_KNOWN' } }, 'nobody puts another one beside it')
  const phone = await authorisedCheckout()
  t.equal((await leave(phone.id, phone.state, { phone: '07700 900777' })).status, 200, 'or a phone number')
  t.same(await listed({ phone: '+447700900777' }), [phone.id])
  t.equal((await leave(phone.id, phone.state, { email: 'eve@payer.example' })).status, 409)
})

t.test('an existing contact stays, and is not revealed', async (t) => {
  const { id, state } = await authorisedCheckout()
  await service.owner.query(
    `update payment_consents set payer_email_hash = $2
     where id = (select consent_id from payment_intents where id = $1)`,
    [id, await service.app.lookupHash('EMAIL', 'known@payer.example')],
  )
  const same = await leave(id, state, { email: 'known@payer.example' })
  t.match(same, { status: 409, body: { code: 'CONTACT_ALREADY_KNOWN' } })
  t.same(comparable(await leave(id, state, { email: 'eve@payer.example' })), comparable(same))
  t.same(comparable(await leave(id, state, { phone: '07700 900778' })), comparable(same), 'nor one of the other kind')
  t.notMatch(same.text, /payer\.example/)
  t.same(await listed({ email: 'known@payer.example' }), [id])
})

t.test('of two concurrent contacts one is stored', async (t) => {
  const { id, state } = await authorisedCheckout()
  const emails = Array.from({ length: 10 }, (_, at) => `race${at}@payer.example`)
  const answers = await Promise.all(emails.map((email) => leave(id, state, { email })))
  t.equal(answers.filter(({ status }) => status === 200).length, 1)
  t.equal(answers.filter(({ status }) => status === 409).length, 9)
})

t.test('payments without a checkout and mandates accept no contact', async (t) => {
  const refused = { status: 409, body: { code: 'CONTACT_NOT_TAKEN', next: /ask the shop/ } }
  const made = await authorisedPayment(service, merchant)
  t.match(await leave(made.id, made.state, { email: 'eve@payer.example' }), refused)
  const known = await authorisedPayment(service, merchant, { payer_email: 'ada@payer.example' })
  t.match(await leave(known.id, known.state, { email: 'eve@payer.example' }), refused, 'were it known or not')
  const mandate = await authorisedPayment(service, merchant, {
    consent_type: 'VARIABLE_RECURRING',
    control_parameters: { max_amount_per_payment: '100.00' },
  })
  // No checkout creates a mandate today; if one did, the contact that was left could be used to end it.
  await service.owner.query('update payment_intents set checkout_token_hash = $2 where id = $1', [
    mandate.id,
    'f'.repeat(64),
  ])
  t.match(await leave(mandate.id, mandate.state, { email: 'eve@payer.example' }), refused)
})

t.test('a payment accepts no contact before a bank has authorised it', async (t) => {
  const { body } = await createPayment(service, merchant)
  const { rows } = await service.owner.query('select bank_consent_id as state from payment_intents where id = $1', [
    body.payment_id,
  ])
  const early = await leave(body.payment_id, rows[0].state, { email: 'early@payer.example' })
  t.match(early, { status: 409, body: { code: 'PAYMENT_NOT_AUTHORISED' } })
  const back = await atBank(body.redirect_url, 'cancel')
  await service.call('POST', `/api/v1/payments/${body.payment_id}/sca-complete`, { body: back })
  t.equal(
    (await leave(body.payment_id, rows[0].state, { email: 'early@payer.example' })).status,
    409,
    'nor after a refusal',
  )
})

t.test('a settled payment accepts a contact, and an invalid one is rejected', async (t) => {
  const started = await startPayment(service, plainToken(service, merchant))
  await approve(service, started)
  const { payment_id: id, payment_state: state } = started.body
  await settlePayments(service.app)
  t.match((await seenByPayer(service, started)).body, { status: 'Settled' })
  for (const body of [{ phone: '12345' }, { email: 'x' }, {}, { email: 'a@b.example', phone: '+447700900778' }])
    t.equal((await leave(id, state, body)).status, 400, JSON.stringify(body))
  t.equal((await leave(id, state, { email: 'settled@payer.example' })).status, 200)
})

t.test("without the payment's state it is not found", async (t) => {
  const { id, state } = await authorisedCheckout()
  const other = await authorisedPayment(service, merchant)
  const body = { email: 'eve@payer.example' }
  for (const wrong of [other.state, `${state}x`, 'x'])
    t.match(await leave(id, wrong, body), { status: 404, body: { code: 'PAYMENT_NOT_FOUND' } })
  t.equal((await service.call('POST', `/api/v1/payments/${id}/contact`, { body })).status, 401)
  t.equal((await service.call('POST', `/api/v1/payments/${id}/contact`, { merchant, body })).status, 401)
  await paymentOf(service, merchant, { payer_email: body.email })
  const headers = await signIn(service, body)
  t.equal((await service.call('POST', `/api/v1/payments/${id}/contact`, { headers, body })).status, 401)
})
