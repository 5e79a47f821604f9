import { randomUUID } from 'node:crypto'
import t from 'tap'
import { ask, atPortal, embeddedHarness, makeRealm, realmSpec, signIn } from '../../support/identity.ts'

const harness = await embeddedHarness(t)
const { identity, authUrl, service } = harness

/** All that the provider keeps, as text. */
async function dump(): Promise<string> {
  const tables = ['realms', 'clients', 'users', 'action_tokens', 'state']
  const texts = await Array.fromAsync(tables, async (table) => {
    const { rows } = await service.owner.query(`select row_to_json(t)::text as text from idp.${table} t`)
    return rows.map(({ text }) => String(text)).join('\n')
  })
  return texts.join('\n')
}

t.test('the database contains no usable secret in plain text', async (t) => {
  const realm = await makeRealm(harness)
  const { tokens, agent } = await signIn(atPortal(harness, realm))
  const device = await ask(authUrl, realm.slug, 'auth/device', { client_id: realm.cli, scope: 'openid offline_access' })
  t.equal(device.status, 200)
  const invitation = { clientId: realm.portal, lifespanSeconds: 60, deliver: 'link', merchantId: null } as const
  const link = await identity.inviteUser(realm.slug, realm.admin.id, invitation)
  const secrets = [
    tokens.refresh_token,
    tokens.access_token,
    device.body.device_code,
    device.body.user_code.replace('-', ''),
    new URL(link ?? '').searchParams.get('token') ?? '',
    realm.server.secret,
    ...agent.cookies.filter(({ name }) => !name.endsWith('.sig')).map(({ value }) => value),
  ]
  const text = await dump()
  t.ok(text.length > 5_000)
  for (const secret of secrets) {
    t.ok(secret.length > 7)
    t.notOk(text.includes(secret), secret.slice(0, 4))
  }
  t.notMatch(text, /"d":|PRIVATE/)
})

t.test('a moved row cannot be opened', async (t) => {
  const [one, two] = [await makeRealm(harness), await makeRealm(harness)]
  await service.owner.query(
    'update idp.realms set signing_keys = (select signing_keys from idp.realms where slug = $1) where slug = $2',
    [one.slug, two.slug],
  )
  await t.rejects(identity.keys(two.slug))
})

t.test('a realm is recorded in the transaction that creates it', async (t) => {
  const spec = realmSpec()
  const seen: unknown[] = []
  await identity.createRealm(spec, async (made, db) => {
    seen.push(made.adminUserId, db === undefined)
    const { rowCount } = await service.owner.query('select 1 from idp.realms where slug = $1', [spec.slug])
    t.equal(rowCount, 0, 'nobody sees it before')
  })
  t.equal(seen[1], false)
  t.equal(await identity.findUser(spec.slug, spec.admin?.email ?? ''), seen[0])
})

t.test('fifty realms are created concurrently', async (t) => {
  const specs = Array.from({ length: 50 }, () => realmSpec())
  const made = await Promise.all(specs.map((spec) => identity.createRealm(spec)))
  t.equal(new Set(made.map(({ adminUserId }) => adminUserId)).size, 50)
})

t.test("an invalid specification is a caller's error, and costs nothing", async (t) => {
  await t.rejects(identity.createRealm(realmSpec({ slug: 'UPPER' })), TypeError)
  await t.rejects(identity.createRealm(realmSpec({ registrationId: 'none' })), TypeError)
  await t.rejects(identity.createRealm(realmSpec({ admin: { email: 'a@b.example', roles: ['OWNER'] } })), TypeError)
  t.equal(await identity.deleteRealm('no-such-realm', 'none'), false)
  await identity.deleteUser('no-such-realm', randomUUID())
  await identity.setUserRoles('no-such-realm', 'no-such-user', [])
  await identity.setUserEnabled('no-such-realm', 'no-such-user', false)
  await identity.setRealmEnabled('no-such-realm', false)
})
