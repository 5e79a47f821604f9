import t from 'tap'
import { makeApp } from '../../src/app.ts'
import { ensureDemoMerchant } from '../../src/sandbox/seed-merchant.ts'
import { serviceToken, testService } from '../support/app.ts'
import type { TestService } from '../support/app.ts'
import { makeRemoteIdentity } from '../support/remote-identity.ts'

const EMBEDDED = { SVC_IDENTITY: 'embedded' }

function tokenOf(service: TestService, demo: Awaited<ReturnType<typeof ensureDemoMerchant>>): Promise<string> {
  return serviceToken(service.url, { realm: demo.realm, clientId: demo.client_id, secret: demo.client_secret ?? '' })
}

t.test('the demo merchant has logins that work, and repeating it keeps them', async (t) => {
  const service = await testService(t, { env: EMBEDDED })
  const { app, owner } = service
  const demo = await ensureDemoMerchant(app)
  t.match(demo, { client_id: 'demo-server', realm: 'demo', email: 'admin@demo.example', password: /^[\w-]{20}$/ })
  t.match(demo, { client_secret: /^[\w-]{43}$/, webhook_secret: /^[0-9a-f]{64}$/ })
  const authorization = `Bearer ${await tokenOf(service, demo)}`
  t.match(await service.call('GET', '/api/v1/portal/team', { headers: { authorization } }), {
    status: 200,
    body: { data: [{ email: 'admin@demo.example', role: 'ADMIN' }] },
  })
  const users = () => owner.query('select id, password_hash, roles from idp.users').then(({ rows }) => rows)
  const [user] = await users()
  t.match(user, { password_hash: /argon2/, roles: ['ADMIN'] })
  t.same(await ensureDemoMerchant(app), demo)
  t.same(await users(), [user], 'setting the password again would end every session')
})

t.test('the demo logins are restored to the printed ones after any change', async (t) => {
  const service = await testService(t, { env: EMBEDDED })
  const { app, owner } = service
  const demo = await ensureDemoMerchant(app)
  await app.identity.rotateServiceSecret('demo', 'demo-server', 'another')
  t.same(await ensureDemoMerchant(app), demo)
  await t.resolves(tokenOf(service, demo))
  await app.identity.deleteClient('demo', 'demo-server')
  await owner.query('update merchant_client set revoked_at = now()')
  await owner.query('delete from idp.users')
  t.same(await ensureDemoMerchant(app), demo)
  t.match((await owner.query('select roles, password_hash from idp.users')).rows, [
    { roles: ['ADMIN'], password_hash: String },
  ])
  t.match((await owner.query('select count(*)::int from team_members where is_active')).rows, [{ count: 1 }])
  t.match((await owner.query(`select revoked_at from merchant_client where kind = 'server'`)).rows, [
    { revoked_at: null },
  ])
})

t.test('a demo merchant of a database without realms gets one, and keeps its data', async (t) => {
  const service = await testService(t)
  const before = await ensureDemoMerchant(service.app)
  t.match(before, { client_secret: null, email: null, password: null, realm: 'demo' })
  t.same(await ensureDemoMerchant(service.app), before)
  await service.owner.query(`delete from merchant_client where kind <> 'server'`)
  await service.owner.query('update merchants set realm_slug = null')
  const app = await makeApp({ ...service.app.config, identity: 'embedded' })
  t.teardown(() => app.close())
  const after = await ensureDemoMerchant(app)
  t.match(after, { id: before.id, webhook_secret: before.webhook_secret, client_secret: String, password: String })
  t.match((await service.owner.query('select realm_slug from merchants')).rows, [{ realm_slug: 'demo' }])
  t.equal((await service.owner.query('select from merchant_client')).rowCount, 3)
  t.equal((await service.owner.query('select from team_members where is_active')).rowCount, 1)
})

t.test('processes that start at once make one demo merchant and agree on it', async (t) => {
  for (const env of [EMBEDDED, { SVC_IDENTITY: 'none' }]) {
    const service = await testService(t, { env })
    const other = await makeApp(service.app.config)
    t.teardown(() => other.close())
    const all = await Promise.all([service.app, other, service.app, other].map((app) => ensureDemoMerchant(app)))
    t.equal(new Set(all.map((demo) => JSON.stringify(demo))).size, 1, env.SVC_IDENTITY)
    t.equal((await service.owner.query('select from merchants')).rowCount, 1)
  }
})

t.test('a realm left by a killed process is deleted; a foreign one is not', async (t) => {
  const identity = makeRemoteIdentity()
  const { app } = await testService(t, { overrides: { identity } })
  const realm = { slug: 'demo', kind: 'merchant', displayName: '', roles: [] } as const
  await identity.createRealm({ ...realm, registrationId: '00000000-0000-7000-8000-00000000de30' })
  t.match(await ensureDemoMerchant(app), { client_id: 'demo-server' })
  const foreign = makeRemoteIdentity()
  const other = await testService(t, { overrides: { identity: foreign } })
  await foreign.createRealm({ ...realm, registrationId: '00000000-0000-7000-8000-000000000001' })
  await t.rejects(ensureDemoMerchant(other.app), { message: /is not the demo merchant's/ })
})

t.test('the receiver follows the service to its new address', async (t) => {
  const service = await testService(t)
  const { id } = await ensureDemoMerchant(service.app)
  const app = await makeApp({ ...service.app.config, publicUrl: 'https://pay.example' })
  t.teardown(() => app.close())
  await ensureDemoMerchant(app)
  const { rows } = await service.owner.query('select webhook_url from merchants')
  t.same(rows, [{ webhook_url: `https://pay.example/dev/webhook-receiver/${id}` }])
})
