import t from 'tap'
import type { App } from '../../src/app.ts'
import { IdentityUnavailableError } from '../../src/identity/provider.ts'
import { addStaff } from '../../src/staff/add-staff.ts'
import { findTokenCutoff } from '../../src/identity/token-cutoffs-sql.ts'
import { resetOwnerFactor } from '../../src/staff/init-platform.ts'
import { changeStaffRole, listStaff, removeStaff, resetStaffFactor } from '../../src/staff/staff.ts'
import type { PlatformRole } from '../../src/lib/permissions.ts'
import type { PlatformUser } from '../../src/staff/record.ts'
import { testService } from '../support/app.ts'
import { fakeProvider } from '../support/fake-provider.ts'
import type { FakeProvider } from '../support/fake-provider.ts'

const service = await testService(t, { env: { SVC_IDENTITY: 'none' } })
const actor = { id: 'ada-id', name: 'ada@svc.example', role: 'OWNER' }

type Platform = {
  app: App
  identity: FakeProvider
  add(email: string, role?: PlatformRole): Promise<PlatformUser>
  /** What the audit trail has of this platform. */
  actions(): Promise<Record<string, unknown>[]>
}

/** A platform without staff, and a provider that remembers and can fail. */
const platform = async (): Promise<Platform> => {
  await service.owner.query('delete from platform_users')
  const { rows } = await service.owner.query('select coalesce(max(ordinal), 0) as last from operator_actions')
  const identity = fakeProvider()
  const app = { ...service.app, identity }
  return {
    app,
    identity,
    add: async (email, role = 'OWNER') => (await addStaff(app, { email, role, actor })).member,
    actions: async () => {
      const actions = await service.owner.query(
        'select action, actor_name, subject_id, reason, merchant_id, before, after from operator_actions where ordinal > $1 order by ordinal',
        [rows[0].last],
      )
      return actions.rows
    },
  }
}

t.test('staff are added, promoted and removed, and all of it is in the audit trail', async (t) => {
  const { app, identity, add, actions } = await platform()
  await add('ada@svc.example')
  const { member: bob } = await addStaff(app, {
    email: 'bob@svc.example',
    role: 'SUPPORT',
    reason: 'a new hire',
    actor,
  })
  t.match(bob, { display_name: 'bob', role: 'SUPPORT', is_active: true, last_seen_at: null })
  const user = () => identity.user('platform', 'bob@svc.example')
  t.match(user(), { id: bob.keycloak_user_id, roles: ['SUPPORT'] })
  t.match(identity.invitations.at(-1), {
    realm: 'platform',
    invitation: { clientId: 'platform-portal', deliver: 'mail', merchantId: null },
  })
  await changeStaffRole(app, { id: bob.id, role: 'OPS', reason: 'learnt fast', actor })
  t.same(user()?.roles, ['OPS'])
  t.match(await removeStaff(app, { id: bob.id, actor }), { id: bob.id, is_active: false })
  t.equal(user(), undefined)
  t.match(await listStaff(app), [{ email: 'ada@svc.example' }])
  const by = { actor_name: 'ada@svc.example', merchant_id: null }
  t.match(await actions(), [
    { ...by, action: 'staff.add', after: { email: 'ada@svc.example', role: 'OWNER' } },
    { ...by, action: 'staff.add', subject_id: bob.id, reason: 'a new hire' },
    { ...by, action: 'staff.role', before: { role: 'SUPPORT' }, after: { role: 'OPS' }, reason: 'learnt fast' },
    { ...by, action: 'staff.remove', before: { email: 'bob@svc.example', role: 'OPS' } },
  ])
})

t.test('a removed member can be added again, with a new account', async (t) => {
  const { app, identity, add } = await platform()
  await add('ada@svc.example')
  const first = await add('bob@svc.example')
  await removeStaff(app, { id: first.id, actor })
  const second = await add('bob@svc.example', 'OPS')
  t.not(second.id, first.id)
  t.not(second.keycloak_user_id, first.keycloak_user_id)
  t.same(identity.user('platform', 'bob@svc.example')?.roles, ['OPS'])
})

t.test('a pending invitation is sent again; an accepted one is rejected', async (t) => {
  const { identity, add } = await platform()
  await add('ada@svc.example')
  const first = await add('bob@svc.example', 'SUPPORT')
  t.match(await add('bob@svc.example', 'OPS'), { id: first.id, role: 'OPS' })
  t.equal(identity.invitations.filter(({ userId }) => userId === first.keycloak_user_id).length, 2)
  await identity.setPassword('platform', first.keycloak_user_id, 'an invitation taken')
  await t.rejects(add('bob@svc.example', 'OWNER'), { code: 'USER_EXISTS' })
  t.same(identity.user('platform', 'bob@svc.example')?.roles, ['OPS'])
})

