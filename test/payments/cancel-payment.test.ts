import { randomUUID } from 'node:crypto'
import t from 'tap'
import { atBank, authorisedPayment, createPayment, testService } from '../support/app.ts'
import type { Answer } from '../support/app.ts'
import {
  completeSca,
  endConsent,
  eventsOf,
  movesOf,
  settledPayment,
  stateOf,
  tally,
  times,
  webhooksOf,
  webhookTypesOf,
} from '../support/payments.ts'

const service = await testService(t)
const merchant = await service.merchant()

async function created(): Promise<{ id: string; state: string; redirectUrl: string }> {
  const { body } = await createPayment(service, merchant)
  return {
    id: body.payment_id,
    state: new URL(body.redirect_url).searchParams.get('state') ?? '',
    redirectUrl: body.redirect_url,
  }
}

function cancel(id: string, as: { state: string } | 'merchant' = 'merchant'): Promise<Answer> {
  const path = `/api/v1/payments/${id}/cancel`
  return as === 'merchant'
    ? service.call('POST', path, { merchant })
    : service.call('POST', path, { headers: { 'x-payment-state': as.state } })
}

t.test('a merchant cancels a payment that waits for its payer', async (t) => {
  const { id } = await created()
  const answer = await cancel(id)
  t.match(answer, { status: 200, body: { payment_id: id, status: 'Failed', consent_status: 'REJECTED' } })
  t.match(answer.body.failure, { code: 'CANCELLED_BY_MERCHANT', source: 'MERCHANT', iso_code: 'DS02' })
  t.match(await eventsOf(service, id), [{}, { new_status: 'Failed', changed_by: 'MERCHANT_API', raw_payload: '{}' }])
  t.match(await webhooksOf(service, id), [
    {},
    {
      event_type: 'payment.failed',
      payload: { data: { failure: { code: 'CANCELLED_BY_MERCHANT', source: 'MERCHANT', isoCode: 'DS02' } } },
    },
  ])
})

t.test("a payer cancels with the payment's state, and sees no merchant data", async (t) => {
  const { id, state } = await created()
  const answer = await cancel(id, { state })
  t.match(answer, { status: 200, body: { status: 'Failed', failure: { code: 'ACCESS_DENIED', source: 'PAYER' } } })
  t.notOk('metadata' in answer.body || 'payer_name' in answer.body)
  t.same(await stateOf(service, id), { payment: 'Failed', consent: 'REJECTED', failure: 'ACCESS_DENIED' })
})

t.test("another payment's state gives no access", async (t) => {
  const { id } = await created()
  const stranger = await created()
  t.match(await cancel(id, { state: stranger.state }), { status: 404, body: { code: 'PAYMENT_NOT_FOUND' } })
  t.match(await cancel(randomUUID(), { state: stranger.state }), { status: 404 })
  t.same((await stateOf(service, id)).payment, 'AwaitingAuthorisation')
})

t.test("another merchant's payment is not found", async (t) => {
  const { id } = await created()
  const stranger = await service.merchant()
  const [foreign, unknown] = [id, randomUUID()].map((payment) =>
    service.call('POST', `/api/v1/payments/${payment}/cancel`, { merchant: stranger }),
  )
  t.match(await foreign, { status: 404, body: { code: 'PAYMENT_NOT_FOUND' } })
  const withoutIds = (answer: Answer | undefined) => ({ ...answer?.body, request_id: '' })
  t.same(withoutIds(await foreign), withoutIds(await unknown))
})

t.test('cancelling again returns the cancelled payment, whichever side cancelled it', async (t) => {
  const { id, state } = await created()
  const first = await cancel(id)
  t.same((await cancel(id)).text, first.text)
  t.match(await cancel(id, { state }), { status: 200, body: { failure: { code: 'CANCELLED_BY_MERCHANT' } } })
  t.same(await webhookTypesOf(service, id), ['payment.initiated', 'payment.failed'])
})

t.test("a payment that is authorised, settled or failed can't be cancelled", async (t) => {
  const authorised = await authorisedPayment(service, merchant)
  t.match(await cancel(authorised.id), { status: 409, body: { code: 'PAYMENT_NOT_CANCELLABLE' } })
  t.match(await cancel(authorised.id, authorised), { status: 409, body: { code: 'PAYMENT_NOT_CANCELLABLE' } })
  const settled = await settledPayment(service, merchant)
  t.match(await cancel(settled), { status: 409, body: { code: 'PAYMENT_NOT_CANCELLABLE', next: /refund/ } })
  const denied = await created()
  await completeSca(service, denied.id, await atBank(denied.redirectUrl, 'cancel'))
  t.match(await cancel(denied.id), { status: 409, body: { code: 'PAYMENT_NOT_CANCELLABLE' } })
  t.same(
    await movesOf(service, authorised.id),
    ['AwaitingAuthorisation', 'Authorised', 'Settled'],
    'the job settled it beside the other',
  )
})

t.test("a payment can't be cancelled after the consent's end: it has expired", async (t) => {
  const { id } = await created()
  await endConsent(service, id)
  t.match(await cancel(id), { status: 409, body: { code: 'PAYMENT_NOT_CANCELLABLE' } })
  t.same(await stateOf(service, id), { payment: 'Failed', consent: 'EXPIRED', failure: 'CONSENT_EXPIRED' })
})

t.test('20 concurrent cancellations of both sides cancel once', async (t) => {
  const { id, state } = await created()
  const answers = await times(20, (index) => cancel(id, index % 2 === 0 ? 'merchant' : { state }))
  t.same(tally(answers.map(({ status, body }) => `${status} ${body.status}`)), { '200 Failed': 20 })
  t.equal(new Set(answers.map(({ body }) => body.failure.code)).size, 1, 'all see the same one')
  t.same(await webhookTypesOf(service, id), ['payment.initiated', 'payment.failed'])
})
