import t from 'tap'
import type { App } from '../../src/app.ts'
import { IdentityUnavailableError } from '../../src/identity/provider.ts'
import { findTokenCutoff } from '../../src/identity/token-cutoffs-sql.ts'
import { DomainError } from '../../src/lib/errors.ts'
import { sendInvite } from '../../src/registrations/invite-admins.ts'
import { inviteTeamMember } from '../../src/team/invite-team-member.ts'
import { resetTeamFactor } from '../../src/team/reset-factor.ts'
import { changeTeamRole, listTeam, removeTeamMember } from '../../src/team/members.ts'
import type { TeamMemberRecord } from '../../src/team/record.ts'
import { testService } from '../support/app.ts'
import { fakeProvider } from '../support/fake-provider.ts'
import type { FakeProvider } from '../support/fake-provider.ts'

const service = await testService(t, { env: { SVC_IDENTITY: 'none' } })
const actor = { id: 'ada-id', name: 'ada@acme.example', role: 'ADMIN' }

type Team = {
  app: App
  identity: FakeProvider
  merchantId: string
  realm: string
  invite(email: string, role?: 'ADMIN' | 'DEVELOPER' | 'FINANCE'): Promise<TeamMemberRecord>
}

/** A merchant with a provider that remembers, and can fail. */
const team = async (): Promise<Team> => {
  const { id: merchantId, realm } = await service.merchant()
  const identity = fakeProvider()
  await identity.createRealm({
    slug: realm,
    kind: 'merchant',
    displayName: 'Acme',
    registrationId: merchantId,
    roles: [],
  })
  const app = { ...service.app, identity }
  return {
    app,
    identity,
    merchantId,
    realm,
    invite: (email, role = 'ADMIN') => inviteTeamMember(app, { merchantId, email, role, actor }),
  }
}

const actionsOf = async (merchantId: string): Promise<unknown[]> => {
  const { rows } = await service.owner.query(
    'select actor_name, action, subject_id, before, after from operator_actions where merchant_id = $1 order by ordinal',
    [merchantId],
  )
  return rows
}

t.test('a member is invited, promoted and removed, and all of it is in the audit trail', async (t) => {
  const { app, identity, merchantId, realm, invite } = await team()
  const ada = await invite('ada@acme.example')
  const bob = await invite('bob@acme.example', 'FINANCE')
  t.match(bob, { email: 'bob@acme.example', role: 'FINANCE', is_active: true, invited_by: 'ada@acme.example' })
  t.equal(identity.user(realm, 'bob@acme.example')?.id, bob.id, 'the id is the `sub` of the tokens')
  t.same(identity.user(realm, 'bob@acme.example')?.roles, ['FINANCE'])
  t.match(identity.invitations[1], {
    realm,
    userId: bob.id,
    invitation: { clientId: `${realm}-portal`, deliver: 'mail', merchantId, lifespanSeconds: 43_200 },
  })
  await changeTeamRole(app, { merchantId, id: bob.id, role: 'DEVELOPER', actor })
  t.same(identity.user(realm, 'bob@acme.example')?.roles, ['DEVELOPER'])
  const removed = await removeTeamMember(app, { merchantId, id: bob.id, actor })
  t.match(removed, { id: bob.id, is_active: false })
  t.equal(identity.user(realm, 'bob@acme.example'), undefined)
  t.same(
    (await listTeam(app, merchantId)).map(({ id }) => id),
    [ada.id],
  )
  const by = { actor_name: 'ada@acme.example' }
  t.match(await actionsOf(merchantId), [
    { ...by, action: 'team.invite', subject_id: ada.id, after: { role: 'ADMIN' } },
    { ...by, action: 'team.invite', subject_id: bob.id, after: { email: 'bob@acme.example', role: 'FINANCE' } },
    { ...by, action: 'team.role', subject_id: bob.id, before: { role: 'FINANCE' }, after: { role: 'DEVELOPER' } },
    { ...by, action: 'team.remove', subject_id: bob.id, before: { email: 'bob@acme.example', role: 'DEVELOPER' } },
  ])
})

t.test('a removed member can be invited again, with a new account', async (t) => {
  const { app, identity, merchantId, realm, invite } = await team()
  await invite('ada@acme.example')
  const first = await invite('bob@acme.example')
  await removeTeamMember(app, { merchantId, id: first.id, actor })
  const second = await invite('bob@acme.example', 'FINANCE')
  t.not(second.id, first.id)
  t.match(second, { is_active: true, role: 'FINANCE' })
  t.same(identity.user(realm, 'bob@acme.example')?.roles, ['FINANCE'])
})

