import { decodeProtectedHeader } from 'jose'
import t from 'tap'
import { atPortal, clientCredentials, embeddedHarness, makeRealm, refresh, signIn } from '../../support/identity.ts'

const harness = await embeddedHarness(t)
const { identity, authUrl, service } = harness

const maintain = () => identity.maintain?.() ?? Promise.resolve({ more: false })

async function countState(slug: string): Promise<number> {
  const { rows } = await service.owner.query('select count(*)::int4 as count from idp.state where realm = $1', [slug])
  return rows[0].count
}

async function kidsOf(slug: string): Promise<(string | undefined)[]> {
  return ((await identity.keys(slug))?.keys ?? []).map(({ kid }) => kid)
}

t.test('only expired state is deleted', async (t) => {
  const realm = await makeRealm(harness)
  const { tokens } = await signIn(atPortal(harness, realm))
  const before = await countState(realm.slug)
  await maintain()
  t.equal(await countState(realm.slug), before)
  const { rowCount } = await service.owner.query(
    `update idp.state set expires_at = now() - interval '2 minutes' where realm = $1 and model in ('AuthorizationCode', 'Interaction')`,
    [realm.slug],
  )
  t.ok((rowCount ?? 0) > 0)
  t.same(await maintain(), { more: false })
  t.equal(await countState(realm.slug), before - (rowCount ?? 0))
  t.equal((await refresh(authUrl, realm, tokens.refresh_token)).status, 200)
})

t.test('a used refresh token is kept until it expires, to detect its reuse', async (t) => {
  const realm = await makeRealm(harness)
  const { tokens } = await signIn(atPortal(harness, realm))
  const { body } = await refresh(authUrl, realm, tokens.refresh_token)
  await maintain()
  t.equal((await refresh(authUrl, realm, tokens.refresh_token)).status, 400)
  t.equal((await refresh(authUrl, realm, body.refresh_token)).status, 400)
})

t.test('much expired state is swept in rounds, by concurrent processes', async (t) => {
  const { slug } = await makeRealm(harness)
  await service.owner.query(
    `insert into idp.state (realm, model, id_hash, payload, expires_at)
     select $1, 'Session', md5(n::text) || md5(n::text), 'v1.none', now() - interval '1 hour' from generate_series(1, 2500) n`,
    [slug],
  )
  t.same(await maintain(), { more: true })
  t.equal(await countState(slug), 1_500)
  await Promise.all([maintain(), maintain(), maintain()])
  await maintain()
  t.equal(await countState(slug), 0)
})

t.test('a key is replaced after 90 days, and published until its tokens expire', async (t) => {
  const realm = await makeRealm(harness)
  const [old] = await kidsOf(realm.slug)
  await maintain()
  t.same(await kidsOf(realm.slug), [old], 'not before')
  await service.owner.query(`update idp.realms set keys_rotated_at = now() - interval '91 days' where slug = $1`, [
    realm.slug,
  ])
  await Promise.all([maintain(), maintain()])
  const [fresh, ...rest] = await kidsOf(realm.slug)
  t.not(fresh, old)
  t.same(rest, [old])
  const { body } = await clientCredentials(authUrl, realm)
  t.equal(decodeProtectedHeader(body.access_token).kid, fresh)
  await maintain()
  t.equal((await kidsOf(realm.slug)).length, 2)
  const { rows } = await service.owner.query(
    'select extract(epoch from keys_retire_at - now())::int4 as seconds from idp.realms where slug = $1',
    [realm.slug],
  )
  t.ok(rows[0].seconds > 1_400 && rows[0].seconds <= 1_500, 'the life of a token and of a cached key set')
  await service.owner.query('update idp.realms set keys_retire_at = now() where slug = $1', [realm.slug])
  await maintain()
  t.same(await kidsOf(realm.slug), [fresh])
})

t.test('links are deleted a day after they expire', async (t) => {
  const realm = await makeRealm(harness)
  const invitation = { clientId: realm.portal, lifespanSeconds: 60, deliver: 'link', merchantId: null } as const
  t.match(await identity.inviteUser(realm.slug, realm.admin.id, invitation), `${authUrl}/realms/${realm.slug}/`)
  const count = async () =>
    (await service.owner.query('select 1 from idp.action_tokens where realm = $1', [realm.slug])).rowCount
  await maintain()
  t.equal(await count(), 1)
  await service.owner.query(`update idp.action_tokens set expires_at = now() - interval '25 hours'`)
  await maintain()
  t.equal(await count(), 0)
})

t.test('a realm whose keys cannot be opened keeps no other from its new key', async (t) => {
  const [broken, other, third] = [await makeRealm(harness), await makeRealm(harness), await makeRealm(harness)]
  await service.owner.query(
    `update idp.realms set keys_retire_at = now() - interval '3 days', keys_rotated_at = now() - interval '93 days',
       signing_keys = 'v1.aaaaaaaaaaaaaaaa.bm90IHNlYWxlZA' where slug = $1`,
    [broken.slug],
  )
  const [old] = await kidsOf(other.slug)
  await service.owner.query(`update idp.realms set keys_rotated_at = now() - interval '91 days' where slug = $1`, [
    other.slug,
  ])
  await service.owner.query('update idp.realms set keys_retire_at = now() where slug = $1', [third.slug])
  await t.rejects(maintain(), { message: /^1 of a job's items failed/ })
  t.not((await kidsOf(other.slug))[0], old)
  const { rows } = await service.owner.query('select keys_retire_at from idp.realms where slug = $1', [third.slug])
  t.same(rows, [{ keys_retire_at: null }])
})

t.test('nor do more of them than one round takes', async (t) => {
  const realms = await Promise.all(Array.from({ length: 12 }, () => makeRealm(harness)))
  const slugs = realms.map(({ slug }) => slug).toSorted()
  const last = slugs.pop() ?? ''
  await service.owner.query(
    `update idp.realms set keys_rotated_at = now() - interval '93 days', keys_retire_at = now() - interval '3 days',
       signing_keys = 'v1.aaaaaaaaaaaaaaaa.bm90IHNlYWxlZA' where slug = any($1)`,
    [slugs],
  )
  const [old] = await kidsOf(last)
  await service.owner.query(`update idp.realms set keys_rotated_at = now() - interval '91 days' where slug = $1`, [
    last,
  ])
  t.same(await maintain(), { more: true })
  await t.rejects(maintain(), { message: /^1[12] of a job's items failed/ }, 'the realm of the test before as well')
  t.not((await kidsOf(last))[0], old)
})
