import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import {
  PORTAL,
  ask,
  atPortal,
  authorizationUrl,
  clientCredentials,
  identityHarness,
  makeRealm,
  refresh,
  signIn,
} from '../../support/identity.ts'
import type { TestRealm, TokenAnswer } from '../../support/identity.ts'
import { UserAgent, asksForPassword } from '../../support/user-agent.ts'
import type { Page } from '../../support/user-agent.ts'

const harness = await identityHarness(t)
const { identity, authUrl } = harness

/** Keycloak holds refresh tokens against each other in whole seconds. */
const PAUSE_MS = identity.kind === 'keycloak' ? 2_000 : 0

const REFUSED = { status: 400, body: { error: 'invalid_grant' } }

function refreshed(realm: TestRealm, token: string, url = authUrl): Promise<TokenAnswer> {
  return refresh(url, realm, token)
}

async function signedOut(realm: TestRealm, agent: UserAgent): Promise<boolean> {
  return asksForPassword(await agent.open(authorizationUrl(atPortal(harness, realm)).url))
}

t.test('21: a refresh token is replaced with each use', async (t) => {
  const realm = await makeRealm(harness)
  const { tokens } = await signIn(atPortal(harness, realm))
  let token = tokens.refresh_token
  for (const url of [authUrl, harness.otherUrl, authUrl]) {
    const { status, body } = await refreshed(realm, token, url)
    t.equal(status, 200)
    t.not(body.refresh_token, token)
    token = body.refresh_token
  }
})

t.test('21: a reused one is rejected, and the newest is revoked', async (t) => {
  const realm = await makeRealm(harness)
  const { tokens } = await signIn(atPortal(harness, realm))
  const { body } = await refreshed(realm, tokens.refresh_token)
  await delay(PAUSE_MS)
  t.match(await refreshed(realm, tokens.refresh_token), REFUSED)
  t.match(await refreshed(realm, body.refresh_token), REFUSED)
})

t.test('22: of twenty concurrent uses in two processes one gets tokens, which are revoked', async (t) => {
  const realm = await makeRealm(harness)
  const { tokens } = await signIn(atPortal(harness, realm))
  const urls = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? authUrl : harness.otherUrl))
  const answers = await Promise.all(urls.map((url) => refreshed(realm, tokens.refresh_token, url)))
  const got = answers.filter(({ status }) => status === 200)
  t.ok(identity.kind === 'embedded' ? got.length === 1 : got.length <= 1, String(got.length))
  for (const answer of answers) if (answer.status !== 200) t.match(answer, REFUSED)
  for (const { body } of got) t.match(await refreshed(realm, body.refresh_token), REFUSED)
})

t.test('23: a disabled user cannot refresh, even after being enabled again', async (t) => {
  const realm = await makeRealm(harness)
  const { tokens, agent } = await signIn(atPortal(harness, realm))
  await identity.setUserEnabled(realm.slug, realm.admin.id, false)
  t.match(await refreshed(realm, tokens.refresh_token), REFUSED)
  t.equal(await signedOut(realm, agent), true, 'the session is over')
  await identity.setUserEnabled(realm.slug, realm.admin.id, true)
  t.match(await refreshed(realm, tokens.refresh_token), REFUSED)
  await signIn(atPortal(harness, realm))
})

t.test('23: neither can a removed user, or one with a replaced password', async (t) => {
  const realm = await makeRealm(harness)
  const first = await signIn(atPortal(harness, realm))
  await identity.setPassword(realm.slug, realm.admin.id, 'another password that nobody guesses')
  t.match(await refreshed(realm, first.tokens.refresh_token), REFUSED)
  t.equal(await signedOut(realm, first.agent), true)
  const wish = { ...atPortal(harness, realm), password: 'another password that nobody guesses' }
  const second = await signIn(wish)
  await identity.deleteUser(realm.slug, realm.admin.id)
  t.match(await refreshed(realm, second.tokens.refresh_token), REFUSED)
  t.equal(await signedOut(realm, second.agent), true)
  await t.rejects(signIn(wish), /not signed in/)
})