t.test('a pending invitation is sent again; an accepted one is rejected', async (t) => {
  const { identity, realm, invite, app, merchantId } = await team()
  await invite('ada@acme.example')
  const first = await invite('bob@acme.example', 'FINANCE')
  const again = await invite('bob@acme.example', 'DEVELOPER')
  t.match(again, { id: first.id, role: 'DEVELOPER' }, 'with the role of now')
  t.same(identity.user(realm, 'bob@acme.example')?.roles, ['DEVELOPER'])
  t.equal(identity.invitations.filter(({ userId }) => userId === first.id).length, 2)
  await identity.setPassword(realm, first.id, 'an invitation taken')
  await t.rejects(invite('bob@acme.example', 'ADMIN'), { code: 'USER_EXISTS' })
  t.same(identity.user(realm, 'bob@acme.example')?.roles, ['DEVELOPER'])
  t.equal((await listTeam(app, merchantId)).length, 2)
})

t.test('the last ADMIN cannot be removed', async (t) => {
  const { app, identity, merchantId, realm, invite } = await team()
  const ada = await invite('ada@acme.example')
  const bob = await invite('bob@acme.example', 'FINANCE')
  const key = { merchantId, id: ada.id, actor }
  await t.rejects(changeTeamRole(app, { ...key, role: 'FINANCE' }), { code: 'LAST_ADMIN' })
  await t.rejects(removeTeamMember(app, key), { code: 'LAST_ADMIN' })
  await t.rejects(invite('ada@acme.example', 'FINANCE'), { code: 'LAST_ADMIN' }, 'nor by a new invitation')
  t.same(identity.user(realm, 'ada@acme.example')?.roles, ['ADMIN'])
  await changeTeamRole(app, { merchantId, id: bob.id, role: 'ADMIN', actor })
  t.match(await changeTeamRole(app, { ...key, role: 'FINANCE' }), { role: 'FINANCE' })
})

