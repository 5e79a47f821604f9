import t from 'tap'
import { putCheckoutOrigins } from '../../src/merchants/checkout-origins.ts'
import { testService } from '../support/app.ts'
import type { TestMerchant } from '../support/app.ts'
import { countRows } from '../support/rows.ts'

const PATH = '/api/v1/portal/checkout-origins'
const service = await testService(t)
const { app, owner } = service

function put(merchant: TestMerchant, origins: unknown) {
  return service.call('PUT', PATH, { merchant, body: { origins } })
}

t.test('origins are stored in their normal form, each once and in their order', async (t) => {
  const merchant = await service.merchant()
  t.strictSame((await service.call('GET', PATH, { merchant })).body, { origins: [] })
  const set = await put(merchant, [
    'https://Shop.Example:443',
    'https://bücher.example',
    'https://shop.example',
    'http://localhost:5173',
  ])
  const origins = ['https://shop.example', 'https://xn--bcher-kva.example', 'http://localhost:5173']
  t.strictSame({ status: set.status, body: set.body }, { status: 200, body: { origins } })
  t.strictSame((await service.call('GET', PATH, { merchant })).body, { origins })
  t.strictSame((await put(merchant, [])).body, { origins: [] }, 'and can be taken away')
})

t.test('every invalid origin is reported, and nothing is set', async (t) => {
  const merchant = await service.merchant()
  await put(merchant, ['https://shop.example'])
  const before = await countRows(owner)
  const { status, body } = await put(merchant, [
    'https://new.example',
    'https://shop.example/checkout',
    'http://shop.example',
    'https://*.shop.example',
  ])
  t.equal(status, 400)
  t.match(body, {
    code: 'VALIDATION_FAILED',
    errors: [
      { path: 'origins.1', code: 'INVALID_ORIGIN' },
      { path: 'origins.2', code: 'HTTPS_REQUIRED' },
      { path: 'origins.3', code: 'INVALID_HOST' },
    ],
  })
  t.equal(body.errors.length, 3)
  t.match(await put(merchant, ['https://a.example', 7, '', 'a'.repeat(256)]), {
    status: 400,
    body: { errors: [{ path: 'origins.1' }, { path: 'origins.2' }, { path: 'origins.3' }] },
  })
  t.match(await put(merchant, 'https://a.example'), { status: 400, body: { errors: [{ path: 'origins' }] } })
  const fiftyOne = Array.from({ length: 51 }, (_, index) => `https://s${index}.example`)
  t.match(await put(merchant, fiftyOne), { status: 400, body: { errors: [{ path: 'origins' }] } })
  t.match(await service.call('PUT', PATH, { merchant, body: { origins: [], all: true } }), {
    status: 400,
    body: { errors: [{ path: 'all', code: 'UNKNOWN_FIELD' }] },
  })
  t.same(await countRows(owner), before)
  t.strictSame((await service.call('GET', PATH, { merchant })).body, { origins: ['https://shop.example'] })
  t.equal((await put(merchant, fiftyOne.slice(1))).status, 200, 'fifty are taken')
})

t.test('a change is in the audit trail once, with both lists; setting the same again is not', async (t) => {
  const merchant = await service.merchant()
  for (const origin of ['https://shop.example', 'https://SHOP.example:443', 'https://new.example'])
    await put(merchant, [origin])
  const { rows } = await owner.query(
    'select action, actor_role, before, after from operator_actions where merchant_id = $1 order by ordinal',
    [merchant.id],
  )
  const [none, shop, fresh] = [[], ['https://shop.example'], ['https://new.example']]
  t.strictSame(rows, [
    { action: 'checkout_origins.set', actor_role: 'ADMIN', before: { origins: none }, after: { origins: shop } },
    { action: 'checkout_origins.set', actor_role: 'ADMIN', before: { origins: shop }, after: { origins: fresh } },
  ])
})

t.test('another merchant is not affected', async (t) => {
  const [one, other] = [await service.merchant(), await service.merchant()]
  await put(one, ['https://shop.example'])
  t.strictSame((await service.call('GET', PATH, { merchant: other })).body, { origins: [] })
})

t.test('in live mode localhost origins are rejected', async (t) => {
  const merchant = await service.merchant()
  const live = { ...app, config: { ...app.config, mode: 'live' as const } }
  const actor = { id: 'x', name: 'x', role: 'ADMIN' }
  const origins = ['https://shop.example', 'http://localhost:5173', 'https://127.0.0.1']
  await t.rejects(putCheckoutOrigins(live, { merchantId: merchant.id, actor, origins }), {
    code: 'VALIDATION_FAILED',
    errors: [{ path: 'origins.1' }, { path: 'origins.2' }],
  })
})
