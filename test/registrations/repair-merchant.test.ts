import t from 'tap'
import type { Test } from 'tap'
import { listMails } from '../../src/mail/list-mails.ts'
import { makeApp } from '../../src/app.ts'
import type { App } from '../../src/app.ts'
import { inviteAdmins } from '../../src/registrations/invite-admins.ts'
import { registerMerchant } from '../../src/registrations/register-merchant.ts'
import { repairRegistration } from '../../src/registrations/repair-registration.ts'
import { inviteTeamMember } from '../../src/team/invite-team-member.ts'
import { listTeam } from '../../src/team/members.ts'
import { testService } from '../support/app.ts'
import type { TestService } from '../support/app.ts'
import { registrationInput, registrationRow } from '../support/registrations.ts'

const actor = { id: 'sub-1', name: 'olga', role: 'OPS' }
const SLUG = 'acme-ltd'
const repair = (app: App, more: { adminEmail?: string; slug?: string } = {}) =>
  repairRegistration(app, { slug: SLUG, rollback: false, reason: 'they called', actor, ...more })

/** What `svc up --idp none` leaves to `svc up`: the same database, and a provider that knows nobody. */
async function withProviderLater(t: Test): Promise<{ service: TestService; app: App }> {
  const service = await testService(t, { env: { SVC_IDENTITY: 'none' } })
  const app = await makeApp({ ...service.app.config, identity: 'embedded' })
  t.teardown(() => app.close())
  return { service, app }
}

async function usersOf({ owner }: TestService) {
  return (await owner.query('select id, email, roles, password_hash from idp.users order by email')).rows
}

async function mailsTo({ app }: TestService, recipient: string): Promise<number> {
  return (await listMails(app, { recipient })).length
}

async function actions({ owner }: TestService) {
  return (await owner.query('select action, reason, before, after from operator_actions order by ordinal')).rows
}

t.test('a merchant that is older than the provider gets its realm, its clients and its administrator', async (t) => {
  const { service, app } = await withProviderLater(t)
  const { merchant_id: merchantId } = await registerMerchant(service.app, registrationInput())
  await inviteAdmins(service.app)
  const [before] = await listTeam(app, merchantId)
  const [first, second] = await Promise.allSettled([repair(app), repair(app)])
  t.ok([first, second].some((each) => each.status === 'fulfilled'))
  const rejected = [first, second].find((each) => each.status === 'rejected')
  if (rejected !== undefined) t.match(rejected, { reason: { code: 'REGISTRATION_UNDER_WAY' } })
  await repair(app)
  const users = await usersOf(service)
  t.match(users, [{ email: 'ada@acme.example', roles: ['ADMIN'], password_hash: null }])
  t.not(users[0].id, before?.id)
  t.match(await listTeam(app, merchantId), [{ id: users[0].id, role: 'ADMIN' }])
  t.match(await registrationRow(service.owner), { admin_user_id: users[0].id, invited_at: String })
  t.ok((await mailsTo(service, 'ada@acme.example')) >= 1)
  t.same((await service.owner.query('select client_id from idp.clients order by 1')).rows, [
    { client_id: 'acme-ltd-cli' },
    { client_id: 'acme-ltd-portal' },
    { client_id: 'acme-ltd-server' },
  ])
  t.same((await repair(app)).repaired, [], 'and then there is nothing to do')
  t.match((await actions(service)).slice(1, 3), [
    { action: 'registration.restore_realm', reason: 'they called', after: { realm_slug: SLUG } },
    {
      action: 'registration.restore_admin',
      before: { admin_user_id: before?.id },
      after: { admin_user_id: users[0].id },
    },
  ])
})

t.test('so does one that never registered, and a disabled one stays disabled', async (t) => {
  const { service, app } = await withProviderLater(t)
  const { id: merchantId, realm: slug } = await service.merchant()
  await service.owner.query(`delete from merchant_client where kind <> 'server'`)
  await service.owner.query('update merchants set is_active = false')
  t.match(await repair(app, { slug }), { status: 'COMPLETE', repaired: [/created its realm/] })
  t.match((await service.owner.query('select is_enabled, registration_id from idp.realms')).rows, [
    { is_enabled: false, registration_id: merchantId },
  ])
  t.equal((await service.owner.query('select from merchant_client')).rowCount, 3)
  t.same(await usersOf(service), [], 'nobody is known who could sign in')
  t.match(await repair(app, { slug, adminEmail: 'ada@acme.example' }), {
    repaired: [/account for the administrator ada@/, /invited/],
  })
  t.match(await usersOf(service), [{ email: 'ada@acme.example', roles: ['ADMIN'] }])
  t.equal(await mailsTo(service, 'ada@acme.example'), 1)
  t.match(await listTeam(app, merchantId), [{ email: 'ada@acme.example', role: 'ADMIN' }])
  await t.rejects(repairRegistration(app, { slug, rollback: true, actor }), { code: 'REGISTRATION_COMPLETE' })
})

