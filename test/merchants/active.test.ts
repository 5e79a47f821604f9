import { randomUUID } from 'node:crypto'
import t from 'tap'
import { registerMerchant } from '../../src/registrations/register.ts'
import { setActive } from '../../src/merchants/set-active.ts'
import { createPayment, serviceToken, testService } from '../support/app.ts'
import { breakTable, registrationInput } from '../support/registrations.ts'
import { makeRemoteIdentity } from '../support/remote-identity.ts'

const actor = { id: 'sub-1', name: 'olga', role: 'OPS' }

t.test('a disabled merchant gets no tokens and creates no payments; enabled again it does', async (t) => {
  const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
  const { app, owner } = service
  const merchant = await service.merchant()
  const client = { realm: merchant.realm, clientId: merchant.clientId, secret: merchant.clientSecret }
  t.match(await createPayment(service, merchant), { status: 201 })
  t.match(await setActive(app, { id: merchant.id, isActive: false, reason: 'closed', actor }), { is_active: false })
  t.match(await createPayment(service, merchant), { status: /^(401|403)$/ }, 'with the token it still has')
  // Under another name, for the helper remembers tokens.
  const afresh = () => serviceToken(`${service.url}/.`, client)
  await t.rejects(afresh())
  await setActive(app, { id: merchant.id, isActive: false, actor })
  await setActive(app, { id: merchant.id, isActive: true, actor })
  await t.resolves(afresh())
  t.match(await createPayment(service, merchant), { status: 201 })
  const { rows } = await owner.query('select action, reason, before, after from operator_actions order by ordinal')
  t.same(rows, [
    { action: 'merchant.active', reason: 'closed', before: { is_active: true }, after: { is_active: false } },
    { action: 'merchant.active', reason: null, before: { is_active: false }, after: { is_active: true } },
  ])
})

t.test('a provider that does not answer changes nothing, and a repeat heals what a crash left different', async (t) => {
  const identity = makeRemoteIdentity()
  const { app, owner } = await testService(t, { overrides: { identity } })
  const { merchant_id: id } = await registerMerchant(app, registrationInput())
  const realm = () => identity.realms.get('acme-ltd')
  identity.faults.isAway = true
  await t.rejects(setActive(app, { id, isActive: false, actor }), { name: 'IdentityUnavailableError' })
  t.match((await owner.query('select is_active from merchants')).rows, [{ is_active: true }])
  identity.faults.isAway = false
  const mend = await breakTable(owner, { table: 'operator_actions', on: 'insert' })
  await t.rejects(setActive(app, { id, isActive: false, actor }))
  t.match((await owner.query('select is_active from merchants')).rows, [{ is_active: true }])
  t.equal(realm()?.isEnabled, false, 'the realm is the stricter of the two')
  await mend()
  t.match(await setActive(app, { id, isActive: true, actor }), { is_active: true })
  t.equal(realm()?.isEnabled, true)
})

t.test('an id that is nobody is not found', async (t) => {
  const { app } = await testService(t)
  for (const id of [randomUUID(), 'nonsense']) {
    await t.rejects(setActive(app, { id, isActive: false, actor }), { code: 'MERCHANT_NOT_FOUND' })
  }
})
