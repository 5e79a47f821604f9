import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createPayment, testService } from '../support/app.ts'
import type { TestMerchant } from '../support/app.ts'
import { settledPayment } from '../support/payments.ts'
import { countRows } from '../support/rows.ts'

const service = await testService(t)
const { owner } = service
const operator = await service.operator('OWNER')

function pathOf(id: string): string {
  return `/api/v1/admin/merchants/${id}/fees`
}

async function setFees(merchant: Pick<TestMerchant, 'id'>, body: object) {
  return service.call('PUT', pathOf(merchant.id), { headers: operator, body })
}

t.test('fees are set in part or as a whole, and every change is listed with the fees before it', async (t) => {
  const merchant = await service.merchant()
  const first = await service.call('GET', pathOf(merchant.id), { headers: operator })
  t.strictSame(first.body, { merchant_id: merchant.id, fee_percentage: '0.0100', fee_flat: '0.20', history: [] })
  await setFees(merchant, { fee_percentage: '0.0075', reason: 'volume' })
  const { status, body } = await setFees(merchant, { fee_percentage: '0', fee_flat: '0.5' })
  t.equal(status, 200)
  t.match(body, {
    merchant_id: merchant.id,
    fee_percentage: '0.0000',
    fee_flat: '0.50',
    history: [
      {
        fee_percentage: '0.0000',
        fee_flat: '0.50',
        reason: null,
        before: { fee_percentage: '0.0075', fee_flat: '0.20' },
      },
      {
        fee_percentage: '0.0075',
        fee_flat: '0.20',
        reason: 'volume',
        before: { fee_percentage: '0.0100', fee_flat: '0.20' },
      },
    ],
  })
  t.match(body.history[0], { changed_by: /./, changed_at: /^\d{4}-.*Z$/ })
  t.equal(body.history.length, 2)
  t.strictSame((await service.call('GET', pathOf(merchant.id), { headers: operator })).body, body)
})

t.test('setting the current fees again, in any form, changes nothing', async (t) => {
  const merchant = await service.merchant()
  const before = await countRows(owner)
  for (const body of [{ fee_percentage: '0.01' }, { fee_flat: '0.2' }, { fee_percentage: '0.0100', fee_flat: '00.20' }])
    t.match(await setFees(merchant, body), { status: 200, body: { history: [] } })
  t.same(await countRows(owner), before)
})

t.test('the last hundred changes are returned', async (t) => {
  const merchant = await service.merchant()
  for (let pennies = 100; pennies < 203; pennies += 1) await setFees(merchant, { fee_flat: `${pennies}.00` })
  const { body } = await service.call('GET', pathOf(merchant.id), { headers: operator })
  t.equal(body.history.length, 100)
  t.equal(body.history[0].fee_flat, '202.00')
  t.equal(body.history.at(-1).fee_flat, '103.00')
})

t.test('invalid fees are rejected with every field, and nothing is written', async (t) => {
  const merchant = await service.merchant()
  const before = await countRows(owner)
  for (const [body, paths] of [
    [{}, ['']],
    [{ reason: 'none' }, ['']],
    [{ fee_percentage: '1', fee_flat: '-1' }, ['fee_percentage', 'fee_flat']],
    [{ fee_percentage: '1.0000' }, ['fee_percentage']],
    [{ fee_percentage: '0.00001' }, ['fee_percentage']],
    [{ fee_percentage: '.5' }, ['fee_percentage']],
    [{ fee_percentage: 0.01 }, ['fee_percentage']],
    [{ fee_flat: 0.2 }, ['fee_flat']],
    [{ fee_flat: '0.201' }, ['fee_flat']],
    [{ fee_flat: '123456789' }, ['fee_flat']],
    [{ fee_flat: 'NaN' }, ['fee_flat']],
    [{ fee_flat: '1e3' }, ['fee_flat']],
    [{ fee_flat: '0.30', reason: ' ' }, ['reason']],
    [{ fee_flat: '0.30', fees: 1 }, ['fees']],
  ] as const) {
    const answer = await setFees(merchant, body)
    t.equal(answer.status, 400, JSON.stringify(body))
    t.same(
      answer.body.errors.map(({ path }: { path: string }) => path),
      paths,
    )
  }
  for (const id of [randomUUID(), 'nonsense', `${merchant.id}x`])
    for (const method of ['GET', 'PUT'] as const) {
      const answer = await service.call(method, pathOf(id), {
        headers: operator,
        ...(method === 'PUT' ? { body: { fee_flat: '1.00' } } : {}),
      })
      t.match(answer, { status: 404, body: { code: 'MERCHANT_NOT_FOUND' } }, `${method} ${id}`)
    }
  t.same(await countRows(owner), before)
})