t.test('an administrator whose account was deleted gets a new one, unless an ADMIN can do it', async (t) => {
  const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
  const { app, owner } = service
  const { merchant_id: merchantId } = await registerMerchant(app, registrationInput())
  await inviteAdmins(app)
  await owner.query('delete from idp.users')
  t.match(await repair(app), { repaired: [/account for the administrator/, /invited/] })
  t.match(await usersOf(service), [{ email: 'ada@acme.example', roles: ['ADMIN'] }])
  const bob = await inviteTeamMember(app, { merchantId, email: 'bob@acme.example', role: 'ADMIN', actor })
  await app.identity.setPassword(SLUG, bob.id, 'a password of their own')
  await owner.query(`delete from idp.users where email = 'ada@acme.example'`)
  t.same((await repair(app)).repaired, [])
})

t.test('a mistyped administrator is replaced, and its invitation and account are worth nothing', async (t) => {
  const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
  const { app, owner } = service
  const { merchant_id: merchantId } = await registerMerchant(
    app,
    registrationInput({ admin_email: 'ada@acme.exmaple' }),
  )
  await inviteAdmins(app)
  t.match(await repair(app, { adminEmail: 'ada@acme.example' }), { repaired: [/ada@acme.example/, /invited/] })
  const [user, ...others] = await usersOf(service)
  t.match(user, { email: 'ada@acme.example', roles: ['ADMIN'] })
  t.same(others, [])
  t.match(await listTeam(app, merchantId), [{ id: user.id, email: 'ada@acme.example', role: 'ADMIN' }])
  t.equal((await listTeam(app, merchantId)).length, 1)
  t.equal((await owner.query(`select from idp.action_tokens where used_at is null`)).rowCount, 1)
  t.match(await registrationRow(owner), { admin_email: 'ada@acme.example', admin_user_id: user.id, invited_at: String })
  t.match((await actions(service))[1], {
    action: 'registration.replace_admin',
    reason: 'they called',
    before: { admin_emails: ['ada@acme.exmaple'] },
    after: { admin_emails: ['ada@acme.example'] },
  })
  t.match(await repair(app, { adminEmail: 'ada@acme.example' }), { repaired: [/ada@/, /invited/] }, 'invited once more')
  t.equal(await mailsTo(service, 'ada@acme.example'), 2)

  await app.identity.setPassword(SLUG, user.id, 'a password of their own')
  const refused = repair(app, { adminEmail: 'eve@svc.example' })
  await t.rejects(refused, { code: 'USER_EXISTS' }, 'nobody takes a merchant over that has an ADMIN')
  await t.rejects(repair(app, { adminEmail: 'ada@acme.example' }), { code: 'USER_EXISTS' })
  t.equal((await usersOf(service)).length, 1)
})

t.test('a person who may not be invited now does not become the administrator, and is not restored', async (t) => {
  const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
  const { app, owner } = service
  await registerMerchant(app, registrationInput())
  await inviteAdmins(app)
  await repair(app, { adminEmail: 'bea@acme.example' })
  for (const adminEmail of ['ada@acme.example', 'bea@acme.example']) {
    const invitedAgain = async (): Promise<boolean> => (await repair(app, { adminEmail }).catch(() => null)) !== null
    let count = 0
    while (count < 10 && (await invitedAgain())) count += 1
    t.ok(count < 10)
  }
  const state = async () => [await usersOf(service), await actions(service), await registrationRow(owner)]
  const before = await state()
  await t.rejects(repair(app, { adminEmail: 'ada@acme.example' }), { code: 'RATE_LIMITED', retryAfterSeconds: Number })
  t.same(await state(), before, 'and the one of before stays')
  await owner.query('delete from idp.users')
  const withoutAccount = await state()
  await t.rejects(repair(app), { code: 'RATE_LIMITED' })
  t.same(await state(), withoutAccount)
  await owner.query(`delete from idp.realms where slug = '${SLUG}'`)
  await t.rejects(repair(app), { code: 'RATE_LIMITED' })
  t.same(await state(), withoutAccount, 'a lost realm waits with its administrator')
  t.equal((await owner.query(`select from idp.realms where slug = '${SLUG}'`)).rowCount, 0)
})

t.test('a member who has signed up becomes the administrator without an invitation', async (t) => {
  const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
  const { app } = service
  const { merchant_id: merchantId } = await registerMerchant(app, registrationInput())
  const dev = await inviteTeamMember(app, { merchantId, email: 'dev@acme.example', role: 'DEVELOPER', actor })
  await app.identity.setPassword(SLUG, dev.id, 'a password of their own')
  t.same((await repair(app, { adminEmail: 'dev@acme.example' })).repaired.length, 1)
  t.match(await usersOf(service), [{ id: dev.id, roles: ['ADMIN'] }])
  t.match(await listTeam(app, merchantId), [{ id: dev.id, role: 'ADMIN' }])
  t.equal(await mailsTo(service, 'dev@acme.example'), 1, 'that of the team')
})

t.test('over HTTP an operator names the administrator', async (t) => {
  const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
  await registerMerchant(service.app, registrationInput())
  const path = `/api/v1/admin/registrations/${SLUG}/repair`
  const call = async (role: 'OPS' | 'SUPPORT', body: unknown) =>
    service.call('POST', path, { headers: await service.operator(role), body })
  t.match(await call('OPS', { admin_email: 'nonsense' }), { status: 400, body: { code: 'VALIDATION_FAILED' } })
  t.match(await call('SUPPORT', { admin_email: 'bea@acme.example' }), { status: 403 })
  t.match(await call('OPS', { admin_email: ' Bea@ACME.example ' }), {
    status: 200,
    body: { repaired: [/bea@acme.example/, /invited/] },
  })
})
