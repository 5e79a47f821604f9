import t from 'tap'
import { ensurePlatform } from '../../src/staff/ensure-platform.ts'
import { IdentityUnavailableError } from '../../src/identity/provider.ts'
import { listKeysToRevoke } from '../../src/staff/realm-keys-sql.ts'
import { rotateRealmKeys } from '../../src/staff/rotate-realm-keys.ts'
import { testService } from '../support/app.ts'
import { measureKeptPlan } from '../support/kept-plan.ts'

const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
await ensurePlatform(service.app)
const pathOf = (realm: string): string => `/api/v1/admin/realms/${realm}/rotate-keys`

t.test('a realm gets a new key, its earlier tokens are accepted, and the audit trail names the operator', async (t) => {
  const headers = await service.operator('OWNER')
  const [before] = (await service.app.identity.keys('platform'))?.keys ?? []
  const { status, body } = await service.call('POST', pathOf('platform'), {
    headers,
    body: { reason: 'a lost backup' },
  })
  t.match({ status, body }, { status: 200, body: { realm: 'platform' } })
  t.equal(body.key_ids.length, 2)
  t.ok(body.key_ids.includes(before?.kid))
  t.match(await service.call('POST', pathOf('customers'), { headers }), { status: 200 }, 'signed with the key before')
  const { rows } = await service.owner.query(
    `select action, subject_id, reason, before from operator_actions where action = 'realm.rotate_keys' order by ordinal`,
  )
  t.match(rows, [
    { subject_id: 'platform', reason: 'a lost backup', before: { key_ids: [before?.kid] } },
    { subject_id: 'customers', reason: null },
  ])
})

t.test("a merchant's realm too; one that is not there is unknown, and nothing is written down", async (t) => {
  const { realm } = await service.merchant()
  const headers = await service.operator('OWNER')
  t.match(await service.call('POST', pathOf(realm), { headers }), { status: 200, body: { realm } })
  for (const unknown of ['nobody', '%00', 'a%2Fb', 'x'.repeat(300)]) {
    t.match(await service.call('POST', pathOf(unknown), { headers }), {
      status: 404,
      body: { code: 'REALM_NOT_FOUND' },
    })
  }
  const { rows } = await service.owner.query(`select from operator_actions where action = 'realm.rotate_keys'`)
  t.equal(rows.length, 3)
})

const keyIdsOf = async (realm: string): Promise<string[]> =>
  ((await service.app.identity.keys(realm))?.keys ?? []).map(({ kid = '' }) => kid)

const revokedIn = async (realm: string): Promise<string[]> => {
  const { rows } = await service.owner.query<{ holder: string }>(
    `select holder from token_cutoffs where realm_slug = $1 and holder ~ '^key ' order by holder`,
    [realm],
  )
  return rows.map(({ holder }) => holder.slice('key '.length))
}

t.test('a revocation that failed after the new key was made is made up for when it is repeated', async (t) => {
  const { realm } = await service.merchant()
  const stolen = await keyIdsOf(realm)
  const rotation = { headers: await service.operator('OWNER'), body: { revoke_now: true, reason: 'stolen' } }
  await service.owner.query(`alter table token_cutoffs add constraint no_keys check (holder !~ '^key ') not valid`)
  t.equal((await service.call('POST', pathOf(realm), rotation)).status, 500)
  await service.owner.query('alter table token_cutoffs drop constraint no_keys')
  t.same(await revokedIn(realm), [])
  const second = await keyIdsOf(realm)
  t.match(await service.call('POST', pathOf(realm), rotation), { status: 200, body: { key_ids: { length: 1 } } })
  t.same(await revokedIn(realm), [...stolen, ...second].toSorted())
  const { rows } = await service.owner.query(
    `select after from operator_actions where action = 'realm.rotate_keys' and subject_id = $1 order by ordinal`,
    [realm],
  )
  t.same(rows, [{ after: { revoked_key_ids: stolen } }, { after: { revoked_key_ids: [...second, ...stolen] } }])
})

t.test('the keys to revoke are found without reading the whole trail', async (t) => {
  await service.owner.query(`
    insert into operator_actions (id, actor_id, actor_name, actor_role, action, subject_id, after)
    select gen_random_uuid(), 'ada', 'ada', 'OWNER', case when n % 2 = 0 then 'branding.set' else 'realm.rotate_keys' end,
      'realm-' || n % 50, '{}'
    from generate_series(1, 2000) n
  `)
  await service.owner.query('analyze operator_actions')
  const { text, buffers } = await measureKeptPlan(service.owner, (tx) => listKeysToRevoke(tx, 'platform'))
  t.match(text, /Index Scan using operator_actions__revoked_keys/)
  t.notMatch(text, /Filter|Sort/)
  t.ok(buffers < 10, `${buffers} buffers`)
})

t.test('a failed rotation revokes the old keys if it has made a new one, and only then', async (t) => {
  const { identity } = service.app
  const away = new IdentityUnavailableError('the identity provider is away')
  const input = { revokeNow: true, actor: { id: 'ada-id', name: 'ada', role: 'OWNER' } }
  for (const isMade of [true, false]) {
    const { realm } = await service.merchant()
    const stolen = await keyIdsOf(realm)
    const rotateSigningKey = async (slug: string) => {
      if (isMade) await identity.rotateSigningKey?.(slug)
      throw away
    }
    const app = { ...service.app, identity: { ...identity, rotateSigningKey } }
    await t.rejects(rotateRealmKeys(app, { ...input, realm }), away)
    t.same(await revokedIn(realm), isMade ? stolen : [])
  }
})

t.test('OPS and SUPPORT may not, and without a provider there are no keys', async (t) => {
  for (const role of ['OPS', 'SUPPORT'] as const) {
    const headers = await service.operator(role)
    t.match(await service.call('POST', pathOf('platform'), { headers }), { status: 403 })
  }
  const without = await testService(t, { env: { SVC_IDENTITY: 'none' } })
  const headers = await without.operator('OWNER')
  t.match(await without.call('POST', pathOf('platform'), { headers }), { status: 404 })
})