t.test('of two ADMINs who leave at the same moment, one stays', async (t) => {
  for (const leave of ['demote', 'remove'] as const) {
    const { app, merchantId, invite } = await team()
    const ada = await invite('ada@acme.example')
    const bob = await invite('bob@acme.example')
    const outcomes = await Promise.allSettled(
      [ada, bob].map(({ id }) =>
        leave === 'remove'
          ? removeTeamMember(app, { merchantId, id, actor })
          : changeTeamRole(app, { merchantId, id, role: 'DEVELOPER', actor }),
      ),
    )
    t.same(outcomes.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'], leave)
    const refused = outcomes.find((each) => each.status === 'rejected')
    t.match(refused, { reason: { code: 'LAST_ADMIN' } })
    t.equal((await listTeam(app, merchantId)).filter(({ role }) => role === 'ADMIN').length, 1)
  }
})

t.test('two invitations of one person at once make one member', async (t) => {
  const { app, identity, merchantId, realm, invite } = await team()
  const invited = await Promise.all([1, 2, 3, 4].map(() => invite('ada@acme.example')))
  t.equal(new Set(invited.map(({ id }) => id)).size, 1)
  t.equal((await listTeam(app, merchantId)).length, 1)
  t.equal(identity.realm(realm).users.size, 1)
})

t.test('after any failed step a role allows no more than the row, and a repetition repairs it', async (t) => {
  const steps = ['createUser', 'setUserRoles', 'inviteUser'] as const
  for (const step of steps) {
    for (const when of ['before', 'after'] as const) {
      const { app, identity, merchantId, realm, invite } = await team()
      await invite('ada@acme.example')
      identity.fail(step, when)
      await t.rejects(invite('bob@acme.example'), IdentityUnavailableError)
      const row = (await listTeam(app, merchantId)).find(({ email }) => email === 'bob@acme.example')
      const roles = identity.user(realm, 'bob@acme.example')?.roles ?? []
      t.ok(roles.length === 0 || roles[0] === row?.role, `${step} ${when}: ${JSON.stringify({ row, roles })}`)
      const bob = await invite('bob@acme.example')
      t.equal(bob.id, identity.user(realm, 'bob@acme.example')?.id)
      t.same(identity.user(realm, 'bob@acme.example')?.roles, ['ADMIN'])
      t.ok(identity.invitations.some(({ userId }) => userId === bob.id))
      t.equal(identity.realm(realm).users.size, 2)
    }
  }
})

t.test('a demotion holds before the provider has it, and is synchronised later', async (t) => {
  const { app, identity, merchantId, realm, invite } = await team()
  await invite('ada@acme.example')
  const bob = await invite('bob@acme.example')
  const demote = () => changeTeamRole(app, { merchantId, id: bob.id, role: 'FINANCE', actor })
  identity.fail('setUserRoles')
  await t.rejects(demote(), IdentityUnavailableError)
  t.match(await listTeam(app, merchantId), [{}, { id: bob.id, role: 'FINANCE' }])
  await demote()
  t.same(identity.user(realm, 'bob@acme.example')?.roles, ['FINANCE'])
  t.equal((await actionsOf(merchantId)).length, 3, 'and recorded once')
})

t.test('a removal holds before the provider has it, and is synchronised later', async (t) => {
  const { app, identity, merchantId, realm, invite } = await team()
  await invite('ada@acme.example')
  const bob = await invite('bob@acme.example')
  const key = { merchantId, id: bob.id, actor }
  identity.fail('deleteUser')
  await t.rejects(removeTeamMember(app, key), IdentityUnavailableError)
  t.equal((await listTeam(app, merchantId)).length, 1)
  t.match(await removeTeamMember(app, key), { is_active: false })
  t.equal(identity.user(realm, 'bob@acme.example'), undefined)
  t.equal((await actionsOf(merchantId)).length, 3, 'and recorded once')
})

t.test('the remains of a failed removal at the provider do not return with a new invitation', async (t) => {
  const { app, identity, merchantId, realm, invite } = await team()
  const ada = await invite('ada@acme.example')
  const bob = await invite('bob@acme.example')
  await identity.setPassword(realm, ada.id, 'an invitation taken')
  await identity.setPassword(realm, bob.id, 'known to the old account')
  identity.fail('deleteUser')
  await t.rejects(removeTeamMember(app, { merchantId, id: bob.id, actor }))
  const again = await invite('bob@acme.example', 'FINANCE')
  t.not(again.id, bob.id)
  t.match(identity.user(realm, 'bob@acme.example'), { password: null, roles: ['FINANCE'] })
})

t.test('of concurrent role changes, one is in both places', async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const { app, identity, merchantId, realm, invite } = await team()
    await invite('ada@acme.example')
    const bob = await invite('bob@acme.example')
    // The provider answers in no order.
    identity.onCall(() => new Promise((resolve) => setTimeout(resolve, Math.random() * 20)))
    const roles = ['FINANCE', 'DEVELOPER', 'ADMIN'] as const
    await Promise.all(roles.map((role) => changeTeamRole(app, { merchantId, id: bob.id, role, actor })))
    const row = (await listTeam(app, merchantId)).find(({ id }) => id === bob.id)
    t.same(identity.user(realm, 'bob@acme.example')?.roles, [row?.role])
  }
})

/** They take their invitations. */
const signUp = async ({ identity, realm }: Team, ...members: TeamMemberRecord[]): Promise<void> => {
  for (const { id } of members) await identity.setPassword(realm, id, 'taken')
}

t.test('an ADMIN who has not signed up does not count as another ADMIN', async (t) => {
  for (const leave of ['demote', 'remove'] as const) {
    const own = await team()
    const { app, merchantId, invite } = own
    const ada = await invite('ada@acme.example')
    const bob = await invite('bob@acme.exmaple')
    const cat = await invite('cat@acme.example')
    const go = ({ id }: TeamMemberRecord) =>
      leave === 'remove'
        ? removeTeamMember(app, { merchantId, id, actor })
        : changeTeamRole(app, { merchantId, id, role: 'DEVELOPER', actor })
    await signUp(own, ada)
    await t.rejects(go(ada), { code: 'LAST_ADMIN', message: /can sign in/, next: /invitation/ }, leave)
    await t.resolves(go(bob), 'whose going takes nothing away')
    await signUp(own, cat)
    await t.resolves(go(ada))
    await t.rejects(go(cat), { code: 'LAST_ADMIN', next: /give another member/ })
  }
})