async function snapshotOf(id: string): Promise<unknown> {
  const { rows } = await owner.query(
    `select fee_percentage, fee_flat, fee_amount, net_amount, md5(p::text) as whole from payment_intents p where id = $1`,
    [id],
  )
  return rows[0]
}

t.test('payments that are there keep their fees to the last column; the next one has the new ones', async (t) => {
  const merchant = await service.merchant()
  const settled = await settledPayment(service, merchant)
  const { body: waiting } = await createPayment(service, merchant, { amount: '33.33' })
  const before = [await snapshotOf(settled), await snapshotOf(waiting.payment_id)]
  t.match(before[1], { fee_percentage: '0.0100', fee_flat: '0.20', fee_amount: '0.5333', net_amount: '32.7967' })
  await setFees(merchant, { fee_percentage: '0.0333', fee_flat: '0.07' })
  t.same([await snapshotOf(settled), await snapshotOf(waiting.payment_id)], before)
  const { body: next } = await createPayment(service, merchant, { amount: '33.33' })
  t.match(await snapshotOf(next.payment_id), {
    fee_percentage: '0.0333',
    fee_flat: '0.07',
    fee_amount: '1.1799',
    net_amount: '32.1501',
  })
  t.match(next, { fee_amount: '1.1799', net_amount: '32.1501' })
  const read = await service.call('GET', `/api/v1/payments/${waiting.payment_id}`, { merchant })
  t.match(read.body, { fee_amount: '0.5333' })
})

t.test('a payment that is created while fees change has the old ones or the new ones, never of both', async (t) => {
  const merchant = await service.merchant()
  const pairs = [
    { fee_percentage: '0.0100', fee_flat: '0.20' },
    { fee_percentage: '0.0250', fee_flat: '0.05' },
  ] as const
  const changing = (async () => {
    for (let round = 0; round < 10; round += 1) await setFees(merchant, pairs[(round + 1) % 2] ?? pairs[0])
  })()
  const created = await Promise.all(
    Array.from({ length: 50 }, () => createPayment(service, merchant, { amount: '100.00' })),
  )
  await changing
  t.ok(created.every(({ status }) => status === 201))
  const { rows } = await owner.query<{ pair: string; fee: string }>(
    `select distinct fee_percentage || ' ' || fee_flat as pair, fee_amount as fee from payment_intents where merchant_id = $1`,
    [merchant.id],
  )
  const allowed = new Map([
    ['0.0100 0.20', '1.2000'],
    ['0.0250 0.05', '2.5500'],
  ])
  for (const { pair, fee } of rows) t.equal(allowed.get(pair), fee, pair)
})

t.test('changes of one merchant at once come one after the other in the history', async (t) => {
  const merchant = await service.merchant()
  await Promise.all(Array.from({ length: 20 }, (_, index) => setFees(merchant, { fee_flat: `${index + 1}.00` })))
  const { body } = await service.call('GET', pathOf(merchant.id), { headers: operator })
  t.equal(body.history.length, 20)
  t.equal(body.history[0].fee_flat, body.fee_flat)
  for (let index = 0; index + 1 < body.history.length; index += 1)
    t.equal(body.history[index].before.fee_flat, body.history[index + 1].fee_flat)
})