t.test('the last OWNER cannot be removed', async (t) => {
  const { app, add } = await platform()
  const ada = await add('ada@svc.example')
  await add('bob@svc.example', 'OPS')
  await t.rejects(changeStaffRole(app, { id: ada.id, role: 'OPS', actor }), { code: 'LAST_OWNER' })
  await t.rejects(removeStaff(app, { id: ada.id, actor }), { code: 'LAST_OWNER' })
  await t.rejects(add('ada@svc.example', 'SUPPORT'), { code: 'LAST_OWNER' }, 'nor by a new invitation')
})

t.test('of two OWNERs who leave at the same moment, one stays', async (t) => {
  for (const leave of ['demote', 'remove'] as const) {
    const { app, add } = await platform()
    const owners = [await add('ada@svc.example'), await add('bob@svc.example')]
    const outcomes = await Promise.allSettled(
      owners.map(({ id }) =>
        leave === 'remove' ? removeStaff(app, { id, actor }) : changeStaffRole(app, { id, role: 'OPS', actor }),
      ),
    )
    t.same(outcomes.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'], leave)
    t.match(
      outcomes.find(({ status }) => status === 'rejected'),
      { reason: { code: 'LAST_OWNER' } },
    )
    t.equal((await listStaff(app)).filter(({ role }) => role === 'OWNER').length, 1)
  }
})

t.test('after any failed step a role allows no more than the row, and a repetition repairs it', async (t) => {
  for (const step of ['createUser', 'setUserRoles', 'inviteUser'] as const) {
    for (const when of ['before', 'after'] as const) {
      const { app, identity, add } = await platform()
      await add('ada@svc.example')
      identity.fail(step, when)
      await t.rejects(add('bob@svc.example'), IdentityUnavailableError)
      const row = (await listStaff(app)).find(({ email }) => email === 'bob@svc.example')
      const roles = identity.user('platform', 'bob@svc.example')?.roles ?? []
      t.ok(roles.length === 0 || roles[0] === row?.role, `${step} ${when}`)
      const bob = await add('bob@svc.example')
      t.match(identity.user('platform', 'bob@svc.example'), { id: bob.keycloak_user_id, roles: ['OWNER'] })
      t.equal(identity.realm('platform').users.size, 2)
    }
  }
  const { app, identity, add } = await platform()
  await add('ada@svc.example')
  const bob = await add('bob@svc.example')
  identity.fail('deleteUser')
  await t.rejects(removeStaff(app, { id: bob.id, actor }), IdentityUnavailableError)
  t.equal((await listStaff(app)).length, 1, 'gone for us at once')
  await removeStaff(app, { id: bob.id, actor })
  t.equal(identity.user('platform', 'bob@svc.example'), undefined, 'and at the provider with the repetition')
})

t.test('an OWNER who has not signed up, or has no account, does not count as another OWNER', async (t) => {
  for (const leave of ['demote', 'remove'] as const) {
    const { app, identity, add } = await platform()
    const [ada, bob, cat] = [await add('ada@svc.example'), await add('bob@svc.exmaple'), await add('cat@svc.example')]
    const signUp = ({ keycloak_user_id: id }: PlatformUser) => identity.setPassword('platform', id, 'taken')
    const go = ({ id }: PlatformUser) =>
      leave === 'remove' ? removeStaff(app, { id, actor }) : changeStaffRole(app, { id, role: 'OPS', actor })
    await signUp(ada)
    await signUp(cat)
    await identity.deleteUser('platform', cat.keycloak_user_id)
    await t.rejects(go(ada), { code: 'LAST_OWNER', next: /invitation/ }, leave)
    await t.resolves(go(bob))
    await signUp(await add('cat@svc.example'))
    await t.resolves(go(ada))
    await t.rejects(go(cat), { code: 'LAST_OWNER' })
  }
})

t.test('an account that the provider has lost is created again by the next invitation', async (t) => {
  const { app, identity, add, actions } = await platform()
  await add('ada@svc.example')
  const { member: before } = await addStaff(service.app, { email: 'bob@svc.example', role: 'OPS', actor })
  await t.resolves(changeStaffRole(app, { id: before.id, role: 'SUPPORT', actor }))
  const { member: after } = await addStaff(app, {
    email: 'bob@svc.example',
    displayName: 'Bob',
    role: 'OPS',
    reason: 'he has moved',
    actor,
  })
  const account = identity.user('platform', 'bob@svc.example')
  t.match(account, { id: after.keycloak_user_id, roles: ['OPS'] })
  t.match(after, { id: before.id, display_name: 'Bob', role: 'OPS' })
  t.not(after.keycloak_user_id, before.keycloak_user_id)
  t.match((await actions()).at(-1), {
    action: 'staff.reinvite',
    reason: 'he has moved',
    before: { keycloak_user_id: before.keycloak_user_id, display_name: 'bob', role: 'SUPPORT' },
    after: { keycloak_user_id: after.keycloak_user_id, display_name: 'Bob', role: 'OPS' },
  })
  t.match(await add('bob@svc.example', 'OPS'), { display_name: 'Bob' }, 'who gives no name changes none')
})

t.test('an OWNER manages the staff over HTTP', async (t) => {
  await platform()
  const headers = await service.operator('OWNER')
  const call = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path = '', body?: unknown) =>
    service.call(method, `/api/v1/admin/staff${path}`, { headers, body })
  const ada = await call('POST', '', { email: 'Ada@svc.example', display_name: 'Ada', role: 'OWNER', reason: 'first' })
  t.match(ada, { status: 201, body: { email: 'ada@svc.example', display_name: 'Ada', role: 'OWNER' } })
  const bob = await call('POST', '', { email: 'bob@svc.example', role: 'OPS' })
  t.match(await call('GET'), { status: 200, body: { data: [{ display_name: 'Ada' }, { display_name: 'bob' }] } })
  t.match(await call('PUT', `/${bob.body.id}`, { role: 'SUPPORT', reason: 'r' }), { body: { role: 'SUPPORT' } })
  t.match(await call('PUT', `/${ada.body.id}`, { role: 'OPS' }), { status: 409, body: { code: 'LAST_OWNER' } })
  t.match(await call('DELETE', `/${ada.body.id}`), { status: 409, body: { code: 'LAST_OWNER' } })
  t.match(await call('DELETE', `/${bob.body.id}`), { status: 200, body: { is_active: false } })
  t.match(await call('PUT', `/${bob.body.id}`, { role: 'OPS' }), { status: 404, body: { code: 'STAFF_NOT_FOUND' } })
  for (const id of [service.app.ids.uuid(), 'nonsense', '%00', bob.body.keycloak_user_id]) {
    t.match(await call('PUT', `/${id}`, { role: 'OPS' }), { status: 404, body: { code: 'STAFF_NOT_FOUND' } })
    t.match(await call('DELETE', `/${id}`), { status: 404, body: { code: 'STAFF_NOT_FOUND' } })
  }
})

