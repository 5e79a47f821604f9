import t from 'tap'
import { readConfig } from '../../src/config/read.ts'
import { ensurePlatform } from '../../src/staff/ensure-platform.ts'
import { initPlatform } from '../../src/staff/init-platform.ts'
import { ensureDemoOperator } from '../../src/sandbox/seed-operator.ts'
import { addStaff } from '../../src/staff/add-staff.ts'
import { listStaff, removeStaff } from '../../src/staff/staff.ts'
import { listStaffClients, revokeStaffClient } from '../../src/staff/staff-clients.ts'
import { testService } from '../support/app.ts'
import type { TestService } from '../support/app.ts'
import { fakeProvider } from '../support/fake-provider.ts'
import type { FakeProvider } from '../support/fake-provider.ts'
import type { App } from '../../src/app.ts'
import type { Test } from 'tap'

const installation = async (t: Test): Promise<{ service: TestService; app: App; identity: FakeProvider }> => {
  const service = await testService(t, { env: { SVC_IDENTITY: 'none' } })
  const identity = fakeProvider()
  return { service, identity, app: { ...service.app, identity } }
}

const actor = { id: 'ada-id', name: 'ada@svc.example', role: 'OWNER' }

t.test('many processes that start at once make each realm of the service once', async (t) => {
  const { service, app, identity } = await installation(t)
  await Promise.all(Array.from({ length: 8 }, () => ensurePlatform(app)))
  await ensurePlatform(app)
  t.same([...identity.realms.keys()].toSorted(), ['customers', 'platform'])
  t.match(identity.realm('platform').spec, {
    kind: 'platform',
    roles: ['OWNER', 'OPS', 'SUPPORT'],
    portal: { clientId: 'platform-portal', redirectUris: [`${app.publicUrl}/admin/callback`] },
    cli: { clientId: 'platform-cli' },
  })
  t.match(identity.realm('customers').spec, {
    kind: 'customers',
    roles: [],
    scopes: ['accounts', 'payments'],
    portal: { clientId: 'customers-portal' },
    cli: { clientId: 'customers-cli' },
  })
  t.same((await service.owner.query('select client_id, kind, role from platform_clients order by 1')).rows, [
    { client_id: 'platform-cli', kind: 'cli', role: null },
    { client_id: 'platform-portal', kind: 'portal', role: null },
  ])
})

t.test('the next start adds what a crash left out', async (t) => {
  const { service, app, identity } = await installation(t)
  identity.fail('createRealm', 'after')
  await t.rejects(ensurePlatform(app))
  await service.owner.query('delete from platform_clients')
  await ensurePlatform(app)
  t.equal(identity.realms.size, 2)
  t.match((await service.owner.query('select count(*)::int as count from platform_clients')).rows, [{ count: 2 }])
})

t.test("an installation's first OWNER gets a link, and again until it is taken", async (t) => {
  const { service, app, identity } = await installation(t)
  const first = await initPlatform(app, { email: 'ada@svc.example', displayName: 'Ada' })
  t.match(first, { realm: 'platform', email: 'ada@svc.example', role: 'OWNER', link: /token=1/ })
  t.match(await initPlatform(app, { email: 'ada@svc.example' }), { link: /token=2/ })
  t.match(await listStaff(app), [{ email: 'ada@svc.example', display_name: 'Ada', role: 'OWNER' }])
  t.same((await service.owner.query('select * from mails')).rows, [], 'nothing is mailed')
  await t.rejects(initPlatform(app, { email: 'eve@svc.example' }), { code: 'USER_EXISTS', message: /ada@svc\.example/ })
  t.equal((await listStaff(app)).length, 1)
  const [owner] = await listStaff(app)
  await identity.setPassword('platform', owner?.keycloak_user_id ?? '', 'an invitation taken')
  await t.rejects(initPlatform(app, { email: 'ada@svc.example' }), { code: 'USER_EXISTS' })
  const { rows } = await service.owner.query('select actor_name, action from operator_actions order by ordinal')
  t.same(rows, [
    { actor_name: 'svc staff bootstrap', action: 'staff.add' },
    { actor_name: 'svc staff bootstrap', action: 'staff.reinvite' },
  ])
})

t.test('svc staff bootstrap does not promote an existing member', async (t) => {
  const { app } = await installation(t)
  await initPlatform(app, { email: 'ada@svc.example' })
  await addStaff(app, { email: 'bob@svc.example', role: 'SUPPORT', actor })
  await t.rejects(initPlatform(app, { email: 'bob@svc.example' }), { code: 'USER_EXISTS' })
  t.match(await listStaff(app), [{ role: 'OWNER' }, { role: 'SUPPORT' }])
})

