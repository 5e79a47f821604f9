import { randomUUID } from 'node:crypto'
import t from 'tap'
import { testService } from '../support/app.ts'
import type { TestMerchant } from '../support/app.ts'
import { postFor } from '../support/ledger.ts'
import { refund, settledPayment } from '../support/payments.ts'

const service = await testService(t)
const PATH = '/api/v1/portal/settlements'
const CSV = { accept: 'text/csv' }

const get = (merchant: TestMerchant, path: string, headers: Record<string, string> = {}) =>
  service.call('GET', path, { merchant, headers })
const close = (merchant: TestMerchant, body: object = {}) => service.call('POST', PATH, { merchant, body })

t.test(
  'a merchant closes its period, and sees the settlement with a line for each payment, fee and refund',
  async (t) => {
    const merchant = await service.merchant()
    const payment = await settledPayment(service, merchant, { amount: '50.25' })
    const refunded = await refund(service, merchant, { id: payment, body: { amount: '10.00' } })
    const closed = await close(merchant)
    t.equal(closed.status, 200, closed.text)
    const [settlement] = closed.body.settlements
    t.match(settlement, {
      merchant_id: merchant.id,
      currency: 'GBP',
      status: 'CLOSED',
      payout_id: null,
      kind: 'MANUAL',
      opening_balance: '0.00',
      gross_amount: '50.25',
      fee_amount: '0.7025',
      refunded_amount: '10.00',
      corrected_amount: '0.00',
      rounding_amount: '0.0025',
      net_amount: '39.55',
      payable_amount: '39.55',
      line_count: 4,
      bank_account_id: null,
    })
    const { body: balances } = await get(merchant, '/api/v1/portal/balances')
    t.match(balances.data, [{ clearing: '0.00', merchant_payable: '39.55', total: '39.55', fees_paid: '0.7025' }])
    t.same((await get(merchant, PATH)).body.data, [settlement])
    t.same((await get(merchant, `${PATH}/${settlement.settlement_id}`)).body, settlement)
    const { body: lines } = await get(merchant, `${PATH}/${settlement.settlement_id}/lines`)
    t.match(lines.data, [
      { kind: 'PAYMENT', payment_id: payment, refund_id: null, end_to_end_id: /^SVC/, amount: '50.25' },
      { kind: 'FEE', payment_id: payment, refund_id: null, amount: '-0.7025' },
      { kind: 'REFUND', payment_id: payment, refund_id: refunded.body.refund_id, amount: '-10.00' },
      { kind: 'ROUNDING', payment_id: null, refund_id: null, end_to_end_id: null, amount: '0.0025' },
    ])
    t.same((await close(merchant)).body, { settlements: [] }, 'nothing was posted since')
  },
)

t.test('a dry run shows what would be settled, and changes nothing', async (t) => {
  const merchant = await service.merchant()
  await settledPayment(service, merchant, { amount: '20.00' })
  const dry = await service.call('POST', `${PATH}?dry_run=true`, { merchant, body: {} })
  t.match(dry.body.settlements, [{ gross_amount: '20.00', net_amount: '19.60' }])
  t.same((await get(merchant, PATH)).body.data, [])
  t.match((await close(merchant)).body.settlements, [{ gross_amount: '20.00' }])
})

t.test('one currency can be closed alone', async (t) => {
  const merchant = await service.merchant()
  for (const currency of ['GBP', 'EUR']) await settledPayment(service, merchant, { amount: '20.00', currency })
  t.match((await close(merchant, { currency: 'EUR' })).body.settlements, [{ currency: 'EUR' }])
  t.match((await close(merchant)).body.settlements, [{ currency: 'GBP' }])
})

