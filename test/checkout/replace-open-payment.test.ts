import { randomUUID } from 'node:crypto'
import t from 'tap'
import { MOCK_BANKS } from '../../src/banks/catalogue.ts'
import { atBank, createPayment, testService, untilStatus } from '../support/app.ts'
import { approve, plainToken, readCheckout, seenByPayer, startPayment } from '../support/checkout.ts'
import { completeSca, endConsent, refund } from '../support/payments.ts'

const service = await testService(t, { worker: true })
const merchant = await service.merchant()

t.test("starting again cancels the open payment in the payer's name", async (t) => {
  const token = plainToken(service, merchant)
  const first = await startPayment(service, token, { debtor_bank_id: 'mock-albion' })
  const second = await startPayment(service, token, { debtor_bank_id: 'mock-fern' })
  t.match([first.status, second.status], [201, 201])
  t.match((await seenByPayer(service, first)).body, {
    status: 'Failed',
    failure: { code: 'ACCESS_DENIED', source: 'PAYER' },
  })
  t.match((await seenByPayer(service, second)).body, { status: 'AwaitingAuthorisation' })
  const late = await completeSca(service, first.body.payment_id, await atBank(first.body.redirect_url, 'approve'))
  t.not(late.status, 500)
  t.match((await seenByPayer(service, first)).body, { status: 'Failed' }, 'the first tab pays nothing any more')
})

t.test('after a failure the same token can be used again, and each bank fails with its own scenario', async (t) => {
  const token = plainToken(service, merchant)
  for (const [bank, code] of [
    ['mock-doubtful', 'AUTHORISATION_FAILED'],
    ['mock-modest', 'LIMIT_EXCEEDED'],
    ['mock-empty', 'INSUFFICIENT_FUNDS'],
    ['mock-watchful', 'FRAUD_SUSPECTED'],
  ] as const) {
    const started = await startPayment(service, token, { debtor_bank_id: bank })
    t.equal(started.status, 201, bank)
    await approve(service, started)
    const failed = await untilStatus(service, merchant, started.body.payment_id, 'Failed')
    t.match(failed, { failure: { code }, debtor_bank_id: bank })
  }
  const started = await startPayment(service, token, { debtor_bank_id: 'mock-albion' })
  await approve(service, started)
  await untilStatus(service, merchant, started.body.payment_id, 'Settled')
})

t.test("a requested scenario overrides the bank's own", async (t) => {
  const started = await startPayment(service, plainToken(service, merchant), {
    debtor_bank_id: 'mock-albion',
    scenario: 'limit-exceeded',
  })
  await approve(service, started)
  t.match((await seenByPayer(service, started)).body, { status: 'Failed', failure: { code: 'LIMIT_EXCEEDED' } })
  const asked = await service.call('POST', '/api/v1/payments', {
    headers: {
      'x-checkout-token': plainToken(service, merchant),
      'x-idempotency-key': randomUUID(),
      'x-sandbox-scenario': 'account-blocked',
    },
    body: { debtor_bank_id: 'mock-albion' },
  })
  await approve(service, asked)
  t.match((await seenByPayer(service, asked)).body, { failure: { code: 'ACCOUNT_BLOCKED' } }, 'by its header as well')
  const own = await createPayment(service, merchant, { debtor_bank_id: 'mock-doubtful' })
  await completeSca(service, own.body.payment_id, await atBank(own.body.redirect_url, 'approve'))
  const failed = await service.call('GET', `/api/v1/payments/${own.body.payment_id}`, { merchant })
  t.match(failed.body, { failure: { code: 'AUTHORISATION_FAILED' } }, "a merchant's own payments go to these banks too")
  t.equal(MOCK_BANKS.find(({ id }) => id === 'mock-doubtful')?.scenario, 'sca-fails')
})

