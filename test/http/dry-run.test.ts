import t from 'tap'
import { testService } from '../support/app.ts'
import { raise } from '../support/disputes.ts'
import { settledPayment } from '../support/payments.ts'
import { hashTables } from '../support/rows.ts'

const service = await testService(t)
const merchant = await service.merchant()
const operator = await service.operator()

t.test('a refund is answered as the real one, and nothing of it is kept', async (t) => {
  const id = await settledPayment(service, merchant)
  const path = `/api/v1/payments/${id}/refund`
  const before = await hashTables(service.owner)
  const dry = await service.call('POST', `${path}?dry_run=true`, { merchant, body: { amount: '20.00' } })
  t.match(dry, {
    status: 200,
    body: { refund_status: 'EXECUTED', refunded_amount: '20.00', remaining_amount: '30.00' },
  })
  t.same(await hashTables(service.owner), before)
  const real = await service.call('POST', path, { merchant, body: { amount: '20.00' } })
  t.same({ ...real.body, refund_id: '' }, { ...dry.body, refund_id: '' })
})

t.test('a rejected dry run has the code of the real request, and changes nothing either', async (t) => {
  const id = await settledPayment(service, merchant)
  const { body: dispute } = await raise(service, merchant, id)
  const before = await hashTables(service.owner)
  for (const [path, body] of [
    [`/api/v1/payments/${id}/refund`, { amount: '50.01' }],
    [`/api/v1/payments/${id}/cancel`, {}],
    [`/api/v1/payments/${id}/dispute`, { reason: 'OTHER' }],
    [`/api/v1/portal/disputes/${dispute.id}/accept`, { expected: { status: 'OPEN' } }],
  ] as const) {
    const dry = await service.call('POST', `${path}?dry_run=true`, { merchant, body })
    t.same(await hashTables(service.owner), before)
    const real = await service.call('POST', path, { merchant, body })
    t.same([dry.status, dry.body.code], [real.status, real.body.code], path)
  }
})

t.test('a hold is tried: no audit entry is kept', async (t) => {
  const path = `/api/v1/admin/merchants/${merchant.id}/hold`
  const body = { payout_held: true, reason: 'under investigation' }
  const before = await hashTables(service.owner)
  t.match(await service.call('PUT', `${path}?dry_run=true`, { headers: operator, body }), {
    status: 200,
    body: { payout_held: true },
  })
  t.same(await hashTables(service.owner), before)
})