t.test(
  'an ADMIN without an account does not count; during an outage of the provider a removal goes through',
  async (t) => {
    const own = await team()
    const { app, identity, realm, merchantId, invite } = own
    const ada = await invite('ada@acme.example')
    const bob = await invite('bob@acme.example')
    await signUp(own, ada, bob)
    await identity.deleteUser(realm, bob.id)
    const remove = () => removeTeamMember(app, { merchantId, id: ada.id, actor })
    await t.rejects(remove(), { code: 'LAST_ADMIN' })
    identity.fail('usersWithPassword')
    t.match(await remove(), { is_active: false })
  },
)

t.test('without a provider everyone counts', async (t) => {
  const { id: merchantId } = await service.merchant()
  const invite = (email: string) => inviteTeamMember(service.app, { merchantId, email, role: 'ADMIN', actor })
  const [ada, bob] = [await invite('ada@acme.example'), await invite('bob@acme.example')]
  t.equal((await invite('bob@acme.example')).id, bob.id)
  await t.resolves(removeTeamMember(service.app, { merchantId, id: ada.id, actor }))
  await t.rejects(removeTeamMember(service.app, { merchantId, id: bob.id, actor }), { code: 'LAST_ADMIN' })
})

t.test('an account that the provider has lost is created again by the next invitation', async (t) => {
  const { app, identity, realm, merchantId, invite } = await team()
  await invite('ada@acme.example')
  // As a row is that was made before there was a provider.
  const before = await inviteTeamMember(service.app, { merchantId, email: 'bob@acme.example', role: 'FINANCE', actor })
  await t.resolves(changeTeamRole(app, { merchantId, id: before.id, role: 'DEVELOPER', actor }))
  const after = await Promise.all([1, 2, 3].map(() => invite('bob@acme.example', 'ADMIN')))
  const bob = identity.user(realm, 'bob@acme.example')
  t.match(bob, { roles: ['ADMIN'], password: null })
  t.ok(after.every(({ id }) => id === bob?.id && id !== before.id))
  t.match(await listTeam(app, merchantId), [{ email: 'ada@acme.example' }, { id: bob?.id, role: 'ADMIN' }])
  t.ok(identity.invitations.some(({ userId }) => userId === bob?.id))
  const again = (await actionsOf(merchantId))[3]
  t.match(again, {
    action: 'team.reinvite',
    subject_id: bob?.id,
    before: { id: before.id, role: 'DEVELOPER' },
    after: { id: bob?.id, role: 'ADMIN' },
  })
})

t.test('inviting to a merchant without a realm is rejected, and says how to repair it', async (t) => {
  const { app, identity, realm, merchantId, invite } = await team()
  await identity.deleteRealm(realm, merchantId)
  await t.rejects(invite('ada@acme.example'), { code: 'SERVICE_UNAVAILABLE', next: /svc merchants repair/ })
  t.same(await listTeam(app, merchantId), [])
})

t.test('too many invitations leave the member in the team', async (t) => {
  const { app, identity, merchantId } = await team()
  const limited = {
    ...identity,
    inviteUser: () => Promise.reject(new DomainError('RATE_LIMITED', 'too often', { retryAfterSeconds: 60 })),
  }
  const wish = { merchantId, email: 'ada@acme.example', role: 'ADMIN', actor } as const
  await t.rejects(inviteTeamMember({ ...app, identity: limited }, wish), { code: 'RATE_LIMITED' })
  t.match(await listTeam(app, merchantId), [{ email: 'ada@acme.example' }])
})

