import t from 'tap'
import { inviteAdmins } from '../../src/registrations/invite-admins.ts'
import { registerMerchant } from '../../src/registrations/register-merchant.ts'
import { testService } from '../support/app.ts'
import {
  breakTable,
  countLeftovers,
  NOTHING,
  register,
  registrationInput,
  registrationRow,
} from '../support/registrations.ts'
import { makeRemoteIdentity } from '../support/remote-identity.ts'
import type { Faults } from '../support/remote-identity.ts'

type Step = Parameters<typeof breakTable>[1]

/** Every write of a registration, in its order. */
const STEPS: Step[] = [
  { table: 'registration', on: 'insert' },
  { table: 'idp.realms', on: 'insert' },
  { table: 'idp.clients', on: 'insert', when: `new.kind = 'portal'` },
  { table: 'idp.clients', on: 'insert', when: `new.kind = 'service'` },
  { table: 'idp.clients', on: 'insert', when: `new.kind = 'cli'` },
  { table: 'idp.users', on: 'insert' },
  { table: 'merchants', on: 'insert' },
  { table: 'merchant_client', on: 'insert' },
  { table: 'team_members', on: 'insert' },
  { table: 'registration', on: 'update', when: `new.status = 'COMPLETE'` },
  { table: 'operator_actions', on: 'insert' },
]

t.test('any failed step leaves nothing behind, and the same registration succeeds afterwards', async (t) => {
  const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
  const { owner } = service
  let expected = NOTHING
  for (const [index, step] of STEPS.entries()) {
    const name = `${step.table} ${step.on} ${step.when ?? ''}`
    const company = { company_name: `Company ${index}` }
    const slug = `company-${index}`
    const repairTable = await breakTable(owner, step)
    const failed = await register(service, company)
    t.match(failed, { status: 500, body: { code: 'INTERNAL_ERROR' } }, name)
    t.notMatch(failed.text, /boom/, 'the failure is not shown')
    t.same(await countLeftovers(owner), expected, `${name}: nothing is left`)
    const row = await registrationRow(owner, slug)
    // Of the very first step there is no row.
    if (index > 0) {
      t.match(row, { status: 'FAILED', merchant_id: null, failure: /it failed unexpectedly/ }, name)
      t.notMatch(row.failure, /boom/, 'nor kept')
    }
    await repairTable()
    t.match(await register(service, company), { status: 201, body: { realm_slug: slug } }, `${name}: again`)
    t.match(await registrationRow(owner, slug), { status: 'COMPLETE', failure: null }, name)
    expected = await countLeftovers(owner)
    t.match(expected, { 'idp.realms': index + 1, merchants: index + 1, merchant_client: 3 * (index + 1) }, name)
  }
})

t.test('a failure that cannot be recorded is repaired after the lease', async (t) => {
  const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
  const { owner } = service
  const repairTable = await breakTable(owner, { table: 'registration', on: 'update' })
  t.match(await register(service), { status: 500 })
  t.same(await countLeftovers(owner), NOTHING)
  t.match(await registrationRow(owner), { status: 'PROVISIONING' })
  await repairTable()
  t.match(await register(service), { status: 409 }, 'nobody knows yet that it is dead')
  await owner.query('update registration set locked_until = now()')
  t.match(await register(service), { status: 201 })
})

const REMOTE: [name: string, faults: Faults][] = [
  ['it does not answer', { isAway: true }],
  ['it fails before the realm is there', { failCreate: 'before' }],
  ['it fails when the realm is there', { failCreate: 'after' }],
  ['and can not delete it either', { failCreate: 'after', failDelete: true }],
]

t.test('a provider elsewhere that fails leaves no realm behind, and the same registration succeeds', async (t) => {
  for (const [name, faults] of REMOTE) {
    const identity = makeRemoteIdentity()
    const service = await testService(t, { overrides: { identity } })
    Object.assign(identity.faults, faults)
    t.match(await register(service), { status: 503, body: { code: 'IDP_UNAVAILABLE' } }, name)
    t.same(await countLeftovers(service.owner), NOTHING, name)
    const isStuck = faults.isAway === true || faults.failDelete === true
    t.equal(identity.realms.size, faults.failDelete === true ? 1 : 0, name)
    t.match(
      await registrationRow(service.owner),
      { status: isStuck ? 'PROVISIONING' : 'FAILED', failure: /did not answer/, merchant_id: null },
      name,
    )
    if (isStuck) t.match(await register(service), { status: 503 }, 'never its own 409')
    for (const fault of Object.keys(faults)) delete identity.faults[fault as keyof Faults]
    t.match(await register(service), { status: 201 }, name)
    t.equal(identity.realms.size, 1, name)
  }
})

t.test('records that fail take the realm of a provider elsewhere with them', async (t) => {
  const identity = makeRemoteIdentity()
  const { app, owner } = await testService(t, { overrides: { identity } })
  const repairTable = await breakTable(owner, { table: 'operator_actions', on: 'insert' })
  await t.rejects(registerMerchant(app, registrationInput()))
  t.equal(identity.realms.size, 0)
  t.same(await countLeftovers(owner), NOTHING)
  await repairTable()
  await t.resolves(registerMerchant(app, registrationInput()))
})

t.test('a registration that was completed before the failure is kept', async (t) => {
  const identity = makeRemoteIdentity()
  const { app, owner } = await testService(t, { overrides: { identity } })
  identity.faults.failCreate = 'after recording'
  const { merchant_id } = await registerMerchant(app, registrationInput())
  t.equal(identity.realms.size, 1)
  t.match(await registrationRow(owner), { status: 'COMPLETE', merchant_id })
})

t.test(
  'a registration rolled back during a slow provider call is not completed, and its realm is deleted',
  async (t) => {
    const identity = makeRemoteIdentity()
    const { app, owner } = await testService(t, { overrides: { identity } })
    const create = identity.createRealm.bind(identity)
    identity.createRealm = async (spec, record) => {
      // Meanwhile somebody else has given up on it, and its name is anybody's.
      await owner.query(`update registration set status = 'FAILED', failure = 'too slow', locked_until = null`)
      return create(spec, record)
    }
    await t.rejects(registerMerchant(app, registrationInput()), { code: 'SERVICE_UNAVAILABLE' })
    t.equal(identity.realms.size, 0)
    t.same(await countLeftovers(owner), NOTHING)
    identity.createRealm = create
    await t.resolves(registerMerchant(app, registrationInput()))
  },
)

t.test('a mail that can not be queued costs the merchant nothing: the invitation is sent again', async (t) => {
  const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
  const { app, owner } = service
  const repairTable = await breakTable(owner, { table: 'mails', on: 'insert' })
  t.match(await register(service), { status: 201 })
  await inviteAdmins(app)
  t.match(await registrationRow(owner), { invited_at: null, invite_attempts: 1, failure: /unexpectedly/ })
  t.equal((await owner.query('select from idp.action_tokens')).rowCount, 0, 'no link without its mail')
  await repairTable()
  await owner.query('update registration set invite_due_at = now()')
  await inviteAdmins(app)
  t.match(await registrationRow(owner), { invited_at: String, invite_due_at: null, failure: null })
  t.match(await countLeftovers(owner), { mails: 1 })
})
