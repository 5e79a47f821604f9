import t from 'tap'
import { request } from 'undici'
import type { Test } from 'tap'
import { createActionLink } from '../../../src/identity/embedded/users/action-tokens.ts'
import { makeEmbeddedProvider } from '../../../src/identity/embedded/provider.ts'
import { startHandler } from '../../support/handler.ts'
import {
  PASSWORD,
  PORTAL,
  atPortal,
  authorizationUrl,
  embeddedHarness,
  makeRealm,
  refresh,
  signIn,
} from '../../support/identity.ts'
import type { TestRealm } from '../../support/identity.ts'
import { UserAgent, asksForPassword, formsOf } from '../../support/user-agent.ts'
import type { Page } from '../../support/user-agent.ts'

const harness = await embeddedHarness(t)
const { app, authUrl, identity } = harness
const NEW_PASSWORD = 'quite another secret sentence'

/** What a copied cookie gets without a password: the code, or the protocol's error. */
async function tryCookie(realm: TestRealm, cookie: string, url = authUrl): Promise<string> {
  const { url: address } = authorizationUrl({
    ...atPortal(harness, realm),
    authUrl: url,
    params: { prompt: 'none' },
  })
  const { headers, body } = await request(address, { headers: { cookie } })
  await body.dump()
  const left = new URL(String(headers['location'] ?? 'about:blank'))
  return left.searchParams.has('code') ? 'a code' : (left.searchParams.get('error') ?? 'nothing')
}

/** The session's cookies as a header. */
function cookieOf(agent: UserAgent): string {
  return agent.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
}

/** Another process of the provider, whose next save of anything waits until it is told to go on. */
async function holding(t: Test): Promise<{ url: string; reached: Promise<void>; goOn(): void }> {
  const reached = Promise.withResolvers<void>()
  const told = Promise.withResolvers<void>()
  const pool = new Proxy(app.pool, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name)
      if (name !== 'query' || typeof method !== 'function') return method
      return async (...given: unknown[]): Promise<unknown> => {
        reached.resolve()
        await told.promise
        return Reflect.apply(method, target, given)
      }
    },
  })
  const url = await startHandler(t, makeEmbeddedProvider({ ...app, pool }))
  return { url, reached: reached.promise, goOn: told.resolve }
}

async function resetByLink(realm: TestRealm): Promise<void> {
  const link = await createActionLink(app, app.pool, {
    realm: realm.slug,
    userId: realm.admin.id,
    purpose: 'reset',
    clientId: realm.portal,
    lifespanSeconds: 60,
  })
  const agent = new UserAgent(authUrl)
  const done = await agent.send(await agent.open(link), { password: NEW_PASSWORD, repeated: NEW_PASSWORD })
  if (done.status !== 200) throw new Error(done.text)
}

function logoutUrl(realm: TestRealm, idToken: string): URL {
  const url = new URL(`${authUrl}/realms/${realm.slug}/protocol/openid-connect/logout`)
  url.search = new URLSearchParams({ id_token_hint: idToken, post_logout_redirect_uri: `${PORTAL}/bye` }).toString()
  return url
}

const ENDS: [string, (realm: TestRealm) => Promise<unknown>][] = [
  ['a password set by a link', resetByLink],
  ['a password set by us', (realm) => identity.setPassword(realm.slug, realm.admin.id, NEW_PASSWORD)],
  [
    'an account that is switched off and on',
    async ({ slug, admin }) => {
      await identity.setUserEnabled(slug, admin.id, false)
      await identity.setUserEnabled(slug, admin.id, true)
    },
  ],
]

for (const [what, end] of ENDS) {
  t.test(`${what} ends a session that a request under way saves once more`, async (t) => {
    const realm = await makeRealm(harness)
    const { agent, tokens } = await signIn(atPortal(harness, realm))
    const cookie = cookieOf(agent)
    t.equal(await tryCookie(realm, cookie), 'a code')
    const held = await holding(t)
    const late = tryCookie(realm, cookie, held.url)
    await held.reached
    await end(realm)
    held.goOn()
    await late
    t.equal(await tryCookie(realm, cookie), 'login_required')
    t.equal((await refresh(authUrl, realm, tokens.refresh_token)).status, 400)
    const password = what.startsWith('a password') ? NEW_PASSWORD : PASSWORD
    const again = await signIn({ ...atPortal(harness, realm), password })
    t.equal(await tryCookie(realm, cookieOf(again.agent)), 'a code', 'signing in again works at once')
    t.equal((await refresh(authUrl, realm, again.tokens.refresh_token)).status, 200)
  })
}

