import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import t from 'tap'
import { request } from 'undici'
import {
  PASSWORD,
  ask,
  atPortal,
  clientCredentials,
  identityHarness,
  makeRealm,
  realmSpec,
  refresh,
  signIn,
} from '../../support/identity.ts'
import type { TestRealm } from '../../support/identity.ts'

const harness = await identityHarness(t)
const { identity, authUrl } = harness

function rolesOf(token: string): string[] {
  const access: unknown = decodeJwt(token)['realm_access']
  return typeof access === 'object' && access !== null && 'roles' in access ? [access.roles].flat().map(String) : []
}

function verify(token: string, { slug }: TestRealm) {
  const issuer = `${authUrl}/realms/${slug}`
  const keys = createRemoteJWKSet(new URL(`${issuer}/protocol/openid-connect/certs`))
  return jwtVerify(token, keys, { issuer, algorithms: ['PS256'] })
}

async function userinfo(slug: string, token: string) {
  const { statusCode, body } = await request(`${authUrl}/realms/${slug}/protocol/openid-connect/userinfo`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const text = await body.text()
  return { status: statusCode, body: text.startsWith('{') ? JSON.parse(text) : text }
}

t.test('9: code and PKCE give a PS256 access token of 900 seconds that names client, user and role', async (t) => {
  const realm = await makeRealm(harness)
  const { tokens, claims } = await signIn(atPortal(harness, realm))
  t.equal(decodeProtectedHeader(tokens.access_token).alg, 'PS256')
  t.equal((claims.exp ?? 0) - (claims.iat ?? 0), 900)
  // What is left of it when the answer is written: a second may have ended since.
  t.ok([899, 900].includes(Number(tokens.expires_in)), 'expires_in')
  t.equal(claims.iss, `${authUrl}/realms/${realm.slug}`)
  t.equal(claims['azp'], realm.portal)
  t.equal(claims.sub, realm.admin.id)
  t.equal(claims['typ'], 'Bearer')
  t.ok(rolesOf(tokens.access_token).includes('ADMIN'))
  t.equal(tokens.token_type.toLowerCase(), 'bearer')
  await t.resolves(verify(tokens.access_token, realm))
})

t.test('9: the ID token has the same user and client, and is no access token', async (t) => {
  const realm = await makeRealm(harness)
  const { tokens } = await signIn(atPortal(harness, realm))
  const { payload, protectedHeader } = await verify(tokens.id_token, realm)
  t.equal(protectedHeader.alg, 'PS256')
  t.equal(payload.sub, realm.admin.id)
  t.ok([payload.aud].flat().includes(realm.portal))
  t.not(payload['typ'], 'Bearer')
  t.equal((await userinfo(realm.slug, tokens.id_token)).status, 401)
})

t.test("9: userinfo returns the access token's user", async (t) => {
  const realm = await makeRealm(harness)
  const { tokens } = await signIn(atPortal(harness, realm))
  const { status, body } = await userinfo(realm.slug, tokens.access_token)
  t.equal(status, 200)
  t.match(body, { sub: realm.admin.id, email: realm.admin.email })
  t.equal((await userinfo(realm.slug, `${tokens.access_token}x`)).status, 401)
  t.equal((await userinfo(realm.slug, '')).status, 401)
})

t.test(
  '10: a server gets a token by its secret, in the header or in the form, and nothing to refresh it',
  async (t) => {
    const realm = await makeRealm(harness)
    for (const by of ['basic', 'post'] as const) {
      const { status, body } = await clientCredentials(authUrl, realm, by)
      t.equal(status, 200, by)
      const { azp, exp = 0, iat = 0, typ } = decodeJwt<{ azp: string; typ: string }>(body.access_token)
      t.equal(azp, realm.server.clientId)
      t.equal(typ, 'Bearer')
      t.equal(exp - iat, 900)
      t.ok(rolesOf(body.access_token).includes('DEVELOPER'))
      t.equal(body.refresh_token, undefined)
      await t.resolves(verify(body.access_token, realm))
    }
  },
)

t.test('11: a wrong secret is rejected', async (t) => {
  const realm = await makeRealm(harness)
  for (const secret of [
    'wrong',
    realm.server.secret.slice(0, -1),
    `${realm.server.secret}x`,
    realm.server.secret.toUpperCase(),
  ]) {
    for (const by of ['basic', 'post'] as const) {
      const { status, body } = await clientCredentials(authUrl, { ...realm, server: { ...realm.server, secret } }, by)
      t.equal(status, 401)
      t.ok(['invalid_client', 'unauthorized_client'].includes(body.error))
      t.equal(body.access_token, undefined)
    }
  }
})

t.test('12: the key set contains the signing key', async (t) => {
  const realm = await makeRealm(harness)
  const { body } = await clientCredentials(authUrl, realm)
  const certs = await request(`${authUrl}/realms/${realm.slug}/protocol/openid-connect/certs`)
  const { keys }: { keys: { kid: string; alg: string; use: string }[] } = JSON.parse(await certs.body.text())
  const key = keys.find(({ kid }) => kid === decodeProtectedHeader(body.access_token).kid)
  t.match(key, { alg: 'PS256', use: 'sig' })
})

t.test('13: after a rotation old tokens verify, and new ones are signed with the new key', async (t) => {
  if (identity.rotateSigningKey === undefined) return t.pass('the provider rotates its keys itself')
  const realm = await makeRealm(harness)
  const old = (await clientCredentials(authUrl, realm)).body.access_token
  const { tokens } = await signIn(atPortal(harness, realm))
  await identity.rotateSigningKey(realm.slug)
  for (const url of [authUrl, harness.otherUrl]) {
    const fresh = (await clientCredentials(url, realm)).body.access_token
    t.not(decodeProtectedHeader(fresh).kid, decodeProtectedHeader(old).kid, 'in every process')
    await t.resolves(verify(fresh, realm))
  }
  await t.resolves(verify(old, realm))
  t.equal((await refresh(authUrl, realm, tokens.refresh_token)).status, 200, 'nobody is signed out')
})

t.test('13: a revoked key is no longer published', async (t) => {
  if (identity.rotateSigningKey === undefined) return t.pass('the provider rotates its keys itself')
  const realm = await makeRealm(harness)
  const old = (await clientCredentials(authUrl, realm)).body.access_token
  await identity.rotateSigningKey(realm.slug)
  await identity.rotateSigningKey(realm.slug, { revokeNow: true })
  const fresh = (await clientCredentials(authUrl, realm)).body.access_token
  await t.resolves(verify(fresh, realm))
  await t.rejects(verify(old, realm))
  const signing = (await identity.keys(realm.slug))?.keys.filter(({ alg }) => alg === 'PS256')
  t.match(signing, [{ kid: decodeProtectedHeader(fresh).kid }])
})

t.test('14: a replaced secret is rejected, and the new one works', async (t) => {
  const realm = await makeRealm(harness)
  const server = { ...realm.server, secret: 'a new secret of many characters' }
  await identity.rotateServiceSecret(realm.slug, server.clientId, server.secret)
  for (const url of [authUrl, harness.otherUrl]) {
    t.equal((await clientCredentials(url, realm)).status, 401)
    t.equal((await clientCredentials(url, { ...realm, server })).status, 200)
  }
})

t.test('14: a client created later works, and a deleted one does not', async (t) => {
  const realm = await makeRealm(harness)
  const server = { clientId: `${realm.slug}-key-abcdefgh`, secret: 'made later', roles: ['FINANCE'] }
  await identity.createServiceClient(realm.slug, server)
  const { status, body } = await clientCredentials(authUrl, { ...realm, server })
  t.equal(status, 200)
  t.ok(rolesOf(body.access_token).includes('FINANCE'))
  t.notOk(rolesOf(body.access_token).includes('ADMIN'))
  await identity.deleteClient(realm.slug, server.clientId)
  for (const url of [authUrl, harness.otherUrl]) {
    t.equal((await clientCredentials(url, { ...realm, server })).status, 401)
  }
})

t.test('a changed role is in the next token', async (t) => {
  const realm = await makeRealm(harness)
  const { tokens } = await signIn(atPortal(harness, realm))
  await identity.setUserRoles(realm.slug, realm.admin.id, ['FINANCE'])
  const { body } = await refresh(authUrl, realm, tokens.refresh_token)
  t.ok(rolesOf(body.access_token).includes('FINANCE'))
  t.notOk(rolesOf(body.access_token).includes('ADMIN'))
})

t.test("customers' tokens have the requested scopes and their own subject", async (t) => {
  const { slug, kind: _, ...rest } = realmSpec({ roles: [], scopes: ['accounts', 'payments'] })
  const { service: _service, admin: _admin, ...spec } = rest
  await identity.createRealm({ ...spec, slug, kind: 'customers' })
  const email = 'customer@example.com'
  const id = await identity.createUser(slug, { email, roles: [], subject: 'customer-1' })
  await identity.setPassword(slug, id, PASSWORD)
  const wish = { authUrl, realm: slug, clientId: spec.portal?.clientId ?? '', email }
  const { claims } = await signIn({ ...wish, scope: 'openid accounts' })
  t.equal(claims.sub, 'customer-1')
  const scopes = String(claims['scope']).split(' ')
  t.ok(scopes.includes('accounts'))
  t.notOk(scopes.includes('payments'))
})

t.test("a client created later in the customers' realm can request its scopes too", async (t) => {
  const {
    slug,
    kind: _,
    service: _service,
    admin: _admin,
    ...spec
  } = realmSpec({ roles: [], scopes: ['accounts', 'payments'] })
  await identity.createRealm({ ...spec, slug, kind: 'customers' })
  const client = { clientId: `${slug}-key-abcdefgh`, secret: 'made later', roles: [] }
  await identity.createServiceClient(slug, client)
  const scopesOf = async (scope?: string): Promise<string[]> => {
    const form = { grant_type: 'client_credentials', client_id: client.clientId, client_secret: client.secret }
    const { status, body } = await ask(authUrl, slug, 'token', { ...form, ...(scope === undefined ? {} : { scope }) })
    t.equal(status, 200, scope ?? 'without a scope')
    const { azp, scope: given } = decodeJwt<{ azp: string; scope?: string }>(body.access_token)
    t.equal(azp, client.clientId)
    return (given ?? '').split(' ').filter((each) => each === 'accounts' || each === 'payments')
  }
  t.same((await scopesOf('accounts payments')).toSorted(), ['accounts', 'payments'])
  t.same(await scopesOf('payments'), ['payments'])
  t.same(await scopesOf(), [], 'only what was asked for')
})

t.test("a merchant's realm has no customer scopes", async (t) => {
  const realm = await makeRealm(harness)
  const { claims } = await signIn({ ...atPortal(harness, realm), scope: 'openid email' })
  t.notMatch(String(claims['scope']), /accounts|payments/)
})
