import t from 'tap'
import { request } from 'undici'
import {
  PORTAL,
  PASSWORD,
  atPortal,
  authorizationUrl,
  embeddedHarness,
  exchange,
  makeRealm,
  signIn,
  throughPages,
} from '../../support/identity.ts'
import { UserAgent, asksForPassword } from '../../support/user-agent.ts'

const harness = await embeddedHarness(t)
const { authUrl } = harness

function post(url: URL | string, form: string, headers: Record<string, string> = {}) {
  return request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: form,
  })
}

t.test('an authorization request may be posted as a form', async (t) => {
  const realm = await makeRealm(harness)
  const wish = atPortal(harness, realm)
  const { url, verifier } = authorizationUrl(wish)
  const answer = await post(url.href.split('?')[0] ?? '', url.searchParams.toString())
  await answer.body.dump()
  t.equal(answer.statusCode, 303)
  const agent = new UserAgent(authUrl)
  const page = await agent.open(String(answer.headers['location']))
  t.ok(asksForPassword(page))
  const { left } = await throughPages(agent, page, { email: realm.admin.email, password: PASSWORD })
  const code = left?.searchParams.get('code') ?? ''
  t.equal((await exchange(wish, { code, verifier })).status, 200)
})

t.test('a logout request may be posted as a form, from any site', async (t) => {
  const realm = await makeRealm(harness)
  const { agent, tokens } = await signIn(atPortal(harness, realm))
  const form = new URLSearchParams({ id_token_hint: tokens.id_token, post_logout_redirect_uri: `${PORTAL}/bye` })
  const url = `${authUrl}/realms/${realm.slug}/protocol/openid-connect/logout`
  const answer = await post(url, form.toString(), { origin: PORTAL, 'sec-fetch-site': 'cross-site' })
  await answer.body.dump()
  t.equal(answer.statusCode, 303)
  const page = await agent.open(String(answer.headers['location']))
  const { left } = await agent.send(page)
  t.equal(left?.href, `${PORTAL}/bye`)
})

t.test('a form only leads to our own address', async (t) => {
  const realm = await makeRealm(harness)
  const url = `${authUrl}/realms/${realm.slug}/protocol/openid-connect/auth`
  for (const form of ['', 'client_id=x%0d%0aSet-Cookie:+a=b', 'a=//evil.example', '&&&', '\u0000']) {
    const answer = await post(`${url}?client_id=other`, form, { host: 'evil.example' })
    await answer.body.dump()
    t.equal(answer.statusCode, 303, form)
    const location = String(answer.headers['location'])
    t.ok(location.startsWith(`/realms/${realm.slug}/protocol/openid-connect/auth?`), location)
    t.notMatch(location, /other/)
  }
})

t.test('an invalid or oversized form gets a page', async (t) => {
  const realm = await makeRealm(harness)
  const url = `${authUrl}/realms/${realm.slug}/protocol/openid-connect/auth`
  for (const [form, type] of [
    ['{}', 'application/json'],
    [`state=${'x'.repeat(9_000)}`, 'application/x-www-form-urlencoded'],
    [`state=${'x'.repeat(40_000)}`, 'application/x-www-form-urlencoded'],
  ] as const) {
    const answer = await post(url, form, { 'content-type': type })
    await answer.body.dump()
    t.equal(answer.statusCode, 400, type)
  }
})

t.test('there is no introspection', async (t) => {
  const realm = await makeRealm(harness)
  const answer = await post(`${authUrl}/realms/${realm.slug}/protocol/openid-connect/token/introspect`, 'token=x')
  await answer.body.dump()
  t.equal(answer.statusCode, 404)
})
