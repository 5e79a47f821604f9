import t from 'tap'
import { createSandboxMerchant } from '../../src/sandbox/create-sandbox-merchant.ts'
import { NewSandboxMerchant } from '../../src/wire/sandbox.ts'
import { createPayment, testService } from '../support/app.ts'
import type { TestService } from '../support/app.ts'
import { breakTable, countLeftovers, NOTHING } from '../support/registrations.ts'
import { makeRemoteIdentity } from '../support/remote-identity.ts'

async function make(service: TestService, body: unknown) {
  return service.call('POST', '/api/v1/sandbox/merchants', { headers: { 'x-platform-user': 'olga' }, body })
}

t.test('a sandbox merchant can take payments at once', async (t) => {
  const service = await testService(t)
  const { status, body } = await make(service, {})
  t.equal(status, 201)
  t.match(body, {
    kyb_status: 'APPROVED',
    fee_percentage: '0.0100',
    fee_flat: '0.20',
    webhook_url: null,
    webhook_signing_secret: /^[0-9a-f]{64}$/,
  })
  const created = await createPayment(service, {
    id: body.merchant_id,
    clientId: body.client_id,
    clientSecret: body.client_secret,
    realm: body.realm_slug,
    secret: body.webhook_signing_secret,
  })
  t.match(created, { status: 201, body: { fee_amount: '0.70' } })
})

t.test('a merchant that is not approved, or held, is rejected as in live mode', async (t) => {
  const service = await testService(t)
  const wishes = [
    { wish: { kyb_status: 'PENDING' }, code: 'MERCHANT_NOT_APPROVED' },
    { wish: { kyb_status: 'SUSPENDED' }, code: 'MERCHANT_NOT_APPROVED' },
    { wish: { payout_held: true }, code: 'PAYOUT_HELD' },
  ]
  for (const { wish, code } of wishes) {
    const { body } = await make(service, wish)
    const created = await createPayment(service, {
      id: body.merchant_id,
      clientId: body.client_id,
      clientSecret: body.client_secret,
      realm: body.realm_slug,
      secret: '',
    })
    t.match(created, { status: 403, body: { code } }, code)
  }
})

t.test('invalid input is rejected with its field', async (t) => {
  const service = await testService(t)
  t.match(await make(service, { fee_percentage: 0.01 }), {
    status: 400,
    body: { errors: [{ path: 'fee_percentage' }] },
  })
  t.match(await make(service, { webhook_url: 'ftp://shop.example' }), {
    status: 400,
    body: { errors: [{ path: 'webhook_url' }] },
  })
  t.match(await make(service, { kyb: 'APPROVED' }), {
    status: 400,
    body: { errors: [{ path: 'kyb', code: 'UNKNOWN_FIELD' }] },
  })
})

t.test('with an identity provider it has a realm of its own, whose server client is an ADMIN', async (t) => {
  const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
  const headers = await service.operator('OPS')
  const { status, body } = await service.call('POST', '/api/v1/sandbox/merchants', {
    headers,
    body: { payout_held: true },
  })
  t.match(
    { status, body },
    { status: 201, body: { client_secret: String, issuer: `${service.url}/realms/${body.realm_slug}` } },
  )
  const merchant = {
    id: body.merchant_id,
    clientId: body.client_id,
    clientSecret: body.client_secret,
    realm: body.realm_slug,
    secret: body.webhook_signing_secret,
  }
  t.match(await service.call('GET', '/api/v1/portal/team', { merchant }), { status: 200, body: { data: [] } })
  t.match(await createPayment(service, merchant), { status: 403, body: { code: 'PAYOUT_HELD' } })
  const { rows } = await service.owner.query(
    `select actor_role, after from operator_actions where action = 'sandbox.create_merchant'`,
  )
  t.match(rows, [{ actor_role: 'OPS', after: { realm_slug: body.realm_slug, payout_held: true } }])
  const support = await service.operator('SUPPORT')
  t.match(await service.call('POST', '/api/v1/sandbox/merchants', { headers: support, body: {} }), { status: 403 })
})

t.test('a merchant that can not be written leaves no realm, in the embedded provider or in a remote one', async (t) => {
  const identity = makeRemoteIdentity()
  for (const options of [{ env: { SVC_IDENTITY: 'embedded' } }, { overrides: { identity } }]) {
    const { app, owner } = await testService(t, options)
    await breakTable(owner, { table: 'operator_actions', on: 'insert' })
    const wish = NewSandboxMerchant.parse({})
    await t.rejects(createSandboxMerchant(app, { ...wish, actor: { id: 'sub-1', name: 'olga', role: 'OPS' } }))
    t.same(await countLeftovers(owner), NOTHING)
  }
  t.equal(identity.realms.size, 0)
})