t.test('pages follow each other without gaps, filters narrow them, and Link carries the filters', async (t) => {
  const merchant = await service.merchant()
  for (let index = 1; index <= 5; index += 1) {
    await postFor(service, merchant.id, ['payment_settled', `${index}.00`])
    await close(merchant)
  }
  const seen: string[] = []
  let cursor = ''
  do {
    const { body } = await get(merchant, `${PATH}?limit=2${cursor}`)
    seen.push(...body.data.map((row: { gross_amount: string }) => row.gross_amount))
    cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`
  } while (cursor !== '')
  t.same(seen, ['5.00', '4.00', '3.00', '2.00', '1.00'])
  const today = new Date().toLocaleDateString('sv', { timeZone: 'Europe/London' })
  t.equal((await get(merchant, `${PATH}?from=${today}&to=${today}&currency=GBP`)).body.data.length, 5)
  t.equal((await get(merchant, `${PATH}?status=CLOSED`)).body.data.length, 5)
  t.equal((await get(merchant, `${PATH}?status=PAID_OUT`)).body.data.length, 0)
  t.equal((await get(merchant, `${PATH}?currency=EUR`)).body.data.length, 0)
  t.equal((await get(merchant, `${PATH}?from=2099-01-01`)).body.data.length, 0)
  t.equal((await get(merchant, `${PATH}?to=2001-01-01`)).body.data.length, 0)
  const { headers } = await get(merchant, `${PATH}?limit=2&currency=GBP`, CSV)
  t.match(headers['link'], /^<[^>]+settlements\?limit=2&currency=GBP&cursor=[^>]+>; rel="next"$/)
})

t.test('lines have pages too', async (t) => {
  const merchant = await service.merchant()
  const movements = Array.from({ length: 7 }, (_, index) => ['payment_settled', `${index + 1}.00`] as const)
  for (const movement of movements) await postFor(service, merchant.id, [...movement])
  const { body } = await close(merchant)
  const path = `${PATH}/${body.settlements[0].settlement_id}/lines?limit=3`
  const amounts: string[] = []
  let cursor: string | null = null
  do {
    const page = await get(merchant, `${path}${cursor === null ? '' : `&cursor=${cursor}`}`)
    amounts.push(...page.body.data.map((row: { amount: string }) => row.amount))
    cursor = page.body.next_cursor
  } while (cursor !== null)
  t.same(amounts, ['1.00', '2.00', '3.00', '4.00', '5.00', '6.00', '7.00'])
})

t.test('the list, one settlement and its lines are served as CSV, whose cells run nothing', async (t) => {
  const merchant = await service.merchant()
  const payment = await settledPayment(service, merchant, { amount: '50.00' })
  await service.owner.query(
    `update payment_consents c set remittance_reference = '=1+1,"x"'
     from payment_intents p where p.id = $1 and c.id = p.consent_id`,
    [payment],
  )
  const { body } = await close(merchant)
  const [settlement] = body.settlements
  const row = Object.values(settlement)
    .map((value) => value ?? '')
    .join(',')
  const expected = `${Object.keys(settlement).join(',')}\r\n${row}\r\n`
  const one = await get(merchant, `${PATH}/${settlement.settlement_id}`, CSV)
  t.match(one.headers, { 'content-disposition': 'attachment; filename="settlements.csv"', vary: 'accept' })
  t.equal(one.text, expected)
  t.equal((await get(merchant, PATH, CSV)).text, expected)
  const lines = await get(merchant, `${PATH}/${settlement.settlement_id}/lines`, CSV)
  t.match(lines.headers, { 'content-disposition': 'attachment; filename="lines.csv"' })
  const [header, first, second] = lines.text.split('\r\n')
  t.equal(header, 'id,kind,payment_id,refund_id,end_to_end_id,remittance_reference,amount,currency,occurred_at')
  t.match(first, `,PAYMENT,${payment},,`)
  t.match(first, `,"'=1+1,""x""",50.00,GBP,`)
  t.match(second, /,FEE,.*,-0\.70,GBP,/, 'a negative number stays one')
})

t.test('a merchant sees no settlement of another, nor its lines, nor gets anywhere by its cursor', async (t) => {
  const [merchant, other] = [await service.merchant(), await service.merchant()]
  for (const each of [merchant, other]) {
    for (const amount of ['1.00', '2.00']) {
      await postFor(service, each.id, ['payment_settled', amount])
      await close(each)
    }
  }
  const { body } = await get(other, `${PATH}?limit=1`)
  const id = body.data[0].settlement_id
  for (const path of [
    `${PATH}/${id}`,
    `${PATH}/${id}/lines`,
    `${PATH}/${randomUUID()}`,
    `${PATH}/x`,
    `${PATH}/x/lines`,
  ])
    t.match(await get(merchant, path), { status: 404, body: { code: 'SETTLEMENT_NOT_FOUND' } }, path)
  t.ok((await get(merchant, PATH)).body.data.every((row: { merchant_id: string }) => row.merchant_id === merchant.id))
  t.same((await get(merchant, `${PATH}?cursor=${body.next_cursor}`)).body.data, [])
})

t.test('wrong input is named', async (t) => {
  const merchant = await service.merchant()
  const WRONG: [method: 'GET' | 'POST' | 'PUT', path: string, body: object | undefined, field: string][] = [
    ['GET', `${PATH}?from=yesterday`, undefined, 'from'],
    ['GET', `${PATH}?to=2026-02-30`, undefined, 'to'],
    ['GET', `${PATH}?currency=gbp`, undefined, 'currency'],
    ['GET', `${PATH}?status=OPEN`, undefined, 'status'],
    ['GET', `${PATH}?limit=101`, undefined, 'limit'],
    ['GET', `${PATH}?cursor=x`, undefined, 'cursor'],
    ['GET', `${PATH}/${randomUUID()}/lines?cursor=x`, undefined, 'cursor'],
    ['POST', PATH, { currency: 7 }, 'currency'],
    ['PUT', '/api/v1/portal/settlement-schedule', { settlement_schedule: 'HOURLY' }, 'settlement_schedule'],
  ]
  for (const [method, path, body, field] of WRONG) {
    const answer = await service.call(method, path, { merchant, ...(body === undefined ? {} : { body }) })
    t.match(answer, { status: 400, body: { code: 'VALIDATION_FAILED', errors: [{ path: field }] } }, path)
  }
})

t.test('the schedule is set by the merchant and by operators, and audited once', async (t) => {
  const merchant = await service.merchant()
  const path = '/api/v1/portal/settlement-schedule'
  t.same((await get(merchant, path)).body, { merchant_id: merchant.id, settlement_schedule: 'DAILY' })
  const set = (settlement_schedule: string) => service.call('PUT', path, { merchant, body: { settlement_schedule } })
  t.match(await set('WEEKLY'), { status: 200, body: { settlement_schedule: 'WEEKLY' } })
  t.equal((await set('WEEKLY')).status, 200)
  const byOperator = (body: object, id = merchant.id) =>
    service
      .operator('OPS')
      .then((headers) => service.call('PUT', `/api/v1/admin/merchants/${id}/settlement-schedule`, { headers, body }))
  const seen = { settlement_schedule: 'DAILY' }
  const wanted = { settlement_schedule: 'MANUAL', reason: 'agreed' }
  t.match(await byOperator({ ...wanted, expected: seen }), { status: 412, body: { code: 'CHANGED_MEANWHILE' } })
  t.match(await byOperator(wanted, randomUUID()), { status: 404, body: { code: 'MERCHANT_NOT_FOUND' } })
  t.match(await byOperator(wanted), { status: 200, body: { settlement_schedule: 'MANUAL' } })
  const { rows } = await service.owner.query(
    `select before ->> 'settlement_schedule' as was, after ->> 'settlement_schedule' as is, reason
     from operator_actions where merchant_id = $1 and action = 'merchant.settlement_schedule' order by ordinal`,
    [merchant.id],
  )
  t.same(rows, [
    { was: 'DAILY', is: 'WEEKLY', reason: null },
    { was: 'WEEKLY', is: 'MANUAL', reason: 'agreed' },
  ])
})

t.test('operators list the settlements of all merchants, or of one', async (t) => {
  const merchant = await service.merchant()
  await postFor(service, merchant.id, ['payment_settled', '3.00'])
  const { body } = await close(merchant)
  const headers = await service.operator('SUPPORT')
  const list = (query: string) => service.call('GET', `/api/v1/admin/settlements${query}`, { headers })
  const [own] = body.settlements
  const settlement = { ...own, trading_name: 'Acme', realm_slug: merchant.realm }
  t.same((await list(`?merchant_id=${merchant.id}`)).body.data, [settlement])
  t.equal((await list('?limit=1')).body.has_more, true)
  t.same((await list('?merchant_id=nobody')).body.data, [])
  t.same((await list(`/${settlement.settlement_id}`)).body, settlement)
  t.match((await list(`/${settlement.settlement_id}/lines`)).body, {
    data: [{ kind: 'PAYMENT', amount: '3.00' }],
    has_more: false,
  })
  for (const path of [`/${randomUUID()}`, '/nobody', `/${randomUUID()}/lines`])
    t.match(await list(path), { status: 404, body: { code: 'SETTLEMENT_NOT_FOUND' } })
  const { rows } = await service.owner.query(
    `select after from operator_actions where merchant_id = $1 and action = 'settlement.close'`,
    [merchant.id],
  )
  t.same(rows, [{ after: { currency: 'GBP', payable_amount: '3.0000' } }])
})
