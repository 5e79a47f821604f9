import { randomUUID } from 'node:crypto'
import t from 'tap'
import { DomainError } from '../../src/lib/errors.ts'
import { inviteAdmins } from '../../src/registrations/invite-admins.ts'
import { listRegistrations } from '../../src/registrations/list-registrations.ts'
import { registerMerchant } from '../../src/registrations/register-merchant.ts'
import { repairRegistration } from '../../src/registrations/repair-registration.ts'
import { sweepRegistrations } from '../../src/registrations/sweep.ts'
import { testService } from '../support/app.ts'
import {
  breakTable,
  countLeftovers,
  NOTHING,
  plantHalfMade,
  registrationInput,
  registrationRow,
} from '../support/registrations.ts'
import { makeRemoteIdentity } from '../support/remote-identity.ts'

const actor = { id: 'sub-1', name: 'olga', role: 'OPS' }

async function remote(t: Parameters<typeof testService>[0]) {
  const identity = makeRemoteIdentity()
  const service = await testService(t, { overrides: { identity } })
  return { ...service, identity }
}

/** A process that died after the provider had made the realm. */
async function killedMidway({ identity, owner }: Awaited<ReturnType<typeof remote>>, leaseEndedAgo = '5 minutes') {
  const id = await plantHalfMade(owner, { leaseEndedAgo })
  const admin = { email: 'ada@acme.example', roles: ['ADMIN'] }
  const realm = {
    slug: 'acme-ltd',
    kind: 'merchant',
    displayName: 'Acme',
    registrationId: id,
    roles: ['ADMIN'],
    admin,
  } as const
  await identity.createRealm(realm)
  return id
}

t.test('the leftovers of a killed process are swept, and the name is free', async (t) => {
  const service = await remote(t)
  await killedMidway(service)
  t.match(await listRegistrations(service.app), { registrations: [{ problems: [/left incomplete/] }] })
  await sweepRegistrations(service.app)
  t.equal(service.identity.realms.size, 0)
  t.match(await registrationRow(service.owner), { status: 'FAILED', failure: /a crashed process/ })
  t.match(await registerMerchant(service.app, registrationInput()), { realm_slug: 'acme-ltd' })
})

t.test('the sweeper skips registrations in progress, and retries failed deletions', async (t) => {
  const service = await remote(t)
  await killedMidway(service, '-10 seconds')
  await sweepRegistrations(service.app)
  t.match(await registrationRow(service.owner), { status: 'PROVISIONING', rolling_back: false })
  await service.owner.query(`update registration set locked_until = now() - interval '5 minutes'`)
  service.identity.faults.failDelete = true
  t.same(await sweepRegistrations(service.app), { more: false })
  t.match(await registrationRow(service.owner), { status: 'PROVISIONING', failure: /could not be deleted/ })
  service.identity.faults.failDelete = false
  await service.owner.query(`update registration set locked_until = now() - interval '5 minutes'`)
  await sweepRegistrations(service.app)
  t.match(await registrationRow(service.owner), { status: 'FAILED' })
  t.equal(service.identity.realms.size, 0)
})

t.test("a merchant's own retry repairs an abandoned registration without the sweeper", async (t) => {
  const service = await remote(t)
  const id = await killedMidway(service, '1 second')
  await registerMerchant(service.app, registrationInput())
  t.not((await registrationRow(service.owner)).id, id)
  t.equal(service.identity.realms.size, 1)
})

t.test('an operator completes an incomplete registration', async (t) => {
  const { app, owner, identity, ...rest } = await remote(t)
  await killedMidway({ app, owner, identity, ...rest })
  const repaired = await repairRegistration(app, { slug: 'acme-ltd', rollback: false, reason: 'they called', actor })
  t.match(repaired, { status: 'COMPLETE', repaired: [/completed the registration/] })
  t.match(await registrationRow(owner), { status: 'COMPLETE', merchant_id: String })
  t.match((await owner.query('select * from operator_actions')).rows, [
    { action: 'merchant.register', actor_name: 'olga', actor_id: 'sub-1', actor_role: 'OPS', reason: 'they called' },
  ])
  t.equal(identity.realms.size, 1)
  await t.rejects(repairRegistration(app, { slug: 'acme-ltd', rollback: true, actor }), {
    code: 'REGISTRATION_COMPLETE',
  })
})

