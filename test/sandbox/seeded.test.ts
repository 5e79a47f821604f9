import t from 'tap'
import { makeApp } from '../../src/app.ts'
import type { App } from '../../src/app.ts'
import { isUuid } from '../../src/lib/ids.ts'
import { makeSeededIds } from '../../src/lib/seeded-ids.ts'
import { createSandboxCustomer } from '../../src/sandbox/create-sandbox-customer.ts'
import { createSandboxMerchant } from '../../src/sandbox/create-sandbox-merchant.ts'
import { deliver } from '../../src/webhooks/deliver.ts'
import { NewCustomer } from '../../src/wire/sandbox-bank.ts'
import { NewSandboxMerchant } from '../../src/wire/sandbox.ts'
import { createPayment, testService } from '../support/app.ts'
import type { TestService } from '../support/app.ts'
import { OPERATOR } from '../support/disputes.ts'
import { refund, tally } from '../support/payments.ts'
import { idsOf, makeCustomer, makeMerchant, order, play, settled } from '../support/seeded-story.ts'

const [one, twin, other] = await Promise.all(
  ['7', '7', '8'].map((seed) => testService(t, { overrides: { ids: makeSeededIds(seed) } })),
)
if (one === undefined || twin === undefined || other === undefined) throw new Error('three services were asked for')

t.test('the same seed gives the same ids for a whole series of calls, and another seed gives others', async (t) => {
  for (const service of [one, twin, other]) await play(service)
  const [mine, same, others] = await Promise.all([one, twin, other].map(idsOf))
  t.same(same, mine)
  t.same(
    tally((mine ?? []).map((line) => line.split(' ')[0] ?? '')),
    {
      merchant: 1,
      customer: 2,
      account: 2,
      payment: 11,
      change: 11 + 3 * 2 + 2,
      webhook: 10 + 3 * 2 + 1 + 1 + 2 + 1 + 1,
      refund: 3,
      dispute: 1,
      at: 3,
      given: 3,
      order: 1,
      transfer: 7,
    },
    'the story was told to its end',
  )
  const words = (lines: string[] | undefined) => new Set(lines?.flatMap((line) => line.match(/\S*\d\S{11,}/g) ?? []))
  const common = [...words(mine)].filter((word) => words(others).has(word))
  t.same(
    common.filter((word) => word !== '20000055779911'),
    [],
  )
  t.equal(words(mine).size > 100, true)
})

t.test('failed deliveries are retried at the same times', async (t) => {
  const delays = async ({ app, owner }: TestService): Promise<Record<string, unknown>> => {
    const { rows } = await owner.query<{ id: string; event_id: string }>('select id, event_id from webhook_deliveries')
    const result = { outcome: 'http_500', httpStatus: 500, responseBody: '', durationMs: 1 } as const
    const input = {
      post: { post: async () => result, close: async () => undefined },
      secrets: { secret: 'ab', previousSecret: null },
    }
    const lost = {
      merchant_id: '',
      epoch: 1,
      lease_ms: 30_000,
      leases_lost: 0,
      traceparent: null,
      payload: '{}',
      webhook_url: 'http://127.0.0.1',
    }
    const sealed = { webhook_signing_secret: '', webhook_secret_previous: null }
    const all = rows.map(async ({ id, event_id }) => {
      const row = { ...lost, ...sealed, delivery_id: id, event_id }
      const tries = [0, 1, 2, 3, 4, 5].map((attempt_count) =>
        deliver(app, { ...input, delivery: { ...row, attempt_count } }),
      )
      return [id, (await Promise.all(tries)).map(({ delay_ms }) => delay_ms)] as const
    })
    return Object.fromEntries(await Promise.all(all))
  }
  const mine = await delays(one)
  t.same(await delays(twin), mine)
  const firsts = Object.values(mine).map((each) => JSON.stringify(each))
  t.equal(new Set(firsts).size, firsts.length, 'each delivery has its own id')
  for (const each of firsts) t.match(JSON.parse(each), [Number, Number, Number, Number, Number, null])
})

t.test('eight callers of one key at once make one payment, also with a seed', async (t) => {
  const merchant = await makeMerchant(one, 'racing')
  const answers = await Promise.all(Array.from({ length: 8 }, () => createPayment(one, merchant, {}, 'same')))
  t.same(tally(answers.map(({ status }) => status)), { 201: 1, 200: 7 })
  t.equal(new Set(answers.map(({ body }) => body.payment_id)).size, 1)
  const amounts = Array.from({ length: 8 }, (_, index) => ({ amount: `${index + 10}.00` }))
  const quarrel = await Promise.all(amounts.map((changes) => createPayment(one, merchant, changes, 'quarrel')))
  t.same(tally(quarrel.map(({ status, body }) => body.code ?? status)), { 201: 1, IDEMPOTENCY_KEY_REUSED: 7 })
  const id = await settled(one, merchant, 'given back')
  const refunds = await Promise.all(Array.from({ length: 8 }, () => refund(one, merchant, { id, key: 'once' })))
  // 202 for who came while the first one was still asking the bank.
  t.ok(refunds.every(({ status }) => status === 200 || status === 202))
  t.ok(isUuid(refunds[0]?.body.refund_id))
  t.equal(new Set(refunds.map(({ body }) => body.refund_id)).size, 1)
})

