import t from 'tap'
import { request } from 'undici'
import {
  CALLBACK,
  PASSWORD,
  ask,
  atPortal,
  authorizationUrl,
  clientCredentials,
  exchange,
  identityHarness,
  makeRealm,
  refresh,
  signIn,
  signInForCode,
} from '../../support/identity.ts'
import { UserAgent, asksForPassword } from '../../support/user-agent.ts'

const harness = await identityHarness(t)
const { authUrl } = harness
const realm = await makeRealm(harness)
const wish = atPortal(harness, realm)

/** What the authorization endpoint says to a request that is refused, to the client or to the person. */
async function refusal(params: Record<string, string | undefined>) {
  const page = await new UserAgent(authUrl).open(authorizationUrl({ ...wish, params }).url)
  return { error: page.left?.searchParams.get('error') ?? undefined, page }
}

t.test('15: signing in without a challenge is rejected', async (t) => {
  const { error, page } = await refusal({ code_challenge: undefined, code_challenge_method: undefined })
  t.equal(error, 'invalid_request')
  t.notOk(asksForPassword(page))
})

t.test('15: a plain challenge is rejected, named or by default', async (t) => {
  for (const code_challenge_method of ['plain', undefined]) {
    const { error } = await refusal({ code_challenge: 'x'.repeat(43), code_challenge_method })
    t.equal(error, 'invalid_request')
  }
})

t.test('15: a wrong verifier, or none, gets no tokens', async (t) => {
  const signedIn = await signInForCode(wish)
  for (const verifier of ['y'.repeat(43), '']) {
    const { status, body } = await exchange(wish, { ...signedIn, verifier })
    t.equal(status, 400)
    t.match(body.error, /^invalid_(grant|request)$/)
  }
})

t.test('15: a code is bound to its redirect address', async (t) => {
  const signedIn = await signInForCode(wish)
  const { status } = await exchange({ ...wish, redirectUri: `${CALLBACK}/other` }, signedIn)
  t.equal(status, 400)
})

t.test('16: an unregistered address is never redirected to', async (t) => {
  const foreign = [
    'https://evil.example/callback',
    `${CALLBACK}/../evil`,
    `${CALLBACK}?next=https://evil.example`,
    'https://portal.example.evil.example/callback',
    'http://portal.example/callback',
    'https://portal.example@evil.example/callback',
    'https://portal.example:8443/callback',
    'javascript:alert(1)',
    '//evil.example',
  ]
  for (const redirect_uri of foreign) {
    const { page } = await refusal({ redirect_uri })
    t.equal(page.left, undefined, redirect_uri)
    t.equal(page.status, 400, redirect_uri)
  }
})

t.test('16: neither for unknown clients, whose name is escaped', async (t) => {
  const { page } = await refusal({ client_id: '"><script>alert(1)</script>' })
  t.equal(page.left, undefined)
  t.ok(page.status >= 400 && page.status < 500)
  t.notMatch(page.text, '<script>alert')
})

t.test('17: a password gets no tokens outside the page', async (t) => {
  for (const client of [{ client_id: realm.portal }, { client_id: realm.cli }]) {
    const form = { grant_type: 'password', username: realm.admin.email, password: PASSWORD, ...client }
    const { status, body } = await ask(authUrl, realm.slug, 'token', form)
    t.equal(status, 400)
    t.ok(['unsupported_grant_type', 'unauthorized_client'].includes(body.error), body.error)
  }
})

t.test('18: a reused code gets nothing, and its earlier tokens are revoked', async (t) => {
  const signedIn = await signInForCode(wish)
  const first = await exchange(wish, signedIn)
  t.equal(first.status, 200)
  const second = await exchange(wish, signedIn)
  t.equal(second.status, 400)
  t.equal(second.body.error, 'invalid_grant')
  const refreshed = await refresh(authUrl, realm, first.body.refresh_token)
  t.equal(refreshed.status, 400)
  t.equal(refreshed.body.error, 'invalid_grant')
})

t.test('18: of ten concurrent exchanges of one code at most one gets tokens', async (t) => {
  const signedIn = await signInForCode(wish)
  const urls = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? authUrl : harness.otherUrl))
  const answers = await Promise.all(urls.map((url) => exchange({ ...wish, authUrl: url }, signedIn)))
  const got = answers.filter(({ status }) => status === 200)
  t.ok(got.length <= 1)
  for (const { status, body } of answers)
    if (status !== 200) t.match({ status, body }, { status: 400, body: { error: 'invalid_grant' } })
  for (const { body } of got)
    t.equal((await refresh(authUrl, realm, body.refresh_token)).status, 400, 'and they are dead')
})

t.test("18: another client's code gets nothing", async (t) => {
  const signedIn = await signInForCode(wish)
  const { status, body } = await exchange({ ...wish, clientId: realm.cli }, signedIn)
  t.equal(status, 400)
  t.equal(body.error, 'invalid_grant')
})

t.test('19: a public client gets no token for itself', async (t) => {
  for (const clientId of [realm.portal, realm.cli]) {
    const plain = await ask(authUrl, realm.slug, 'token', { grant_type: 'client_credentials', client_id: clientId })
    const guessed = await clientCredentials(authUrl, { slug: realm.slug, server: { clientId, secret: 'secret' } })
    for (const { status, body } of [plain, guessed]) {
      t.ok([400, 401].includes(status))
      t.equal(body.access_token, undefined)
    }
  }
})

t.test('19: a server client cannot sign users in', async (t) => {
  const { page } = await refusal({ client_id: realm.server.clientId })
  t.equal(page.left, undefined)
  t.notOk(asksForPassword(page))
})

t.test('20: self-registration is not possible', async (t) => {
  for (const path of ['protocol/openid-connect/registrations', 'clients-registrations/openid-connect', 'reg']) {
    for (const method of ['GET', 'POST'] as const) {
      const { statusCode, body } = await request(`${authUrl}/realms/${realm.slug}/${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        body: method === 'GET' ? null : '{"redirect_uris":["https://evil.example/callback"]}',
      })
      await body.dump()
      t.ok(statusCode >= 400 && statusCode < 500, `${method} ${path}: ${String(statusCode)}`)
    }
  }
  const page = await new UserAgent(authUrl).open(authorizationUrl(wish).url)
  t.ok(asksForPassword(page))
  t.notMatch(page.text, /regist|sign up|create an account/i)
})

t.test('a disabled user cannot sign in', async (t) => {
  const other = await makeRealm(harness)
  await harness.identity.setUserEnabled(other.slug, other.admin.id, false)
  await t.rejects(signIn(atPortal(harness, other)), /not signed in/)
})