t.test('or for an administrator whose address was mistyped', async (t) => {
  const service = await remote(t)
  const { app, owner, identity } = service
  await killedMidway(service)
  const input = { slug: 'acme-ltd', rollback: false, adminEmail: 'bea@acme.example', actor }
  await t.rejects(repairRegistration(app, { ...input, rollback: true }), { code: 'VALIDATION_FAILED' })
  t.match(await repairRegistration(app, input), { status: 'COMPLETE' })
  t.match(await registrationRow(owner), { admin_email: 'bea@acme.example' })
  t.match(identity.realms.get('acme-ltd')?.users, [{ email: 'bea@acme.example' }])
  t.match((await owner.query('select * from operator_actions order by ordinal')).rows, [
    { action: 'merchant.register' },
    {
      action: 'registration.replace_admin',
      before: { admin_emails: ['ada@acme.example'] },
      after: { admin_emails: ['bea@acme.example'] },
    },
  ])
})

t.test('or rolls it back, which is recorded', async (t) => {
  const { app, owner, identity, ...rest } = await remote(t)
  await killedMidway({ app, owner, identity, ...rest })
  const repaired = await repairRegistration(app, { slug: 'acme-ltd', rollback: true, reason: 'a test', actor })
  t.match(repaired, { status: 'FAILED', repaired: [/rolled back/] })
  t.equal(identity.realms.size, 0)
  t.match(await countLeftovers(owner), { ...NOTHING, operator_actions: 1 })
  t.match((await owner.query('select * from operator_actions')).rows, [
    { action: 'registration.rollback', subject_id: 'acme-ltd', reason: 'a test', before: { status: 'PROVISIONING' } },
  ])
  t.match(await repairRegistration(app, { slug: 'acme-ltd', rollback: true, actor }), {
    status: 'FAILED',
    repaired: [],
  })
  await registerMerchant(app, registrationInput())
})

t.test('a rollback and its record are there together or not at all', async (t) => {
  const service = await remote(t)
  await killedMidway(service)
  const repairTable = await breakTable(service.owner, { table: 'operator_actions', on: 'insert' })
  await t.rejects(repairRegistration(service.app, { slug: 'acme-ltd', rollback: true, actor }))
  t.match(await registrationRow(service.owner), { status: 'PROVISIONING' })
  await repairTable()
  await service.owner.query('update registration set locked_until = now()')
  await repairRegistration(service.app, { slug: 'acme-ltd', rollback: true, actor })
  t.match(await registrationRow(service.owner), { status: 'FAILED' })
})

t.test('a registration in progress or unknown is not repaired', async (t) => {
  const service = await remote(t)
  await plantHalfMade(service.owner, { leaseEndedAgo: '-1 minute' })
  for (const rollback of [true, false]) {
    await t.rejects(repairRegistration(service.app, { slug: 'acme-ltd', rollback, actor }), {
      code: 'REGISTRATION_UNDER_WAY',
    })
  }
  for (const slug of ['nobody', '', '../x', 'a\u0000b']) {
    await t.rejects(repairRegistration(service.app, { slug, rollback: true, actor }), {
      code: 'REGISTRATION_NOT_FOUND',
    })
  }
})

t.test('a realm created after the registration was given up is deleted', async (t) => {
  const service = await remote(t)
  await killedMidway(service)
  await service.owner.query(`update registration set status = 'FAILED', locked_until = null`)
  t.match(await repairRegistration(service.app, { slug: 'acme-ltd', rollback: true, actor }), {
    repaired: [/deleted its leftover realm/],
  })
  t.equal(service.identity.realms.size, 0)
})