t.test('a code issued while the password was replaced is invalid', async (t) => {
  const realm = await makeRealm(harness)
  const { agent } = await signIn(atPortal(harness, realm))
  const held = await holding(t)
  const { url, verifier } = authorizationUrl({ ...atPortal(harness, realm), authUrl: held.url })
  const late = request(url, { headers: { cookie: cookieOf(agent) } })
  await held.reached
  await identity.setPassword(realm.slug, realm.admin.id, NEW_PASSWORD)
  held.goOn()
  const { headers } = await late
  const code = new URL(String(headers['location'])).searchParams.get('code') ?? ''
  const answer = await request(`${authUrl}/realms/${realm.slug}/protocol/openid-connect/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: realm.portal,
      redirect_uri: `${PORTAL}/callback`,
      code,
      code_verifier: verifier,
    }).toString(),
  })
  await answer.body.dump()
  t.equal(answer.statusCode, 400)
})

t.test('a stolen cookie in constant use does not survive a new password', async (t) => {
  const realm = await makeRealm(harness)
  const { agent } = await signIn(atPortal(harness, realm))
  const cookie = cookieOf(agent)
  const fire = firing(() => tryCookie(realm, cookie))
  await resetByLink(realm)
  await fire.stop()
  t.equal(await tryCookie(realm, cookie), 'login_required')
})

/** Sixteen loops, until they are stopped. */
function firing(shoot: () => Promise<unknown>): { stop(): Promise<void> } {
  let isOn = true
  const loops = Array.from({ length: 16 }, async () => {
    while (isOn) await shoot()
  })
  return {
    stop: async () => {
      isOn = false
      await Promise.all(loops)
    },
  }
}

t.test('a signed-out session stays ended, even if a concurrent request saves it', async (t) => {
  const realm = await makeRealm(harness)
  const { agent, tokens } = await signIn(atPortal(harness, realm))
  const cookie = cookieOf(agent)
  const held = await holding(t)
  const late = tryCookie(realm, cookie, held.url)
  await held.reached
  const { left } = await agent.send(await agent.open(logoutUrl(realm, tokens.id_token)))
  t.equal(left?.href, `${PORTAL}/bye`)
  held.goOn()
  await late
  t.equal(await tryCookie(realm, cookie), 'login_required')
  t.equal((await refresh(authUrl, realm, tokens.refresh_token)).status, 400)
})

t.test('signing out works while others keep saving the session, and asking for the same page', async (t) => {
  const realm = await makeRealm(harness)
  const { agent, tokens } = await signIn(atPortal(harness, realm))
  const cookie = cookieOf(agent)
  const other = new URL(`${authUrl}/realms/${realm.slug}/protocol/openid-connect/logout`)
  const fire = firing(async () => {
    await tryCookie(realm, cookie)
    await (await request(other, { headers: { cookie } })).body.dump()
  })
  const page = await agent.open(logoutUrl(realm, tokens.id_token))
  // Long enough for many of them to have replaced what the page was made with.
  for (let round = 0; round < 20; round += 1) await tryCookie(realm, cookie)
  const done = await agent.send(page)
  await fire.stop()
  t.ok(done.left !== undefined || done.status === 200, `${String(done.status)} ${done.text}`)
  t.notOk(asksForPassword(done))
  t.equal(await tryCookie(realm, cookie), 'login_required')
})

t.test("a logout form without this session's secret is rejected", async (t) => {
  const realm = await makeRealm(harness)
  const [mine, theirs] = [await signIn(atPortal(harness, realm)), await signIn(atPortal(harness, realm))]
  const page = await mine.agent.open(logoutUrl(realm, mine.tokens.id_token))
  const secretOf = ({ text }: Page): string => formsOf(text)[0]?.fields.find(([name]) => name === 'xsrf')?.[1] ?? ''
  const theirSecret = secretOf(await theirs.agent.open(logoutUrl(realm, theirs.tokens.id_token)))
  t.ok(theirSecret.length > 20)
  for (const xsrf of ['', 'guessed', theirSecret]) {
    const refused = await mine.agent.send(page, { xsrf })
    t.equal(refused.status, 400)
  }
  t.equal(await tryCookie(realm, cookieOf(mine.agent)), 'a code')
})

t.test('rows of ended sessions are swept like others', async (t) => {
  const realm = await makeRealm(harness)
  const { agent, tokens } = await signIn(atPortal(harness, realm))
  await agent.send(await agent.open(logoutUrl(realm, tokens.id_token)))
  const rows = async () =>
    (
      await harness.service.owner.query('select ended_at from idp.state where realm = $1 and ended_at is not null', [
        realm.slug,
      ])
    ).rowCount
  t.ok(await rows())
  await harness.service.owner.query(`update idp.state set expires_at = now() - interval '1 hour' where realm = $1`, [
    realm.slug,
  ])
  await identity.maintain?.()
  t.equal(await rows(), 0)
})
