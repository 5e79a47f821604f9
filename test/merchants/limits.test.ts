import t from 'tap'
import { createPayment, testService } from '../support/app.ts'
import type { TestMerchant } from '../support/app.ts'
import { refund, settledPayment } from '../support/payments.ts'
import { countRows } from '../support/rows.ts'

const service = await testService(t)
const { owner } = service
const operator = await service.operator('OWNER')

function pathOf(id: string): string {
  return `/api/v1/admin/merchants/${id}/limits`
}

async function setLimits(merchant: Pick<TestMerchant, 'id'>, body: object, query = '') {
  return service.call('PUT', `${pathOf(merchant.id)}${query}`, { headers: operator, body })
}

t.test('limits are set in part or as a whole, and each change is in the audit trail', async (t) => {
  const merchant = await service.merchant()
  const first = { merchant_id: merchant.id, currencies: ['GBP', 'EUR'], payment_amount_max: '1000000.00' }
  t.strictSame((await service.call('GET', pathOf(merchant.id), { headers: operator })).body, first)
  const { status, body } = await setLimits(merchant, { payment_amount_max: '500', reason: 'new shop' })
  t.strictSame([status, body], [200, { ...first, payment_amount_max: '500.00' }])
  t.match(await setLimits(merchant, { currencies: ['EUR', 'EUR'] }), { body: { currencies: ['EUR'] } })
  t.match(await service.call('GET', `/api/v1/admin/merchants/${merchant.id}`, { headers: operator }), {
    body: { currencies: ['EUR'], payment_amount_max: '500.00' },
  })
  const { body: trail } = await service.call(
    'GET',
    `/api/v1/admin/audit?merchant_id=${merchant.id}&action=merchant.limits`,
    { headers: operator },
  )
  t.match(trail.data, [
    { before: { currencies: ['GBP', 'EUR'] }, after: { currencies: ['EUR'], payment_amount_max: '500.00' } },
    { before: { payment_amount_max: '1000000.00' }, after: { payment_amount_max: '500.00' }, reason: 'new shop' },
  ])
})

t.test('setting the current limits again, in any form, changes nothing, and a dry run neither', async (t) => {
  const merchant = await service.merchant()
  const before = await countRows(owner)
  for (const body of [{ currencies: ['EUR', 'GBP'] }, { payment_amount_max: '1000000' }])
    t.match(await setLimits(merchant, body), { status: 200 })
  t.match(await setLimits(merchant, { currencies: ['GBP'] }, '?dry_run=true'), { body: { currencies: ['GBP'] } })
  t.same(await countRows(owner), before)
  t.match(await service.call('GET', pathOf(merchant.id), { headers: operator }), {
    body: { currencies: ['GBP', 'EUR'] },
  })
})

t.test('limits change only from the values that the caller has seen', async (t) => {
  const merchant = await service.merchant()
  const body = { payment_amount_max: '500.00', reason: 'agreed' }
  t.match(await setLimits(merchant, { ...body, expected: { currencies: ['GBP'], payment_amount_max: '9.00' } }), {
    status: 412,
    body: { code: 'CHANGED_MEANWHILE', current: { currencies: 'GBP,EUR', payment_amount_max: '1000000.00' } },
  })
  const seen = { currencies: ['EUR', 'GBP'], payment_amount_max: '1000000' }
  t.match(await setLimits(merchant, { ...body, expected: seen }), { status: 200 })
})

t.test('invalid limits are rejected with every field, and nothing is written', async (t) => {
  const merchant = await service.merchant()
  const before = await countRows(owner)
  for (const [body, paths] of [
    [{}, ['']],
    [{ reason: 'none' }, ['']],
    [{ currencies: [] }, ['currencies']],
    [{ currencies: ['GBP', 'USD'] }, ['currencies.1']],
    [{ currencies: ['gbp'], payment_amount_max: '0' }, ['currencies.0', 'payment_amount_max']],
    [{ currencies: 'GBP' }, ['currencies']],
    [{ payment_amount_max: '1000000.01' }, ['payment_amount_max']],
    [{ payment_amount_max: '0.001' }, ['payment_amount_max']],
    [{ payment_amount_max: '-1' }, ['payment_amount_max']],
    [{ payment_amount_max: 500 }, ['payment_amount_max']],
    [{ payment_amount_max: '500', max: 1 }, ['max']],
  ] as const) {
    const answer = await setLimits(merchant, body)
    t.equal(answer.status, 400, JSON.stringify(body))
    const found = answer.body.errors.map(({ path }: { path: string }) => path)
    t.same([...new Set(found)], paths, JSON.stringify(body))
  }
  t.match(await setLimits({ id: 'none' }, { currencies: ['GBP'] }), {
    status: 404,
    body: { code: 'MERCHANT_NOT_FOUND' },
  })
  t.same(await countRows(owner), before)
})

t.test('a payment beyond the limits is rejected with the limit; older ones go on', async (t) => {
  const merchant = await service.merchant()
  const id = await settledPayment(service, merchant, { amount: '800.00' })
  await setLimits(merchant, { currencies: ['GBP'], payment_amount_max: '500.00' })
  t.match(await createPayment(service, merchant, { amount: '500.00' }), { status: 201 })
  t.match(await createPayment(service, merchant, { amount: '500.01' }), {
    status: 400,
    body: {
      code: 'VALIDATION_FAILED',
      available: '500.00',
      errors: [{ path: 'amount', code: 'TOO_LARGE', message: /above 500\.00, .*AM13/, value: '500.01' }],
    },
  })
  t.match(await createPayment(service, merchant, { amount: '5.00', currency: 'EUR' }), {
    status: 400,
    body: {
      code: 'UNSUPPORTED_CURRENCY',
      errors: [{ path: 'currency', value: 'EUR', expected: 'GBP', message: /currencies: GBP$/ }],
    },
  })
  t.match(await refund(service, merchant, { id }), { status: 200 })
})