t.test(
  'of a provider that sends its mails itself, five an hour go to one address, and 200 are of one realm',
  async (t) => {
    const { app, identity, merchantId, realm } = await team()
    const keycloak = { ...app, identity: { ...identity, kind: 'keycloak' } as const }
    const wish = { merchantId, email: 'ada@acme.example', role: 'ADMIN', actor } as const
    await inviteTeamMember(keycloak, wish)
    identity.fail('inviteUser')
    await t.rejects(inviteTeamMember(keycloak, wish), IdentityUnavailableError, 'what was not sent does not count')
    identity.fail('inviteUser', 'after')
    await t.rejects(inviteTeamMember(keycloak, wish), IdentityUnavailableError, 'what may have been sent counts')
    for (let sent = 2; sent < 4; sent += 1) await inviteTeamMember(keycloak, wish)
    const answers = await Promise.allSettled([inviteTeamMember(keycloak, wish), inviteTeamMember(keycloak, wish)])
    t.same(
      answers.map(({ status }) => status).toSorted(),
      ['fulfilled', 'rejected'],
      'of two for the last one, one is sent',
    )
    t.equal(identity.invitations.length, 5)
    await t.rejects(inviteTeamMember(keycloak, wish), { code: 'RATE_LIMITED', retryAfterSeconds: Number })
    const admin = { slug: realm, merchant_id: merchantId, admin_email: wish.email }
    const userId = identity.user(realm, wish.email)?.id ?? ''
    await t.rejects(sendInvite(keycloak, { ...admin, admin_user_id: userId }), { code: 'RATE_LIMITED' })
    await service.owner.query(
      `insert into mails (id, merchant_id, realm, kind, recipient, recipient_hash, subject, status)
    select gen_random_uuid(), $1, $2, 'invite', 'v1.x', repeat('0', 64), 'You are invited', 'SENT' from generate_series(1, 195)`,
      [merchantId, realm],
    )
    const other = { ...wish, email: 'bob@acme.example' }
    await t.rejects(inviteTeamMember(keycloak, other), { code: 'RATE_LIMITED', message: /200/ })
    t.equal(await identity.findUser(realm, other.email), null, 'no account is left')
    t.equal(identity.invitations.length, 5)
  },
)

t.test("resetting a member's second factor ends its access tokens, whatever the provider ends", async (t) => {
  const { app, identity, merchantId, realm, invite } = await team()
  const { id } = await invite('bob@acme.example')
  const reset = () => resetTeamFactor(app, { merchantId, id, actor })
  const cutoff = () => findTokenCutoff(app.pool, { slug: realm, keyId: 'none', clientId: 'none', subject: id })
  t.equal(await cutoff(), null)
  identity.fail('resetFactor')
  await t.rejects(reset(), IdentityUnavailableError)
  const first = (await cutoff()) ?? Infinity
  t.ok(first < Infinity, 'also if the provider fails')
  await reset()
  t.ok(((await cutoff()) ?? 0) > first)
})

/** More ADMINs of a team, who have never been invited. */
const plantAdmins = (merchantId: string, count: number) =>
  service.owner.query(
    `insert into team_members (merchant_id, id, email, role, invited_by)
    select $1, gen_random_uuid()::text, 'a' || n || '@padding.example', 'ADMIN', 'test' from generate_series(1, $2::int) n`,
    [merchantId, count],
  )

t.test('a team has 100 members at most, for concurrent invitations too', async (t) => {
  const { app, identity, merchantId, realm, invite } = await team()
  const ada = await invite('ada@acme.example')
  await plantAdmins(merchantId, 98)
  const outcomes = await Promise.allSettled(['bob', 'cat', 'dan'].map((name) => invite(`${name}@acme.example`)))
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  const refused = outcomes.filter((each) => each.status === 'rejected').map(({ reason }) => reason.code)
  t.same(refused, ['TEAM_LIMIT_REACHED', 'TEAM_LIMIT_REACHED'])
  t.equal((await listTeam(app, merchantId)).length, 100)
  const mails = identity.invitations.length
  const actions = (await actionsOf(merchantId)).length
  await t.rejects(invite('eve@acme.example'), { code: 'TEAM_LIMIT_REACHED', next: /remove/ })
  t.equal(identity.user(realm, 'eve@acme.example'), undefined, 'no account is left either')
  t.equal(identity.invitations.length, mails)
  t.equal((await actionsOf(merchantId)).length, actions)
  t.match(await invite('ada@acme.example', 'DEVELOPER'), { id: ada.id, role: 'DEVELOPER' }, 'a member is invited again')
  await removeTeamMember(app, { merchantId, id: ada.id, actor })
  t.match(await invite('eve@acme.example'), { email: 'eve@acme.example' }, 'a place is free again')
})

t.test('a full team rejects an invitation over HTTP, in a dry run too', async (t) => {
  const merchant = await service.merchant()
  await plantAdmins(merchant.id, 100)
  for (const query of ['', '?dry_run=true']) {
    const body = { email: 'ada@acme.example', role: 'FINANCE' }
    const answer = await service.call('POST', `/api/v1/portal/team${query}`, { merchant, body })
    t.match(answer, { status: 409, body: { code: 'TEAM_LIMIT_REACHED' } })
  }
})

