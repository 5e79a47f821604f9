import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createPayment, testService } from '../support/app.ts'
import { endConsent, refund, settledPayment } from '../support/payments.ts'

const PATH = '/api/v1/portal/transactions'
const service = await testService(t)
const { owner } = service

t.test("a transaction has the payment's amounts, fee, payout and settlement time", async (t) => {
  const merchant = await service.merchant()
  const id = await settledPayment(service, merchant, {
    amount: '33.33',
    payer_name: 'Ada Lovelace',
    remittance_reference: 'ORDER 7',
  })
  await refund(service, merchant, { id, body: { amount: '3.33' } })
  const { status, body } = await service.call('GET', `${PATH}/${id}`, { merchant })
  t.equal(status, 200)
  t.match(body, {
    payment_id: id,
    status: 'Settled',
    gross_amount: '33.33',
    fee_amount: '0.5333',
    net_amount: '32.7967',
    refunded_amount: '3.33',
    payout_amount: '29.4667',
    currency: 'GBP',
    payer_name: 'Ada Lovelace',
    remittance_reference: 'ORDER 7',
    failure_code: null,
  })
  const { rows } = await owner.query<{ at: Date; reference: string }>(
    `select e.created_at as at, p.bank_reference as reference from payment_events e
     join payment_intents p on p.id = e.payment_intent_id where p.id = $1 and e.new_status = 'Settled'`,
    [id],
  )
  t.equal(body.settled_at, new Date(rows[0]?.at ?? 0).toISOString())
  t.equal(body.bank_reference, rows[0]?.reference)
  const list = await service.call('GET', PATH, { merchant })
  t.strictSame(list.body, { data: [body], has_more: false, next_cursor: null })
  await refund(service, merchant, { id })
  const after = await service.call('GET', `${PATH}/${id}`, { merchant })
  t.match(after.body, {
    status: 'Refunded',
    refunded_amount: '33.33',
    payout_amount: '-0.5333',
    settled_at: body.settled_at,
  })
})

t.test('an unsettled payment has no settlement time, and a failed one has its code', async (t) => {
  const merchant = await service.merchant()
  const { body } = await createPayment(service, merchant)
  t.match((await service.call('GET', `${PATH}/${body.payment_id}`, { merchant })).body, {
    status: 'AwaitingAuthorisation',
    settled_at: null,
    net_amount: '49.30',
    payout_amount: '0.00',
    failure_code: null,
    bank_reference: null,
  })
  await endConsent(service, body.payment_id)
  const late = await service.call('GET', `${PATH}/${body.payment_id}`, { merchant })
  t.match(late.body, { status: 'Failed', settled_at: null, payout_amount: '0.00', failure_code: 'CONSENT_EXPIRED' })
})

t.test('transactions and payments list the same rows under every filter, page by page', async (t) => {
  const merchant = await service.merchant()
  for (const [index, currency] of ['GBP', 'EUR', 'GBP', 'EUR', 'GBP'].entries())
    await createPayment(service, merchant, { amount: `${index + 10}.00`, currency })
  const settled = await settledPayment(service, merchant, { amount: '20.00', debtor_bank_id: 'mock-red' })
  const { body: payment } = await service.call('GET', `/api/v1/payments/${settled}`, { merchant })
  for (const filter of [
    '',
    'currency=EUR',
    'min_amount=11&max_amount=13.00',
    'status=Settled',
    'status=Refunded',
    `from=${payment.created_at}`,
    `to=${payment.created_at}`,
    `end_to_end_id=${payment.end_to_end_id}`,
    'bank_id=mock-red',
    'bank_id=nobody',
  ]) {
    const [ledger, payments] = [await walk(PATH, filter), await walk('/api/v1/payments', filter)]
    t.same(ledger, payments, filter)
  }
  t.equal((await walk(PATH, '')).length, 6)
  t.equal((await walk(PATH, 'currency=EUR')).length, 2)

  async function walk(path: string, filter: string): Promise<string[]> {
    const ids: string[] = []
    let cursor: string | null = null
    do {
      const more: string = cursor === null ? '' : `&cursor=${cursor}`
      const { body } = await service.call('GET', `${path}?limit=2&${filter}${more}`, { merchant })
      ids.push(...body.data.map((row: { payment_id: string }) => row.payment_id))
      cursor = body.next_cursor
    } while (cursor !== null)
    return ids
  }
})

t.test("another merchant's transaction, an unknown one and a malformed id are the same 404", async (t) => {
  const [merchant, stranger] = [await service.merchant(), await service.merchant()]
  const { body } = await createPayment(service, merchant)
  for (const id of [body.payment_id, randomUUID(), 'nonsense', '..%2f'])
    t.match(await service.call('GET', `${PATH}/${id}`, { merchant: stranger }), {
      status: 404,
      body: { code: 'PAYMENT_NOT_FOUND' },
    })
  t.strictSame((await service.call('GET', PATH, { merchant: stranger })).body.data, [])
  const { body: page } = await service.call('GET', `${PATH}?limit=1`, { merchant })
  const cursor = Buffer.from(page.data[0].payment_id).toString('base64url')
  const answer = await service.call('GET', `${PATH}?cursor=${cursor}`, { merchant: stranger })
  t.strictSame([answer.status, answer.body.data], [200, []], "another's cursor leads nowhere")
})

t.test('an invalid query is reported with every field', async (t) => {
  const merchant = await service.merchant()
  const query = 'status=settled&from=yesterday&currency=gbp&min_amount=1e3&limit=0&nonsense=1'
  const { status, body } = await service.call('GET', `${PATH}?${query}`, { merchant })
  t.equal(status, 400)
  t.same(body.errors.map(({ path }: { path: string }) => path).toSorted(), [
    'currency',
    'from',
    'limit',
    'min_amount',
    'nonsense',
    'status',
  ])
  t.equal((await service.call('GET', `${PATH}?cursor=!!`, { merchant })).status, 400)
})
