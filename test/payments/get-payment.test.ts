import { randomUUID } from 'node:crypto'
import t from 'tap'
import { authorisedPayment, createPayment, testService } from '../support/app.ts'
import type { Answer, TestMerchant } from '../support/app.ts'
import { settledPayment, times } from '../support/payments.ts'

const service = await testService(t)

function list(merchant: TestMerchant, query: Record<string, string> = {}): Promise<Answer> {
  return service.call('GET', `/api/v1/payments?${new URLSearchParams(query)}`, { merchant })
}

function idsOf(answer: Answer): string[] {
  return answer.body.data.map(({ payment_id }: { payment_id: string }) => payment_id)
}

t.test('a payment is returned with its history', async (t) => {
  const merchant = await service.merchant()
  const id = await settledPayment(service, merchant)
  const { status, body } = await service.call('GET', `/api/v1/payments/${id}`, { merchant })
  t.equal(status, 200)
  t.match(body, {
    payment_id: id,
    status: 'Settled',
    consent_type: 'SINGLE_IMMEDIATE',
    consent_status: 'AUTHORISED',
    refunded_amount: '0.00',
    redirect_uri: 'https://shop.example/return',
    failure: null,
  })
  t.same(
    body.status_history.map((change: Record<string, unknown>) => [
      change['previous_status'],
      change['new_status'],
      change['changed_by'],
    ]),
    [
      [null, 'AwaitingAuthorisation', 'MERCHANT_API'],
      ['AwaitingAuthorisation', 'Authorised', 'BANK_CALLBACK'],
      ['Authorised', 'Settled', 'BATCH_JOB'],
    ],
  )
  const ordinals = body.status_history.map(({ ordinal }: { ordinal: string }) => BigInt(ordinal))
  t.same(
    ordinals,
    ordinals.toSorted((a: bigint, b: bigint) => (a < b ? -1 : 1)),
  )
})

t.test("a payment's audit events have hashes, each chained to the one before", async (t) => {
  const merchant = await service.merchant()
  const id = await settledPayment(service, merchant)
  const { body } = await service.call('GET', `/api/v1/payments/${id}/events`, { merchant })
  t.equal(body.data.length, 3)
  t.equal(body.data[0].prev_hash, '0'.repeat(64))
  t.equal(body.data[1].prev_hash, body.data[0].event_hash)
  t.equal(body.data[2].prev_hash, body.data[1].event_hash)
  t.notOk('raw_payload' in body.data[0])
})

t.test(
  "the payer's state gives access to one payment, without personal or merchant data, until an hour after the consent",
  async (t) => {
    const merchant = await service.merchant()
    const { body } = await createPayment(service, merchant, {
      payer_name: 'Zoë',
      metadata: { order: '17' },
      remittance_reference: 'INV 1',
    })
    const state = new URL(body.redirect_url).searchParams.get('state') ?? ''
    const read = (id: string, value = state) =>
      service.call('GET', `/api/v1/payments/${id}`, { headers: { 'x-payment-state': value } })
    const seen = await read(body.payment_id)
    t.match(seen, {
      status: 200,
      body: { payment_id: body.payment_id, end_to_end_id: body.end_to_end_id, gross_amount: '50.00' },
    })
    t.notMatch(seen.text, /Zoë|INV 1|order|redirect|consent_id/)
    t.notOk(seen.text.includes(state))
    const { body: other } = await createPayment(service, merchant)
    t.equal((await read(other.payment_id)).status, 404)
    t.equal((await read(body.payment_id, `${state}x`)).status, 404)
    t.equal(
      (
        await service.call('GET', `/api/v1/payments/${body.payment_id}/events`, {
          headers: { 'x-payment-state': state },
        })
      ).status,
      401,
    )
    await service.owner.query(`update payment_consents set expires_at = now() - interval '59 minutes' where id = $1`, [
      body.consent_id,
    ])
    t.equal((await read(body.payment_id)).status, 200)
    await service.owner.query(`update payment_consents set expires_at = now() - interval '61 minutes' where id = $1`, [
      body.consent_id,
    ])
    t.equal((await read(body.payment_id)).status, 404)
  },
)

t.test('pages neither overlap nor miss payments while new ones arrive', async (t) => {
  const merchant = await service.merchant()
  const before = (await times(60, () => createPayment(service, merchant))).map(({ body }) => body.payment_id)
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const page: Answer = await list(merchant, { limit: '7', ...(cursor === null ? {} : { cursor }) })
    t.ok(page.body.data.length <= 7)
    t.equal(page.body.has_more, page.body.next_cursor !== null)
    seen.push(...idsOf(page))
    cursor = page.body.next_cursor
    await times(3, () => createPayment(service, merchant))
  } while (cursor !== null)
  t.equal(new Set(seen).size, seen.length, 'nothing twice')
  t.same(seen.toSorted(), before.toSorted(), 'all that was there, and nothing that came later')
})

