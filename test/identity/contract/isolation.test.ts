import t from 'tap'
import { request } from 'undici'
import {
  PORTAL,
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
import { asksForPassword } from '../../support/user-agent.ts'

const harness = await identityHarness(t)
const { authUrl } = harness
const [one, two] = [await makeRealm(harness), await makeRealm(harness)]

t.test('29: a session of one realm is not valid in another, and survives a visit there', async (t) => {
  const { agent } = await signIn(atPortal(harness, one))
  const elsewhere = await agent.open(authorizationUrl(atPortal(harness, two)).url)
  t.ok(asksForPassword(elsewhere))
  await signIn({ ...atPortal(harness, two), agent })
  for (const realm of [one, two]) {
    const { left } = await agent.open(authorizationUrl(atPortal(harness, realm)).url)
    t.ok(left?.searchParams.has('code'), 'both go on beside each other')
  }
})

t.test('30: a token of one realm is rejected in another', async (t) => {
  const { tokens } = await signIn(atPortal(harness, one))
  const { statusCode, body } = await request(`${authUrl}/realms/${two.slug}/protocol/openid-connect/userinfo`, {
    headers: { authorization: `Bearer ${tokens.access_token}` },
  })
  await body.dump()
  t.equal(statusCode, 401)
})

t.test('30: so is a refresh token, with any client, and it stays valid at home', async (t) => {
  const { tokens } = await signIn(atPortal(harness, one))
  const asOther = await refresh(authUrl, two, tokens.refresh_token)
  t.match(asOther, { status: 400, body: { error: 'invalid_grant' } })
  const asOwn = await refresh(authUrl, { slug: two.slug, portal: one.portal }, tokens.refresh_token)
  t.ok([400, 401].includes(asOwn.status))
  t.equal((await refresh(authUrl, one, tokens.refresh_token)).status, 200)
})

t.test('30: so is a code', async (t) => {
  const signedIn = await signInForCode(atPortal(harness, one))
  const { status } = await exchange(atPortal(harness, two), signedIn)
  t.equal(status, 400)
})

t.test('30: so is a client with its secret', async (t) => {
  const { status } = await clientCredentials(authUrl, { slug: two.slug, server: one.server })
  t.equal(status, 401)
})

t.test('30: a password of one realm is not valid in another', async (t) => {
  await t.rejects(signIn({ ...atPortal(harness, two), email: one.admin.email }), /not signed in/)
})

/** Which page may read an answer of the token endpoint. */
async function readable(origin: string, method: 'OPTIONS' | 'POST', clientId = one.portal): Promise<unknown> {
  if (method === 'POST') {
    const form = { grant_type: 'refresh_token', client_id: clientId, refresh_token: 'none' }
    const { headers } = await ask(authUrl, one.slug, 'token', form, { origin })
    return headers['access-control-allow-origin']
  }
  const { headers, body } = await request(`${authUrl}/realms/${one.slug}/protocol/openid-connect/token`, {
    method,
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
  })
  await body.dump()
  return headers['access-control-allow-origin']
}

t.test("37: only the portal's pages can read the token endpoint's responses", async (t) => {
  t.equal(await readable(PORTAL, 'POST'), PORTAL)
  t.equal(await readable(PORTAL, 'OPTIONS'), PORTAL)
  for (const origin of ['https://evil.example', 'http://portal.example', 'null', 'https://portal.example:444']) {
    t.equal(await readable(origin, 'POST'), undefined, origin)
    // Of a client that does not exist there is nothing to read but that; Keycloak lets anyone read it.
    if (harness.identity.kind !== 'keycloak') {
      t.equal(await readable(origin, 'POST', 'no-such-client'), undefined, `${origin} without a client`)
    }
    t.equal(await readable(PORTAL, 'POST', one.cli), undefined, 'nor those of another client')
  }
})

t.test('38: a restart keeps sessions and refresh tokens', async (t) => {
  const { tokens, agent } = await signIn(atPortal(harness, one))
  await harness.restart()
  const { url } = authorizationUrl({ ...atPortal(harness, one), authUrl: harness.otherUrl })
  const { left } = await agent.open(url)
  t.ok(left?.searchParams.has('code'))
  t.equal((await refresh(harness.otherUrl, one, tokens.refresh_token)).status, 200)
})
