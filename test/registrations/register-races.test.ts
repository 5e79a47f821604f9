import t from 'tap'
import { registerMerchant } from '../../src/registrations/register-merchant.ts'
import { askAgain, testService } from '../support/app.ts'
import { countLeftovers, plantHalfMade, register, registrationInput } from '../support/registrations.ts'
import { makeRemoteIdentity } from '../support/remote-identity.ts'

const EMBEDDED = { SVC_IDENTITY: 'embedded' }

t.test('fifty merchants register at once, each with clients of its own', async (t) => {
  const service = await testService(t, { env: EMBEDDED })
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, number) => askAgain(() => register(service, { company_name: `Company ${number}` }))),
  )
  t.same(
    answers.filter(({ status }) => status !== 201).map(({ text }) => text),
    [],
  )
  t.equal(new Set(answers.map(({ body }) => body.client_id)).size, 50)
  t.equal(new Set(answers.map(({ body }) => body.client_secret)).size, 50)
  t.match(await countLeftovers(service.owner), {
    'idp.realms': 50,
    'idp.clients': 150,
    'idp.users': 50,
    merchants: 50,
    merchant_client: 150,
    team_members: 50,
    operator_actions: 50,
  })
})

t.test('of twenty that register one name at once, one succeeds', async (t) => {
  const service = await testService(t, { env: EMBEDDED })
  const answers = await Promise.all(Array.from({ length: 20 }, () => register(service)))
  const statuses = answers.map(({ status }) => status).toSorted()
  t.same(statuses, [201, ...Array.from({ length: 19 }, () => 409)])
  t.ok(answers.filter(({ status }) => status === 409).every(({ body }) => body.code === 'REALM_EXISTS'))
  t.match(await countLeftovers(service.owner), { 'idp.realms': 1, merchants: 1, merchant_client: 3 })
})

t.test('of twenty concurrent registrations of an abandoned name, one succeeds', async (t) => {
  const identity = makeRemoteIdentity()
  const { app, owner } = await testService(t, { overrides: { identity } })
  const id = await plantHalfMade(owner)
  await identity.createRealm({ slug: 'acme-ltd', kind: 'merchant', displayName: '', registrationId: id, roles: [] })
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, () => registerMerchant(app, registrationInput())),
  )
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const outcome of outcomes) if (outcome.status === 'rejected') t.match(outcome.reason, { code: 'REALM_EXISTS' })
  t.equal(identity.realms.size, 1)
  t.match(await countLeftovers(owner), { merchants: 1, merchant_client: 3 })
})