/** Signs out as a portal does, and sends what the page would send by itself. */
async function signOut(realm: TestRealm, agent: UserAgent, idToken: string): Promise<Page> {
  const url = new URL(`${authUrl}/realms/${realm.slug}/protocol/openid-connect/logout`)
  url.search = new URLSearchParams({
    id_token_hint: idToken,
    post_logout_redirect_uri: `${PORTAL}/bye`,
    state: 'abc',
  }).toString()
  const page = await agent.open(url)
  return page.left === undefined ? agent.send(page) : page
}

t.test('24: signing out ends the session and its refresh tokens, and leads back', async (t) => {
  const realm = await makeRealm(harness)
  const { tokens, agent } = await signIn(atPortal(harness, realm))
  t.equal(await signedOut(realm, agent), false)
  const { left } = await signOut(realm, agent, tokens.id_token)
  t.equal(left?.href, `${PORTAL}/bye?state=abc`)
  t.match(await refreshed(realm, tokens.refresh_token), REFUSED)
  t.equal(await signedOut(realm, agent), true)
})

t.test('24: signing out only leads to registered addresses', async (t) => {
  const realm = await makeRealm(harness)
  const { tokens, agent } = await signIn(atPortal(harness, realm))
  const url = new URL(`${authUrl}/realms/${realm.slug}/protocol/openid-connect/logout`)
  url.search = new URLSearchParams({
    id_token_hint: tokens.id_token,
    post_logout_redirect_uri: 'https://evil.example/bye',
  }).toString()
  const page = await agent.open(url)
  t.equal(page.left, undefined)
  t.equal(page.status, 400)
})

t.test('24: signing out in one browser leaves others signed in', async (t) => {
  const realm = await makeRealm(harness)
  const [here, there] = [await signIn(atPortal(harness, realm)), await signIn(atPortal(harness, realm))]
  await signOut(realm, here.agent, here.tokens.id_token)
  t.equal((await refreshed(realm, there.tokens.refresh_token)).status, 200)
  t.equal(await signedOut(realm, there.agent), false)
})

t.test('24: a revoked refresh token is rejected', async (t) => {
  const realm = await makeRealm(harness)
  const { tokens } = await signIn(atPortal(harness, realm))
  const foreign = await ask(authUrl, realm.slug, 'revoke', { client_id: realm.cli, token: tokens.refresh_token })
  t.ok(foreign.status < 500)
  const alive = await refreshed(realm, tokens.refresh_token)
  t.equal(alive.status, 200, 'another client revokes nothing')
  const revoked = await ask(authUrl, realm.slug, 'revoke', { client_id: realm.portal, token: alive.body.refresh_token })
  t.equal(revoked.status, 200)
  t.match(await refreshed(realm, alive.body.refresh_token), REFUSED)
})

t.test('25: a disabled realm allows no sign-in and issues no tokens until it is enabled', async (t) => {
  const realm = await makeRealm(harness)
  const { tokens } = await signIn(atPortal(harness, realm))
  await identity.setRealmEnabled(realm.slug, false)
  for (const url of [authUrl, harness.otherUrl]) {
    for (const answer of [await refreshed(realm, tokens.refresh_token, url), await clientCredentials(url, realm)]) {
      t.ok(answer.status >= 400 && answer.status < 500, String(answer.status))
      t.equal(answer.body.access_token, undefined)
    }
  }
  const page = await new UserAgent(authUrl).open(authorizationUrl(atPortal(harness, realm)).url)
  t.notOk(asksForPassword(page))
  await identity.setRealmEnabled(realm.slug, true)
  t.equal((await clientCredentials(authUrl, realm)).status, 200)
  await signIn(atPortal(harness, realm))
})
