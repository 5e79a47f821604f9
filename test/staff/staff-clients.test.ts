import t from 'tap'
import { IdentityUnavailableError } from '../../src/identity/provider.ts'
import { ensurePlatform } from '../../src/staff/ensure-platform.ts'
import { createStaffClient, listStaffClients, revokeStaffClient } from '../../src/staff/staff-clients.ts'
import { testService } from '../support/app.ts'
import { fakeProvider } from '../support/fake-provider.ts'

const service = await testService(t, { env: { SVC_IDENTITY: 'none' } })
const identity = fakeProvider()
const app = { ...service.app, identity }
await ensurePlatform(app)
const actor = { id: 'ada-id', name: 'ada@svc.example', role: 'OWNER' }

const actionsOf = async (clientId: string): Promise<Record<string, unknown>[]> => {
  const { rows } = await service.owner.query(
    'select action, reason, before, after from operator_actions where subject_id = $1 order by ordinal',
    [clientId],
  )
  return rows
}

t.test('a service client is created with a role, listed, and revoked for good', async (t) => {
  const made = await createStaffClient(app, { name: 'nightly', role: 'OPS', reason: 'reports', actor })
  t.match(made.client_id, /^platform-key-[a-z0-9]{8}$/)
  t.match(made, {
    client_secret: /^[\w-]{43}$/,
    role: 'OPS',
    created_by: 'ada@svc.example',
    token_endpoint: 'http://idp.example/realms/platform/protocol/openid-connect/token',
  })
  t.equal(identity.realm('platform').clients.get(made.client_id), made.client_secret)
  t.match(await listStaffClients(app), [{ client_id: made.client_id, name: 'nightly' }])
  const revoked = await revokeStaffClient(app, { clientId: made.client_id, actor })
  t.equal(identity.realm('platform').clients.size, 0)
  t.same(await listStaffClients(app), [])
  t.same(await revokeStaffClient(app, { clientId: made.client_id, actor }), revoked, 'repeatable')
  t.match(await actionsOf(made.client_id), [
    { action: 'staff.client_create', reason: 'reports', after: { name: 'nightly', role: 'OPS' } },
    { action: 'staff.client_revoke', before: { name: 'nightly', role: 'OPS' } },
  ])
  t.equal((await actionsOf(made.client_id)).length, 2)
})

t.test('a provider that fails leaves no client that works, or that the list does not show', async (t) => {
  for (const when of ['before', 'after'] as const) {
    identity.fail('createServiceClient', when)
    await t.rejects(createStaffClient(app, { name: 'x', role: 'OPS', actor }), IdentityUnavailableError)
    t.same(await listStaffClients(app), [])
    t.equal(identity.realm('platform').clients.size, 0)
  }
})

t.test('a client that is revoked while it is created does not stay at the provider', async (t) => {
  identity.onCall(async (method) => {
    if (method !== 'createServiceClient') return
    identity.onCall(undefined)
    const [made] = await listStaffClients(app)
    await revokeStaffClient(app, { clientId: made?.client_id ?? '', actor })
  })
  await t.rejects(createStaffClient(app, { name: 'x', role: 'OPS', actor }), { code: 'CREDENTIAL_NOT_FOUND' })
  t.equal(identity.realm('platform').clients.size, 0)
})

t.test('the clients that people sign in with can not be revoked here', async (t) => {
  for (const clientId of ['platform-portal', 'platform-cli', 'platform-key-00000000', 'nonsense']) {
    await t.rejects(revokeStaffClient(app, { clientId, actor }), { code: 'CREDENTIAL_NOT_FOUND' })
  }
})

t.test('over HTTP, without an identity provider, clients are rows without secrets', async (t) => {
  const headers = await service.operator('OWNER')
  const path = '/api/v1/admin/staff-clients'
  const made = await service.call('POST', path, { headers, body: { name: 'ci', role: 'SUPPORT' } })
  t.match(made, { status: 201, body: { role: 'SUPPORT', client_secret: null, token_endpoint: null } })
  t.match(await service.call('GET', path, { headers }), { status: 200, body: { data: [{ name: 'ci' }] } })
  const one = `${path}/${made.body.client_id}`
  t.match(await service.call('DELETE', one, { headers }), { status: 200, body: { revoked_at: /^20/ } })
  t.match(await service.call('DELETE', `${path}/%00`, { headers }), {
    status: 404,
    body: { code: 'CREDENTIAL_NOT_FOUND' },
  })
  for (const body of [{}, { name: 'ci' }, { name: 'ci', role: 'ADMIN' }, { name: 'ci', role: null }, { role: 'OPS' }]) {
    t.match(await service.call('POST', path, { headers, body }), { status: 400 })
  }
})