t.test('an order can be tried twenty times', async (t) => {
  const token = plainToken(service, merchant)
  const answers = []
  for (let tries = 0; tries < 20; tries += 1) answers.push(await startPayment(service, token, {}, `try-${tries}`))
  t.same(new Set(answers.map(({ status }) => status)), new Set([201]))
  const used = await startPayment(service, token)
  t.match(used, { status: 409, body: { code: 'CHECKOUT_ATTEMPTS_USED', next: /ask the shop/ } })
  const last = answers.at(-1) ?? used
  t.match(
    (await seenByPayer(service, last)).body,
    { status: 'AwaitingAuthorisation' },
    'the last one is not taken back',
  )
  t.match(await startPayment(service, token, {}, 'try-19'), { status: 200 }, 'and a repeat is answered')
  t.match(await startPayment(service, plainToken(service, merchant)), { status: 201 }, 'another order is another one')
  await approve(service, last)
  await untilStatus(service, merchant, last.body.payment_id, 'Settled')
  t.match(await startPayment(service, token), { status: 409, body: { code: 'CHECKOUT_ALREADY_PAID' } })
})

t.test("a paid order can't be paid again", async (t) => {
  const paid = { status: 409, body: { code: 'CHECKOUT_ALREADY_PAID' } }
  const token = plainToken(service, merchant)
  const key = randomUUID()
  const told = async (text: string) => (await readCheckout(service, text)).body.is_paid
  const slow = await startPayment(service, token, { debtor_bank_id: 'mock-slow' }, key)
  t.equal(await told(token), false, 'one that waits for its payer is not')
  await approve(service, slow)
  t.match((await seenByPayer(service, slow)).body, { status: 'Authorised' })
  t.match(await startPayment(service, token), paid, 'Authorised')
  t.equal(await told(token), true)
  t.match(await startPayment(service, token, { debtor_bank_id: 'mock-slow' }, key), { status: 200 }, 'but repeated')

  const other = plainToken(service, merchant)
  const quick = await startPayment(service, other)
  await approve(service, quick)
  await untilStatus(service, merchant, quick.body.payment_id, 'Settled')
  t.match(await startPayment(service, other), paid, 'Settled')
  t.match(await refund(service, merchant, { id: quick.body.payment_id }), { status: 200 })
  await untilStatus(service, merchant, quick.body.payment_id, 'Refunded')
  const answer = await startPayment(service, other)
  t.match(answer, paid, 'Refunded')
  t.ok(answer.body.next)
  t.equal(await told(other), true)
})

t.test('an order is identified by its jti, in every token of the shop', async (t) => {
  const jti = `order-${randomUUID()}`
  const first = await startPayment(service, plainToken(service, merchant, { jti, exp: 4_000_000_000 }))
  await approve(service, first)
  const anew = plainToken(service, merchant, { jti, exp: 4_000_000_001, returnUrl: 'http://127.0.0.1:4100/elsewhere' })
  t.match(await startPayment(service, anew), { status: 409, body: { code: 'CHECKOUT_ALREADY_PAID' } })
  const next = plainToken(service, merchant, { jti: `${jti}b`, exp: 4_000_000_000 })
  t.match(await startPayment(service, next), { status: 201 }, 'and another order by another one')
})

t.test('an expired payment does not block a new one', async (t) => {
  const token = plainToken(service, merchant)
  const first = await startPayment(service, token)
  await endConsent(service, first.body.payment_id)
  const second = await startPayment(service, token)
  t.match(second, { status: 201, body: { status: 'AwaitingAuthorisation' } })
  t.match((await seenByPayer(service, first)).body, { status: 'Failed', failure: { code: 'CONSENT_EXPIRED' } })
})

t.test('a payer who cancels may start again', async (t) => {
  const token = plainToken(service, merchant)
  const first = await startPayment(service, token)
  const cancelled = await service.call('POST', `/api/v1/payments/${first.body.payment_id}/cancel`, {
    headers: { 'x-payment-state': first.body.payment_state },
  })
  t.match(cancelled, { status: 200, body: { status: 'Failed', failure: { source: 'PAYER' } } })
  t.match(await startPayment(service, token), { status: 201 })
})
