import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createPayment } from '../support/app.ts'
import { settledPayment } from '../support/payments.ts'
import { serviceWithRealms } from '../support/realms.ts'

const { service, operator } = await serviceWithRealms(t)
const one = await service.merchant()
const two = await service.merchant()
const OPS = operator({ roles: ['OPS'] })
const SUPPORT = operator({ roles: ['SUPPORT'] })
const LIST = '/api/v1/admin/payments'
const list = async (query = '', headers = OPS) => (await service.call('GET', `${LIST}${query}`, { headers })).body
const idsIn = ({ data }: { data: { payment_id: string }[] }): string[] => data.map(({ payment_id: id }) => id)

const made: string[] = []
for (const merchant of [one, two, one, two, two]) {
  const { body } = await createPayment(service, merchant, {
    payer_name: 'Ada Lovelace',
    remittance_reference: 'call 07700 900123',
    redirect_uri: 'https://shop.example/return?for=ada@home.example',
    metadata: { note: 'ada@home.example, 07700 900123' },
  })
  made.unshift(body.payment_id)
}

t.test('operators see the payments of all merchants, the newest first, page by page', async (t) => {
  t.same(idsIn(await list()), made)
  const pages: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: { data: { payment_id: string }[]; next_cursor: string | null; has_more: boolean } = await list(
      `?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
    )
    t.equal(page.has_more, page.next_cursor !== null)
    pages.push(...idsIn(page))
    cursor = page.next_cursor
  }
  t.same(pages, made)
  t.match((await list('?limit=1')).data, [{ merchant_id: two.id, realm_slug: two.realm, trading_name: 'Acme' }])
  t.match(await service.call('GET', `${LIST}?cursor=x`, { headers: OPS }), { status: 400 })
})

t.test("a merchant's filters work here too", async (t) => {
  t.same(idsIn(await list(`?merchant_id=${one.id}`)), [made[2], made[4]])
  t.same(idsIn(await list(`?merchant_id=${one.id}&limit=1&status=AwaitingAuthorisation`)), [made[2]])
  t.same(idsIn(await list('?status=Settled')), [])
  t.same(idsIn(await list('?status=AwaitingAuthorisation&currency=GBP&min_amount=50.00&max_amount=50.00')), made)
  t.same(idsIn(await list('?min_amount=50.01')), [])
  t.same(idsIn(await list('?bank_id=nobody')), [])
  const [{ end_to_end_id: reference, created_at: at }] = (await list(`?merchant_id=${one.id}`)).data
  t.same(idsIn(await list(`?end_to_end_id=${reference}`)), [made[2]])
  t.same(idsIn(await list(`?end_to_end_id=${reference}&merchant_id=${two.id}`)), [])
  t.same(idsIn(await list(`?from=${at}`)).slice(-1), [made[2]])
  t.notOk(idsIn(await list(`?to=${at}`)).includes(made[1] ?? ''))
  t.same(idsIn(await list('?merchant_id=nonsense')), [])
  t.same(idsIn(await list(`?merchant_id=${randomUUID()}`)), [])
  t.match(await service.call('GET', `${LIST}?status=Nonsense`, { headers: OPS }), { status: 400 })
})

t.test('a payment is shown with its history; an unknown one is a 404', async (t) => {
  const get = (id: string, headers = OPS) => service.call('GET', `${LIST}/${id}`, { headers })
  t.match(await get(made[0] ?? ''), {
    status: 200,
    body: {
      payment_id: made[0],
      merchant_id: two.id,
      realm_slug: two.realm,
      trading_name: 'Acme',
      status_history: [{ new_status: 'AwaitingAuthorisation' }],
    },
  })
  t.match(await get(randomUUID()), { status: 404, body: { code: 'PAYMENT_NOT_FOUND' } })
  t.match(await get('nonsense'), { status: 404 })
})

t.test('no operator can act as the payer, and SUPPORT sees no personal data', async (t) => {
  for (const body of [await list(), (await service.call('GET', `${LIST}/${made[0]}`, { headers: OPS })).body])
    t.match(body.data?.[0] ?? body, { redirect_url: null, payer_name: 'Ada Lovelace', remittance_reference: /900123/ })
  for (const { text } of [
    await service.call('GET', LIST, { headers: SUPPORT }),
    await service.call('GET', `${LIST}/${made[0]}`, { headers: SUPPORT }),
  ]) {
    t.notMatch(text, /Lovelace|ada@home|900123|900 123/)
    t.match(text, /"payer_name":"A\*\*\*"/)
    t.match(text, /"redirect_uri":"https:\/\/shop\.example\/return"/)
  }
  const { body: odd } = await createPayment(service, one, {
    redirect_uri: 'https://shop.example/of/ada%40home.example/7700900123',
    metadata: { 'ada@home.example': 'vip', '07700 900123': 'call' },
  })
  const { text } = await service.call('GET', `${LIST}/${odd.payment_id}`, { headers: SUPPORT })
  t.notMatch(text, /ada(@|%40)home|7700900123|900123/, 'no personal data, wherever it is')
  t.match(text, /"vip"/)
})

t.test('a payment is shown with its refunds, with numbers in their reasons masked for SUPPORT', async (t) => {
  const id = await settledPayment(service, one)
  await service.call('POST', `/api/v1/payments/${id}/refund`, {
    merchant: one,
    body: { amount: '1.00', reason: 'call 07700 900123' },
  })
  const { body } = await service.call('GET', `${LIST}/${id}`, { headers: OPS })
  t.match(body.refunds, [{ payment_id: id, amount: '1.00', currency: 'GBP', reason: 'call 07700 900123' }])
  const { text } = await service.call('GET', `${LIST}/${id}`, { headers: SUPPORT })
  t.match(text, /"refunds":\[\{"refund_id"/)
  t.notMatch(text, /900123|900 123/)
})