t.test('bad bodies are rejected, and no member is added', async (t) => {
  await platform()
  const headers = await service.operator('OWNER')
  for (const body of [
    {},
    { email: 'ada@svc.example', role: 'ADMIN' },
    { email: 'ada', role: 'OPS' },
    { email: 'ada@svc.example', role: 'OPS', display_name: 'x'.repeat(101) },
    { email: 'ada@svc.example', role: 'OPS', reason: 'x'.repeat(501) },
    { email: 'ada@svc.example', role: 'OPS', is_active: true },
    { email: 'ada@svc.example', role: 'OPS', keycloak_user_id: 'mine' },
  ]) {
    t.match(await service.call('POST', '/api/v1/admin/staff', { headers, body }), {
      status: 400,
      body: { code: 'VALIDATION_FAILED' },
    })
  }
  t.same((await service.call('GET', '/api/v1/admin/staff', { headers })).body.data, [])
})

t.test('a second factor is reset by another person, and it is in the audit trail', async (t) => {
  const { app, identity, add, actions } = await platform()
  const ada = await add('ada@svc.example')
  const bob = await add('bob@svc.example', 'OPS')
  const reset: string[] = []
  identity.resetFactor = async (slug, id) => void reset.push(`${slug} ${id}`)
  await resetStaffFactor(app, { id: bob.id, reason: 'lost the phone', actor })
  t.same(reset, [`platform ${bob.keycloak_user_id}`])
  const token = { slug: 'platform', keyId: 'none', clientId: 'none', subject: bob.keycloak_user_id }
  t.ok(await findTokenCutoff(app.pool, token), 'access tokens end, whatever the provider ends')
  t.match((await actions()).at(-1), { action: 'staff.reset_factor', subject_id: bob.id, reason: 'lost the phone' })
  const own = { id: ada.id, actor: { ...actor, id: ada.keycloak_user_id } }
  await t.rejects(resetStaffFactor(app, own), { code: 'OWN_FACTOR' })
  await t.rejects(resetStaffFactor(app, { id: 'nobody', actor }), { code: 'STAFF_NOT_FOUND' })
  await resetOwnerFactor(app, 'ada@svc.example')
  t.match((await actions()).at(-1), { action: 'staff.reset_factor', actor_name: 'svc staff bootstrap' })
  await t.rejects(resetOwnerFactor(app, 'bob@svc.example'), { code: 'STAFF_NOT_FOUND' })
  t.equal(reset.length, 2)
})
