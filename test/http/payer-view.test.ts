import t from 'tap'
import { createPayment, testService, untilStatus } from '../support/app.ts'
import type { Answer } from '../support/app.ts'

const service = await testService(t, { worker: true })
const merchant = await service.merchant()
const PAYER = {
  payer_name: 'Canary Payer',
  debtor_account_scheme: 'UK.OBIE.SortCodeAccountNumber',
  debtor_identification: '99887766554433',
  remittance_reference: 'CANARY-REF',
  debtor_bank_id: 'canary-bank',
  payer_email: 'canary@payer.example',
  payer_phone: '+447700900987',
  metadata: { canary: 'canary-metadata' },
}

type Created = { id: string; state: string; consentId: string }

async function create(changes: Record<string, unknown> = PAYER): Promise<Created> {
  const { body } = await createPayment(service, merchant, changes)
  return {
    id: body.payment_id,
    consentId: body.consent_id,
    state: new URL(body.redirect_url).searchParams.get('state') ?? '',
  }
}

function withState(method: 'GET' | 'POST', path: string, state: string): Promise<Answer> {
  return service.call(method, path, { headers: { 'x-payment-state': state } })
}

t.test("the state shows its payment: these members and nothing of the payer's", async (t) => {
  const { id, state } = await create()
  const answer = await withState('GET', `/api/v1/payments/${id}`, state)
  t.equal(answer.status, 200)
  t.same(Object.keys(answer.body).toSorted(), [
    'created_at',
    'currency',
    'end_to_end_id',
    'expires_at',
    'failure',
    'fee_amount',
    'gross_amount',
    'net_amount',
    'payment_id',
    'refunded_amount',
    'status',
    'status_history',
    'updated_at',
  ])
  t.same(Object.keys(answer.body.status_history[0]).toSorted(), [
    'changed_by',
    'created_at',
    'new_status',
    'ordinal',
    'previous_status',
  ])
  t.notMatch(answer.text, /canary|99887766554433|7700900987|redirect|consent/i)
  t.notOk(answer.text.includes(state))
})

t.test('a state gives access to its payment only, and a wrong one to none', async (t) => {
  const [a, b] = [await create(), await create()]
  const wrong = [b.state, '', 'x', `${a.state}x`, a.state.slice(0, -1), a.state.toUpperCase(), a.id, 'x'.repeat(8_000)]
  const texts = new Set<string>()
  for (const state of wrong) {
    const answer = await withState('GET', `/api/v1/payments/${a.id}`, state)
    t.equal(answer.status, 404, state)
    texts.add(answer.text.replace(/"request_id":"[^"]+"/, ''))
  }
  for (const id of ['x', '%00', '00000000-0000-0000-0000-000000000000'])
    t.equal((await withState('GET', `/api/v1/payments/${id}`, a.state)).status, 404)
  t.equal(texts.size, 1, 'one answer for all of them')
  const both = await service.call('GET', `/api/v1/payments/${a.id}`, {
    merchant,
    headers: { 'x-payment-state': b.state },
  })
  t.equal(both.status, 404, "a wrong state is not mended by a merchant's credential")
})

t.test('the state opens nothing but the payment and its cancellation', async (t) => {
  const { id, state } = await create()
  const closed: ['GET' | 'POST', string][] = [
    ['GET', '/api/v1/payments'],
    ['POST', '/api/v1/payments'],
    ['GET', `/api/v1/payments/${id}/events`],
    ['POST', `/api/v1/payments/${id}/refund`],
    ['GET', '/api/v1/portal/webhooks'],
    ['GET', '/api/v1/portal/webhook-endpoint'],
  ]
  for (const [method, path] of closed)
    t.match(await withState(method, path, state), { status: 401, body: { code: 'UNAUTHENTICATED' } }, path)
})

t.test('it ends an hour after the consent does', async (t) => {
  const { id, consentId, state } = await create()
  const endedAgo = (interval: string) =>
    service.owner.query('update payment_consents set expires_at = now() - $2::interval where id = $1', [
      consentId,
      interval,
    ])
  await endedAgo('59 minutes')
  t.match(await withState('GET', `/api/v1/payments/${id}`, state), {
    status: 200,
    body: { status: 'Failed', failure: { code: 'CONSENT_EXPIRED' } },
  })
  await endedAgo('61 minutes')
  t.match(await withState('GET', `/api/v1/payments/${id}`, state), { status: 404 })
  t.match(await withState('POST', `/api/v1/payments/${id}/cancel`, state), { status: 404 })
  t.match(await service.call('GET', `/payments/return?state=${state}`), { status: 404 })
  t.match(
    await service.call('GET', `/api/v1/payments/${id}`, { merchant }),
    { status: 200 },
    'its merchant reads it for ever',
  )
})

t.test('the payer may cancel with it, and the merchant sees that the payer did', async (t) => {
  const { id, state } = await create()
  const answer = await withState('POST', `/api/v1/payments/${id}/cancel`, state)
  t.match(answer, { status: 200, body: { status: 'Failed', failure: { code: 'ACCESS_DENIED', source: 'PAYER' } } })
  t.notMatch(answer.text, /canary/i)
  t.match(await withState('POST', `/api/v1/payments/${id}/cancel`, state), { status: 200 }, 'again is the same')
  t.match(await untilStatus(service, merchant, id, 'Failed'), {
    consent_status: 'REJECTED',
    payer_name: 'Canary Payer',
  })
})