t.test('the same key at two merchants is two payments', async (t) => {
  const merchants = [await makeMerchant(one, 'left'), await makeMerchant(one, 'right')]
  const made = await Promise.all(merchants.map((merchant) => createPayment(one, merchant, {}, 'order-1')))
  t.same(
    made.map(({ status }) => status),
    [201, 201],
  )
  t.not(made[0]?.body.payment_id, made[1]?.body.payment_id)
})

t.test('a repeated reference gives other ids, also concurrently, and the same ones in every run', async (t) => {
  const makeThree = async (service: TestService): Promise<string[]> => {
    const merchants = await Promise.all(['again', 'again', 'again'].map((name) => makeMerchant(service, name)))
    const customers = [await makeCustomer(service, 'again'), await makeCustomer(service, 'again')]
    return [...merchants.map(({ id }) => id), ...customers.map(({ customer_id: id }) => id)].toSorted()
  }
  const mine = await makeThree(one)
  t.equal(new Set(mine).size, 5)
  t.same(await makeThree(twin), mine)
  const restarted = await makeApp({ ...one.app.config, port: 1 }, { ids: makeSeededIds('7') })
  t.teardown(() => restarted.close())
  const actor = { id: 'olga', name: 'olga', role: 'OWNER' }
  const fourth = await createSandboxMerchant(restarted, {
    ...NewSandboxMerchant.parse({ reference: 'again' }),
    actor,
  })
  t.notOk(mine.includes(fourth.merchant_id), 'a restarted service skips existing ids')
})

t.test('without a reference, ids are random', async (t) => {
  t.not((await makeMerchant(one)).id, (await makeMerchant(twin)).id)
  t.not((await makeCustomer(one)).customer_id, (await makeCustomer(twin)).customer_id)
})

t.test("a customer's accounts are in the order of the request", async (t) => {
  const nicknames = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth']
  for (const reference of ['rich', undefined]) {
    const body = { accounts: nicknames.map((nickname) => ({ nickname })), reference }
    const made = await one.call('POST', '/api/v1/sandbox/customers', { headers: OPERATOR, body })
    t.same(
      made.body.accounts.map(({ nickname }: { nickname: string }) => nickname),
      nicknames,
    )
  }
})

t.test('no secret follows from the seed', async (t) => {
  const secrets = async (service: TestService) => (await makeMerchant(service, 'secrets')).secret
  t.not(await secrets(one), await secrets(twin))
})

t.test('an expired key creates a new order, with the next id of its own', async (t) => {
  const later = async (service: TestService): Promise<string> => {
    await service.owner.query(`update order_keys set created_at = now() - interval '25 hours'`)
    const { rows } = await service.owner.query(
      `select external_customer_id as id from customers where merchant_id is null and name = 'Grace' order by created_at limit 1`,
    )
    const { status, body } = await order(service, rows[0].id)
    t.equal(status, 201)
    return body.PaymentId
  }
  const [second, third] = [await later(one), await later(one)]
  t.not(second, third)
  t.same([await later(twin), await later(twin)], [second, third])
})

t.test('neither live mode nor a service reachable by others takes ids from a seed', async (t) => {
  for (const unsafe of [{ mode: 'live' }, { publicUrl: 'https://pay.example' }, { host: '0.0.0.0' }] as const)
    await t.rejects(makeApp({ ...one.app.config, ...unsafe }, { ids: makeSeededIds('7') }), {
      message: 'ids from a seed are only allowed in a sandbox that only this machine reaches',
    })
})

t.test('names at an identity provider that outlives the database do not depend on the seed', async (t) => {
  const actor = { id: 'olga', name: 'olga', role: 'OWNER' }
  const make = async ({ app }: TestService) => {
    const outside: App = { ...app, identity: { ...app.identity, kind: 'keycloak' } }
    const wish = { reference: 'outside' }
    return {
      merchant: await createSandboxMerchant(outside, { ...NewSandboxMerchant.parse(wish), actor }),
      customer: await createSandboxCustomer(outside, { ...NewCustomer.parse(wish), actor }),
    }
  }
  const [mine, same] = [await make(one), await make(twin)]
  t.equal(mine.merchant.merchant_id, same.merchant.merchant_id)
  t.equal(mine.customer.customer_id, same.customer.customer_id)
  t.not(mine.merchant.realm_slug, same.merchant.realm_slug)
  t.not(mine.merchant.client_id, same.merchant.client_id)
  t.not(mine.customer.client_id, same.customer.client_id)
})

t.test('a reference is a text of at most 200 characters', async (t) => {
  for (const path of ['merchants', 'customers'])
    for (const reference of ['', 'x'.repeat(201), 7, null]) {
      const answer = await one.call('POST', `/api/v1/sandbox/${path}`, { headers: OPERATOR, body: { reference } })
      t.match(answer, { status: 400, body: { errors: [{ path: 'reference' }] } }, `${path} ${String(reference).length}`)
    }
})
