import t from 'tap'
import { testService } from '../support/app.ts'
import type { Answer } from '../support/app.ts'
import { accept as acceptDispute, raise, submitEvidence } from '../support/disputes.ts'
import { refund, settledPayment } from '../support/payments.ts'
import { register } from '../support/registrations.ts'
import { countRows } from '../support/rows.ts'

/* A change that says what its caller has seen is made to that, or not at all. */

const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
const owner = await service.operator('OWNER')
const other = await service.operator('OWNER')

function put(path: string, body: object, headers = owner): Promise<Answer> {
  return service.call('PUT', `/api/v1/admin/${path}`, { headers, body })
}

const { body: acme } = await register(service)
const PATH = `merchants/${acme.merchant_id}`

async function trail(): Promise<{ action: string; reason: string | null }[]> {
  const { body } = await service.call('GET', `/api/v1/admin/${PATH}`, { headers: owner })
  return body.actions
}

t.test("an approval does not override another operator's rejection", async (t) => {
  const approve = { kyb_status: 'APPROVED', reason: 'papers', expected: { kyb_status: 'PENDING' } }
  t.match(await put(`${PATH}/kyb`, { kyb_status: 'SUSPENDED', reason: 'fraud' }, other), { status: 200 })
  const before = await countRows(service.owner)
  t.match(await put(`${PATH}/kyb`, approve), {
    status: 412,
    body: { code: 'CHANGED_MEANWHILE', error: /kyb status is SUSPENDED, no longer PENDING/, next: String },
  })
  t.same(await countRows(service.owner), before, 'nothing was recorded')
  t.match(await put(`${PATH}/kyb`, { ...approve, expected: { kyb_status: 'SUSPENDED' } }), { status: 200 })
  t.match(await put(`${PATH}/kyb`, { ...approve, reason: 'another one' }), { status: 412 }, 'nor is it said to be done')
})

t.test('the same request once more, after its answer was lost, is answered as the first', async (t) => {
  const suspend = { kyb_status: 'SUSPENDED', reason: 'chargebacks', expected: { kyb_status: 'APPROVED' } }
  t.match(await put(`${PATH}/kyb`, suspend), { status: 200 })
  const before = await trail()
  t.match(await put(`${PATH}/kyb`, suspend), { status: 200, body: { kyb_status: 'SUSPENDED' } })
  t.same(await trail(), before, 'and recorded once')
  t.match(await put(`${PATH}/kyb`, suspend, other), { status: 412 }, 'of somebody else it is another one')
  t.match(await put(`${PATH}/kyb`, { ...suspend, reason: 'something else' }), { status: 412 })
})

t.test('holds, activity and fees change only from the expected values', async (t) => {
  const changes: [path: string, body: object, seen: object, wrong: object][] = [
    ['hold', { payout_held: true }, { payout_held: false }, { payout_held: true }],
    ['active', { is_active: false }, { is_active: true }, { is_active: false }],
    [
      'fees',
      { fee_flat: '0.31' },
      { fee_percentage: '0.01', fee_flat: '0.2' },
      { fee_percentage: '0.01', fee_flat: '9' },
    ],
  ]
  for (const [name, body, seen, wrong] of changes) {
    const refused = await put(`${PATH}/${name}`, { ...body, reason: 'r', expected: wrong })
    t.match(refused, { status: 412, body: { code: 'CHANGED_MEANWHILE' } }, name)
    t.match(await put(`${PATH}/${name}`, { ...body, reason: 'r', expected: seen }), { status: 200 }, name)
  }
  for (const expected of [{ kyb: 'PENDING' }, { kyb_status: 'GONE' }, {}, null])
    t.match(await put(`${PATH}/kyb`, { kyb_status: 'APPROVED', expected }), { status: 400 }, JSON.stringify(expected))
})

t.test('a dispute is decided as it was read, and pays back the sum that was agreed to', async (t) => {
  const merchant = await service.merchant()
  const paymentId = await settledPayment(service, merchant, { amount: '50.00' })
  const { body: dispute } = await raise(service, merchant, paymentId)
  const path = `disputes/${dispute.id}`
  await submitEvidence(service, merchant, dispute.id)
  const late = { reason: 'big', expected: { status: 'OPEN' } }
  t.match(await put(`${path}/escalate`, late), {
    status: 412,
    body: { error: /status is UNDER_REVIEW, no longer OPEN/ },
  })
  const resolve = {
    status: 'RESOLVED_PAYER_FAVOUR',
    resolution_note: 'no proof',
    refund: true,
    expected: { status: 'UNDER_REVIEW', refundable_amount: '50.00' },
  }
  t.match(await refund(service, merchant, { id: paymentId, body: { amount: '20.00' } }), { status: 200 })
  t.match(await put(`${path}/resolve`, resolve), {
    status: 412,
    body: { error: /refundable amount is 30\.00, no longer 50\.00$/ },
  })
  const accept = { refund: true, expected: { status: 'UNDER_REVIEW', refundable_amount: '50.00' } }
  t.match(await acceptDispute(service, merchant, dispute.id, { body: accept }), { status: 412 })
  const expected = { status: 'UNDER_REVIEW', refundable_amount: '30.00' }
  t.match(await put(`${path}/resolve`, { ...resolve, expected }), {
    status: 200,
    body: { refund: { amount: '30.00' } },
  })
})
