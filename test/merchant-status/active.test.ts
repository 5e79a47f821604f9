import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { IdentityProvider } from '../../src/identity/provider.ts'
import { registerMerchant } from '../../src/registrations/register-merchant.ts'
import { setMerchantActive } from '../../src/merchant-status/set-merchant-active.ts'
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
  t.match(await setMerchantActive(app, { id: merchant.id, isActive: false, reason: 'closed', actor }), {
    is_active: false,
  })
  t.match(await createPayment(service, merchant), { status: /^(401|403)$/ }, 'with the token it still has')
  // Under another name, for the helper remembers tokens.
  const afresh = () => serviceToken(`${service.url}/.`, client)
  await t.rejects(afresh())
  await setMerchantActive(app, { id: merchant.id, isActive: false, actor })
  await setMerchantActive(app, { id: merchant.id, isActive: true, actor })
  await t.resolves(afresh())
  t.match(await createPayment(service, merchant), { status: 201 })
  const { rows } = await owner.query('select action, reason, before, after from operator_actions order by ordinal')
  t.same(rows, [
    { action: 'merchant.active', reason: 'closed', before: { is_active: true }, after: { is_active: false } },
    { action: 'merchant.active', reason: null, before: { is_active: false }, after: { is_active: true } },
  ])
})

t.test('during an outage the merchant is changed, and a repetition repairs its realm', async (t) => {
  const identity = makeRemoteIdentity()
  const { app, owner } = await testService(t, { overrides: { identity } })
  const { merchant_id: id } = await registerMerchant(app, registrationInput())
  const realm = () => identity.realms.get('acme-ltd')
  identity.faults.isAway = true
  await t.rejects(setMerchantActive(app, { id, isActive: false, actor }), { name: 'IdentityUnavailableError' })
  t.match((await owner.query('select is_active from merchants')).rows, [{ is_active: false }], 'it works no longer')
  identity.faults.isAway = false
  t.match(await setMerchantActive(app, { id, isActive: false, actor }), { is_active: false })
  t.equal(realm()?.isEnabled, false)
  const repairTable = await breakTable(owner, { table: 'operator_actions', on: 'insert' })
  await t.rejects(setMerchantActive(app, { id, isActive: true, actor }))
  t.match((await owner.query('select is_active from merchants')).rows, [{ is_active: false }])
  t.equal(realm()?.isEnabled, false, 'what is not recorded has not happened')
  await repairTable()
  t.match(await setMerchantActive(app, { id, isActive: true, actor }), { is_active: true })
  t.equal(realm()?.isEnabled, true)
  const { rows } = await owner.query(
    `select after from operator_actions where action = 'merchant.active' order by ordinal`,
  )
  t.same(rows, [{ after: { is_active: false } }, { after: { is_active: true } }], 'each change is recorded once')
})

t.test('concurrent changes leave row, realm and trail consistent', async (t) => {
  const identity = makeRemoteIdentity()
  const { app, owner } = await testService(t, { overrides: { identity: slowly(identity) } })
  const { merchant_id: id } = await registerMerchant(app, registrationInput())
  for (let round = 0; round < 4; round += 1) {
    await Promise.all(
      Array.from({ length: 25 }, () => [true, false])
        .flat()
        .map((isActive) => setMerchantActive(app, { id, isActive, actor })),
    )
    const { rows } = await owner.query<{ is_active: boolean }>('select is_active from merchants')
    t.equal(identity.realms.get('acme-ltd')?.isEnabled, rows[0]?.is_active)
    const { rows: trail } = await owner.query<{ before: boolean; after: boolean }>(
      `select (before ->> 'is_active')::bool as before, (after ->> 'is_active')::bool as after
       from operator_actions where action = 'merchant.active' order by ordinal`,
    )
    t.equal(trail.at(-1)?.after, rows[0]?.is_active)
    t.ok(
      trail.every(({ before, after }, index) => before !== after && before === (trail[index - 1]?.after ?? true)),
      'each change begins where the one before has ended',
    )
  }
})

/** A provider whose answers take their time, and come in no order. */
function slowly(identity: IdentityProvider): IdentityProvider {
  const { setRealmEnabled } = identity
  return {
    ...identity,
    setRealmEnabled: async (slug, isEnabled) => {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20))
      await setRealmEnabled(slug, isEnabled)
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20))
    },
  }
}

t.test('an unknown id is not found', async (t) => {
  const { app } = await testService(t)
  for (const id of [randomUUID(), 'nonsense']) {
    await t.rejects(setMerchantActive(app, { id, isActive: false, actor }), { code: 'MERCHANT_NOT_FOUND' })
  }
})