t.test('a change of an ADMIN asks the provider once, whatever the number of ADMINs', async (t) => {
  const calls = async (admins: number): Promise<string[]> => {
    const { app, identity, merchantId, invite } = await team()
    const ada = await invite('ada@acme.example')
    await plantAdmins(merchantId, admins)
    const methods: string[] = []
    identity.onCall(async (method) => void methods.push(method))
    await changeTeamRole(app, { merchantId, id: ada.id, role: 'FINANCE', actor })
    return methods
  }
  const few = await calls(2)
  t.equal(few.filter((method) => method === 'usersWithPassword').length, 1)
  t.same(await calls(60), few)
})

t.test('an ADMIN manages the team over HTTP', async (t) => {
  const merchant = await service.merchant()
  const call = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path = '', body?: unknown) =>
    service.call(method, `/api/v1/portal/team${path}`, { merchant, body })
  t.match(await call('GET'), { status: 200, body: { data: [], has_more: false, next_cursor: null } })
  const ada = await call('POST', '', { email: ' Ada@ACME.example ', role: 'ADMIN' })
  t.match(ada, { status: 201, body: { email: 'ada@acme.example', role: 'ADMIN', invited_by: merchant.clientId } })
  const bob = await call('POST', '', { email: 'bob@acme.example', role: 'FINANCE' })
  const repeated = await call('POST', '', { email: 'BOB@acme.example', role: 'FINANCE' })
  t.same(repeated.body, bob.body, 'whatever the case of the address')
  t.match(await call('PUT', `/${bob.body.id}`, { role: 'DEVELOPER' }), { status: 200, body: { role: 'DEVELOPER' } })
  t.match(await call('PUT', `/${ada.body.id}`, { role: 'FINANCE' }), { status: 409, body: { code: 'LAST_ADMIN' } })
  t.match(await call('DELETE', `/${ada.body.id}`), { status: 409, body: { code: 'LAST_ADMIN' } })
  t.match(await call('DELETE', `/${bob.body.id}`), { status: 200, body: { id: bob.body.id, is_active: false } })
  t.match(await call('DELETE', `/${bob.body.id}`), { status: 200, body: { is_active: false } }, 'repeatable')
  t.match(await call('PUT', `/${bob.body.id}`, { role: 'ADMIN' }), { status: 404 }, 'who is gone has no role')
  t.match((await call('GET')).body.data, [{ email: 'ada@acme.example' }])
})

t.test("another merchant's member is as unknown as one that does not exist", async (t) => {
  const mine = await service.merchant()
  const theirs = await service.merchant()
  const path = '/api/v1/portal/team'
  const member = await service.call('POST', path, { merchant: theirs, body: { email: 'x@y.example', role: 'ADMIN' } })
  await service.call('POST', path, { merchant: theirs, body: { email: 'z@y.example', role: 'ADMIN' } })
  const answers = await Promise.all(
    [member.body.id, service.app.ids.uuid(), 'nonsense', '%00'].flatMap((id) => [
      service.call('PUT', `${path}/${id}`, { merchant: mine, body: { role: 'FINANCE' } }),
      service.call('DELETE', `${path}/${id}`, { merchant: mine }),
    ]),
  )
  const bodies = answers.map(({ body, text }) => text.replace(body.request_id, ''))
  t.equal(new Set(bodies).size, 1, 'the same bytes')
  t.ok(answers.every(({ status, body }) => status === 404 && body.code === 'TEAM_MEMBER_NOT_FOUND'))
  t.match((await service.call('GET', path, { merchant: theirs })).body.data, [{ role: 'ADMIN' }, { role: 'ADMIN' }])
})

t.test('bad bodies are rejected, and no member is invited', async (t) => {
  const merchant = await service.merchant()
  for (const body of [
    {},
    { email: 'ada@acme.example' },
    { email: 'ada@acme.example', role: 'OWNER' },
    { email: 'ada@acme.example', role: 'admin' },
    { email: 'ada', role: 'ADMIN' },
    { email: 'a@b.example,c@d.example', role: 'ADMIN' },
    { email: 'a@b.example\r\nBcc: c@d.example', role: 'ADMIN' },
    { email: `${'x'.repeat(250)}@b.example`, role: 'ADMIN' },
    { email: 'ada@acme.example', role: 'ADMIN', is_active: true },
    { email: ['ada@acme.example'], role: 'ADMIN' },
  ]) {
    t.match(await service.call('POST', '/api/v1/portal/team', { merchant, body }), {
      status: 400,
      body: { code: 'VALIDATION_FAILED' },
    })
  }
  t.same((await service.call('GET', '/api/v1/portal/team', { merchant })).body.data, [])
})