t.test('a missing administrator role is assigned', async (t) => {
  const { app, owner, identity } = await remote(t)
  identity.faults.withoutRole = true
  await registerMerchant(app, registrationInput())
  await inviteAdmins(app)
  t.match(await listRegistrations(app), { registrations: [{ problems: [/has no role/] }] })
  t.match(await repairRegistration(app, { slug: 'acme-ltd', rollback: false, actor }), {
    repaired: [/assigned the administrator role/],
  })
  t.same(identity.realms.get('acme-ltd')?.users[0]?.roles, ['ADMIN'])
  t.match(await registrationRow(owner), { warnings: [] })
  t.same(await listRegistrations(app), { registrations: [], hasMore: false })
  t.match((await owner.query('select action from operator_actions order by ordinal')).rows, [
    { action: 'merchant.register' },
    { action: 'registration.assign_role' },
  ])
  t.match(await repairRegistration(app, { slug: 'acme-ltd', rollback: false, actor }), { repaired: [] })
})

t.test('an invitation that fails is tried again, later each time, and by an operator at once', async (t) => {
  const { app, owner, identity } = await remote(t)
  identity.faults.failInvite = true
  await registerMerchant(app, registrationInput())
  const waits: number[] = []
  for (let attempt = 1; attempt <= 9; attempt += 1) {
    await inviteAdmins(app)
    const { rows } = await owner.query(
      `select invite_attempts, round(extract(epoch from invite_due_at - now()))::int as wait from registration`,
    )
    t.equal(rows[0].invite_attempts, attempt)
    waits.push(rows[0].wait)
    await inviteAdmins(app)
    await owner.query('update registration set invite_due_at = now()')
  }
  t.strictSame(
    waits.map((wait) => Math.round(wait / 30)),
    [1, 2, 4, 8, 16, 32, 64, 120, 120],
  )
  t.match(await listRegistrations(app), { registrations: [{ problems: [/could not be invited in 9 attempts/] }] })
  t.notMatch((await registrationRow(owner)).failure, /nobody@nowhere/, "the mail server's words stay in the log")
  identity.faults.failInvite = false
  t.match(await repairRegistration(app, { slug: 'acme-ltd', rollback: false, actor }), { repaired: [/invited/] })
  t.equal(identity.realms.get('acme-ltd')?.users[0]?.invitations, 1)
  await inviteAdmins(app)
  t.equal(identity.realms.get('acme-ltd')?.users[0]?.invitations, 1, 'and not twice')
  t.match(await registrationRow(owner), { invited_at: String, failure: null })
})

t.test('too many invitations postpone the next one, which is no failure', async (t) => {
  const { app, owner, identity } = await remote(t)
  await registerMerchant(app, registrationInput())
  const tooOften = new DomainError('RATE_LIMITED', 'too often', { retryAfterSeconds: 600 })
  const limited = { ...app, identity: { ...identity, inviteUser: () => Promise.reject(tooOften) } }
  await inviteAdmins(limited)
  t.match(await registrationRow(owner), { invited_at: null, invite_attempts: 0, failure: null })
  const { rows } = await owner.query('select extract(epoch from invite_due_at - now())::int as wait from registration')
  t.ok(rows[0].wait > 590 && rows[0].wait <= 600)
  t.same(await listRegistrations(app), { registrations: [], hasMore: false })
  await t.rejects(repairRegistration(limited, { slug: 'acme-ltd', rollback: false, actor }), { code: 'RATE_LIMITED' })
})

t.test('fifteen invitations go out in two runs, each once, with concurrent workers too', async (t) => {
  const { app, identity } = await remote(t)
  for (let number = 0; number < 15; number += 1) {
    await registerMerchant(app, registrationInput({ company_name: `Company ${randomUUID()}` }))
  }
  const runs = await Promise.all([inviteAdmins(app), inviteAdmins(app)])
  t.ok(runs.some(({ more }) => more))
  await inviteAdmins(app)
  t.ok([...identity.realms.values()].every(({ users }) => users[0]?.invitations === 1))
})