t.test('the newest payment is first', async (t) => {
  const merchant = await service.merchant()
  const ids: string[] = []
  for (let index = 0; index < 5; index += 1) ids.push((await createPayment(service, merchant)).body.payment_id)
  t.same(idsOf(await list(merchant)), ids.toReversed())
})

t.test('a page of exactly the limit has no next one', async (t) => {
  const merchant = await service.merchant()
  await times(4, () => createPayment(service, merchant))
  t.match((await list(merchant, { limit: '4' })).body, { has_more: false, next_cursor: null })
  t.match((await list(merchant, { limit: '3' })).body, { has_more: true })
  t.match((await list(await service.merchant())).body, { data: [], has_more: false, next_cursor: null })
})

t.test('each filter returns the payments that it names', async (t) => {
  const merchant = await service.merchant()
  const small = (await createPayment(service, merchant, { amount: '9.99', debtor_bank_id: 'mock-one' })).body
  const euro = (
    await createPayment(service, merchant, { amount: '10.00', currency: 'EUR', debtor_bank_id: 'mock-two' })
  ).body
  const large = await authorisedPayment(service, merchant, { amount: '100.00' })
  const [first, second, third] = [small.payment_id, euro.payment_id, large.id]
  await service.owner.query(`update payment_intents set created_at = '2026-01-01T12:00:00Z' where id = $1`, [first])
  await service.owner.query(`update payment_intents set created_at = '2026-01-01T12:00:01Z' where id = $1`, [second])
  const cases: [Record<string, string>, string[]][] = [
    [{ status: 'AwaitingAuthorisation' }, [first, second]],
    [{ status: 'Authorised' }, [third]],
    [{ status: 'Refunded' }, []],
    [{ currency: 'EUR' }, [second]],
    [{ min_amount: '10' }, [second, third]],
    [{ max_amount: '10.0000' }, [first, second]],
    [{ min_amount: '10', max_amount: '99.99' }, [second]],
    [{ end_to_end_id: euro.end_to_end_id }, [second]],
    [{ end_to_end_id: 'SVC' }, []],
    [{ bank_id: 'mock-one' }, [first]],
    [{ from: '2026-01-01T14:00:01+02:00' }, [second, third]],
    [{ to: '2026-01-01T12:00:01Z' }, [first]],
    [{ from: '2000-01-01T00:00:00+02:00', to: '2001-01-01T00:00:00Z' }, []],
    [{ status: 'AwaitingAuthorisation', currency: 'GBP' }, [first]],
  ]
  for (const [query, expected] of cases)
    t.same(idsOf(await list(merchant, query)).toSorted(), expected.toSorted(), JSON.stringify(query))
})

t.test('filters apply to every page', async (t) => {
  const merchant = await service.merchant()
  await times(20, (index) => createPayment(service, merchant, { currency: index % 2 === 0 ? 'GBP' : 'EUR' }))
  const first = await list(merchant, { currency: 'EUR', limit: '6' })
  const second = await list(merchant, { currency: 'EUR', limit: '6', cursor: first.body.next_cursor })
  t.same(
    [first, second].map((page) => page.body.data.map(({ currency }: { currency: string }) => currency)),
    [Array(6).fill('EUR'), Array(4).fill('EUR')],
  )
})

t.test('a cursor that the list did not return is rejected', async (t) => {
  const merchant = await service.merchant()
  await createPayment(service, merchant)
  for (const cursor of ['x', '', 'null', randomUUID(), `' or 1=1`, Buffer.from('{}').toString('base64url')]) {
    t.match(await list(merchant, { cursor }), { status: 400, body: { code: 'VALIDATION_FAILED' } }, cursor)
  }
})

t.test("another merchant's payments never appear, in lists, by id or by cursor", async (t) => {
  const [merchant, stranger] = [await service.merchant(), await service.merchant()]
  await times(5, () => createPayment(service, merchant))
  const own = (await createPayment(service, stranger)).body
  const page = await list(merchant, { limit: '2' })
  t.same(idsOf(await list(stranger)), [own.payment_id])
  const behind = await list(stranger, { cursor: page.body.next_cursor })
  t.notOk(behind.status === 200 && behind.body.data.length > 0)
  const [foreign] = idsOf(page)
  for (const path of [`/api/v1/payments/${foreign}`, `/api/v1/payments/${foreign}/events`]) {
    t.match(
      await service.call('GET', path, { merchant: stranger }),
      { status: 404, body: { code: 'PAYMENT_NOT_FOUND' } },
      path,
    )
  }
  t.same(idsOf(await list(stranger, { end_to_end_id: page.body.data[0].end_to_end_id })), [])
})