t.test('an OWNER unknown to the provider does not block a new one', async (t) => {
  const { service, app, identity } = await installation(t)
  // As an installation without a provider makes it.
  await initPlatform(service.app, { email: 'ada@svc.example' })
  t.match(await initPlatform(app, { email: 'ada@svc.example' }), { link: /token=1/ })
  await identity.deleteUser('platform', identity.user('platform', 'ada@svc.example')?.id ?? '')
  t.match(await initPlatform(app, { email: 'eve@svc.example' }), { link: /token=2/ })
  await t.rejects(initPlatform(app, { email: 'ada@svc.example' }), { code: 'USER_EXISTS', message: /eve@svc\./ })
})

t.test('the demo operator signs in at a provider that is newer than its row', async (t) => {
  const { service, app, identity } = await installation(t)
  await ensureDemoOperator(service.app)
  const demo = await ensureDemoOperator(app)
  t.match(identity.user('platform', demo.email), { roles: ['OWNER'], password: demo.password })
  const [person] = await listStaff(app)
  t.equal(person?.keycloak_user_id, identity.user('platform', demo.email)?.id)
  t.equal(identity.realm('platform').clients.get(demo.client_id), demo.client_secret)
})

t.test('of two first OWNERs at once there is one', async (t) => {
  const { app } = await installation(t)
  const outcomes = await Promise.allSettled(
    ['ada@svc.example', 'eve@svc.example'].map((email) => initPlatform(app, { email })),
  )
  t.same(outcomes.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
  t.equal((await listStaff(app)).length, 1)
})

t.test('without an identity provider there is no invitation link', async (t) => {
  const { service } = await installation(t)
  t.match(await initPlatform(service.app, { email: 'ada@svc.example' }), { link: null })
})

t.test('the demo operator is the same after repeated and concurrent starts', async (t) => {
  const { app, identity } = await installation(t)
  const made = await Promise.all(Array.from({ length: 6 }, () => ensureDemoOperator(app)))
  t.equal(new Set(made.map((each) => JSON.stringify(each))).size, 1)
  const [demo] = made
  t.match(demo, { realm: 'platform', client_id: 'platform-key-demo0001', role: 'OWNER', email: 'owner@svc.example' })
  t.equal(identity.realm('platform').clients.get('platform-key-demo0001'), demo?.client_secret)
  t.match(identity.user('platform', 'owner@svc.example'), { roles: ['OWNER'], password: demo?.password })
  t.match(await listStaff(app), [{ email: 'owner@svc.example', role: 'OWNER' }])
  t.equal((await listStaff(app)).length, 1)
  t.match(await listStaffClients(app), [{ client_id: 'platform-key-demo0001', role: 'OWNER' }])
  t.ok((demo?.client_secret.length ?? 0) >= 43 && (demo?.password.length ?? 0) >= 20)
})

t.test('another installation has other secrets', async (t) => {
  const [one, two] = await Promise.all([installation(t), installation(t)])
  const [first, second] = await Promise.all([ensureDemoOperator(one.app), ensureDemoOperator(two.app)])
  t.not(first.client_secret, second.client_secret)
  t.not(first.password, second.password)
  t.not(first.client_secret, first.password)
})

t.test('the demo operator comes back whole, but keeps a password of its own', async (t) => {
  const { app, identity } = await installation(t)
  const demo = await ensureDemoOperator(app)
  const { member: ada } = await addStaff(app, { email: 'ada@svc.example', role: 'OWNER', actor })
  await identity.setPassword('platform', ada.keycloak_user_id, 'taken')
  const person = (await listStaff(app)).find(({ email }) => email === demo.email)
  await identity.setPassword('platform', person?.keycloak_user_id ?? '', 'a password of my own')
  await ensureDemoOperator(app)
  t.equal(identity.user('platform', demo.email)?.password, 'a password of my own')
  await removeStaff(app, { id: person?.id ?? '', actor })
  await revokeStaffClient(app, { clientId: demo.client_id, actor })
  t.same(await ensureDemoOperator(app), demo)
  t.match(identity.user('platform', demo.email), { roles: ['OWNER'], password: demo.password })
  t.equal(identity.realm('platform').clients.get(demo.client_id), demo.client_secret)
  t.match(await listStaffClients(app), [{ client_id: demo.client_id }])
})

t.test('there is no demo operator in live mode', async (t) => {
  const { service, app, identity } = await installation(t)
  const config = readConfig({
    SVC_MODE: 'live',
    SVC_VRP_CAPS: 'enforce',
    SVC_DATABASE_URL: service.databaseUrl,
    SVC_ENCRYPTION_KEY: app.config.encryptionKey,
    SVC_PUBLIC_URL: 'https://svc.example',
    SVC_TRUST_PROXY: 'false',
    SVC_SMTP_URL: 'smtp://mail.example',
  })
  await t.rejects(ensureDemoOperator({ ...app, config }), { message: /sandbox/ })
  t.equal(identity.realms.size, 0)
})
