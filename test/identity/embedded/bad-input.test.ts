import t from 'tap'
import { request } from 'undici'
import { ask, atPortal, authorizationUrl, embeddedHarness, makeRealm, signIn } from '../../support/identity.ts'
import { UserAgent } from '../../support/user-agent.ts'

const harness = await embeddedHarness(t)
const { authUrl, identity } = harness

const NOBODY = ['a\u0000b', '\u0000', 'x'.repeat(20_000), '\ud800', 'ümlaut', "'; drop table idp.clients --"]

t.test('an impossible client id is an unknown client at every endpoint', async (t) => {
  const realm = await makeRealm(harness)
  for (const id of NOBODY) {
    const label = JSON.stringify(id.slice(0, 20))
    const token = await ask(authUrl, realm.slug, 'token', {
      grant_type: 'client_credentials',
      client_id: id,
      client_secret: 'x',
    })
    t.match(token, { status: 401, body: { error: 'invalid_client' } }, label)
    const device = await ask(authUrl, realm.slug, 'auth/device', { client_id: id, scope: 'openid' })
    t.ok([400, 401].includes(device.status), `${label} ${String(device.status)}`)
    const revoked = await ask(authUrl, realm.slug, 'revoke', { client_id: id, token: 'x' })
    t.ok([400, 401].includes(revoked.status), `${label} ${String(revoked.status)}`)
    if (id.length > 10_000) continue
    const { url } = authorizationUrl({ ...atPortal(harness, realm), clientId: id })
    const page = await request(url)
    await page.body.dump()
    t.equal(page.statusCode, 400, label)
  }
})

t.test('nor does an impossible id in an unverified token', async (t) => {
  const realm = await makeRealm(harness)
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  for (const aud of ['a\u0000b', ['a'], 1, null]) {
    const url = new URL(`${authUrl}/realms/${realm.slug}/protocol/openid-connect/logout`)
    url.searchParams.set('id_token_hint', `${part({ alg: 'PS256', typ: 'JWT' })}.${part({ aud })}.x`)
    const { statusCode, body } = await request(url)
    await body.dump()
    t.equal(statusCode, 400, JSON.stringify(aud))
  }
})

t.test('a device form without a session gets a page', async (t) => {
  const realm = await makeRealm(harness)
  const url = `${authUrl}/realms/${realm.slug}/device`
  const { agent } = await signIn(atPortal(harness, realm))
  const session = agent.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  for (const cookie of ['', '_session=gone; _session.sig=x']) {
    for (const form of ['user_code=BCDF-GHJK', 'xsrf=x&user_code=BCDF-GHJK&confirm=yes', '']) {
      const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html', cookie }
      const answer = await request(url, { method: 'POST', headers, body: form })
      t.equal(answer.statusCode, 400, `${cookie} ${form}`)
      t.match(await answer.body.text(), /This sign-in has ended/)
    }
  }
  for (const cookie of ['', session]) {
    const resumed = await request(`${url}/no-such-interaction`, { headers: { accept: 'text/html', cookie } })
    t.equal(resumed.statusCode, 400)
    t.match(await resumed.body.text(), /<title>/)
  }
  const page = await new UserAgent(authUrl).open(url)
  t.equal(page.status, 200, 'the page itself is there for anyone')
})

t.test('a password that violates the rules is not set', async (t) => {
  const realm = await makeRealm(harness)
  for (const password of ['short', 'passwordpassword', realm.admin.email.toUpperCase(), 'x'.repeat(257)]) {
    await t.rejects(identity.setPassword(realm.slug, realm.admin.id, password), { code: 'VALIDATION_FAILED' })
  }
  await signIn(atPortal(harness, realm))
})
