import { randomUUID } from 'node:crypto'
import t from 'tap'
import { testService } from '../../support/app.ts'
import { refund, settledPayment } from '../../support/payments.ts'
import { noAnswer, steeredBank } from '../../support/steered-bank.ts'

const bank = steeredBank()
const service = await testService(t, { overrides: { bank: bank.connector } })
bank.behind(service.app.mockBank)
const merchant = await service.merchant()

function list(id: string, of = merchant) {
  return service.call('GET', `/api/v1/payments/${id}/refunds`, { merchant: of })
}

t.test("a payment's refunds are listed in order with their status: executed, failed and pending", async (t) => {
  const id = await settledPayment(service, merchant)
  t.strictSame((await list(id)).body, { data: [], has_more: false, next_cursor: null })
  const first = await refund(service, merchant, { id, body: { amount: '5', reason: 'one shoe' } })
  bank.steer('refund', async () => ({ outcome: 'refused', failureCode: 'ACCOUNT_CLOSED' }))
  await refund(service, merchant, { id, body: { amount: '1.50' } })
  bank.steer('refund', noAnswer)
  await refund(service, merchant, { id, body: { amount: '2.00' } })
  bank.steer('refund', undefined)
  const { status, body } = await list(id)
  t.equal(status, 200)
  t.match(body.data, [
    { payment_id: id, amount: '5.00', currency: 'GBP', refund_status: 'EXECUTED', reason: 'one shoe', failure: null },
    {
      amount: '1.50',
      refund_status: 'FAILED',
      reason: null,
      failure: { code: 'ACCOUNT_CLOSED', iso_code: 'AC05', source: 'ASPSP_REJECTION' },
      bank_reference: null,
    },
    { amount: '2.00', refund_status: 'PENDING', failure: null, bank_reference: null },
  ])
  t.equal(body.data.length, 3)
  t.equal(body.data[0].refund_id, first.body.refund_id)
  t.type(body.data[0].bank_reference, 'string')
})

t.test('refunds come in pages, each once, and a foreign cursor is rejected', async (t) => {
  const id = await settledPayment(service, merchant)
  const made: string[] = []
  for (let count = 0; count < 5; count += 1)
    made.push((await refund(service, merchant, { id, body: { amount: '1.00' } })).body.refund_id)
  const seen: string[] = []
  let cursor = ''
  do {
    const { status, body } = await service.call(
      'GET',
      `/api/v1/payments/${id}/refunds?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
      { merchant },
    )
    t.equal(status, 200)
    t.equal(body.has_more, body.next_cursor !== null)
    t.ok(body.data.length <= 2)
    seen.push(...body.data.map((row: { refund_id: string }) => row.refund_id))
    cursor = body.next_cursor ?? ''
  } while (cursor !== '')
  t.same(seen, made)
  const { body: page } = await service.call('GET', `/api/v1/payments/${id}/refunds?limit=1`, { merchant })
  const other = await settledPayment(service, merchant)
  await refund(service, merchant, { id: other })
  t.match(await service.call('GET', `/api/v1/payments/${other}/refunds?cursor=${page.next_cursor}`, { merchant }), {
    status: 200,
    body: { data: [], has_more: false },
  })
  for (const query of ['limit=0', 'limit=101', 'cursor=x', 'x=1'])
    t.match(await service.call('GET', `/api/v1/payments/${id}/refunds?${query}`, { merchant }), {
      status: 400,
      body: { code: 'VALIDATION_FAILED' },
    })
})

t.test("another merchant's payment, an unknown one and a malformed id are the same 404", async (t) => {
  const id = await settledPayment(service, merchant)
  await refund(service, merchant, { id })
  const stranger = await service.merchant()
  for (const each of [id, randomUUID(), 'nonsense'])
    t.match(await list(each, stranger), { status: 404, body: { code: 'PAYMENT_NOT_FOUND' } })
})
