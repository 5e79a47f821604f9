import { setTimeout as delay } from 'node:timers/promises'
import { decodeJwt } from 'jose'
import t from 'tap'
import { enterCode, refuse, startDevice } from '../../support/device.ts'
import {
  PASSWORD,
  atPortal,
  authorizationUrl,
  exchange,
  identityHarness,
  makeRealm,
  signIn,
  signInForCode,
  throughPages,
} from '../../support/identity.ts'
import type { IdentityHarness, SignInInput, TestRealm } from '../../support/identity.ts'
import { UserAgent, asksForPassword, formsOf } from '../../support/user-agent.ts'

/** What is said of a code that leads nowhere. */
const UNUSABLE = /does not work|Invalid code/

/** How long a device must wait between two questions: Keycloak holds it to the interval that it told. */
function pauseMs({ identity }: IdentityHarness): number {
  return identity.kind === 'keycloak' ? 5_100 : 0
}

/** A code as a person may type it. Keycloak folds its case, and takes no other separator. */
function asTyped({ identity }: IdentityHarness, code: string): string {
  return identity.kind === 'keycloak' ? code.toLowerCase() : code.toLowerCase().replace('-', ' ')
}

/** The command line of the realm's administrator, which listens at a port that it found free. */
function atTerminal(harness: IdentityHarness, realm: TestRealm, port: number): SignInInput {
  const redirectUri = `http://127.0.0.1:${port}/callback`
  return { ...atPortal(harness, realm), clientId: realm.cli, redirectUri }
}

t.test('31: the command line gets its code at a loopback address with any port', async (t) => {
  const harness = await identityHarness(t)
  const realm = await makeRealm(harness)
  for (const port of [1_024 + Math.floor(Math.random() * 60_000), 61_234]) {
    const wish = atTerminal(harness, realm, port)
    const signedIn = await signInForCode(wish)
    t.equal(signedIn.callback.origin, `http://127.0.0.1:${port}`)
    const { status, body } = await exchange(wish, signedIn)
    t.equal(status, 200)
    const claims = decodeJwt(body.access_token)
    t.equal(claims['azp'], realm.cli)
    t.equal(claims.sub, realm.admin.id)
  }
})

t.test('31: and at no other address', async (t) => {
  const harness = await identityHarness(t)
  const realm = await makeRealm(harness)
  for (const redirectUri of [
    'http://127.0.0.1:4000/elsewhere',
    'http://127.0.0.1.evil.example:4000/callback',
    'http://192.168.0.7:4000/callback',
    'https://evil.example/callback',
  ]) {
    const { url } = authorizationUrl({ ...atTerminal(harness, realm, 4_000), redirectUri })
    const page = await new UserAgent(harness.authUrl).open(url)
    t.equal(page.left, undefined, redirectUri)
    t.ok(page.status >= 400)
  }
})

t.test('31: refusing consent sends the command line away without a code', async (t) => {
  const harness = await identityHarness(t)
  const realm = await makeRealm(harness)
  const agent = new UserAgent(harness.authUrl)
  const { url } = authorizationUrl(atTerminal(harness, realm, 4_000))
  const login = await agent.open(url)
  const [email = 'email'] = formsOf(login.text)[0]?.fields.find(([name]) => /^(email|username)$/.test(name)) ?? []
  const consent = await agent.send(login, { [email]: realm.admin.email, password: PASSWORD })
  t.equal(consent.left, undefined, 'it is asked for, though the password was right')
  const refused = await refuse(agent, consent)
  t.equal(refused.left?.searchParams.get('error'), 'access_denied')
  t.equal(refused.left?.searchParams.get('code'), null)
})

t.test('32: a device waits, gets its tokens once after approval, and nothing after that', async (t) => {
  const harness = await identityHarness(t)
  const realm = await makeRealm(harness)
  const { body, poll } = await startDevice(harness, realm)
  t.match(body, { user_code: String, verification_uri: String, verification_uri_complete: String, expires_in: Number })
  const waiting = await poll()
  t.equal(waiting.status, 400)
  t.equal(waiting.body.error, 'authorization_pending')

  const agent = new UserAgent(harness.authUrl)
  const asked = await agent.open(body.verification_uri)
  const confirm = await enterCode(agent, asked, asTyped(harness, body.user_code))
  if (harness.identity.kind !== 'keycloak') t.match(confirm.text, body.user_code, 'it is shown again, to be compared')
  await delay(pauseMs(harness))
  const still = await poll()
  t.match(still.body.error, /^(authorization_pending|slow_down)$/, 'typing the code is not approving it')
  const done = await throughPages(agent, confirm, { email: realm.admin.email, password: PASSWORD })
  t.equal(done.status, 200)

  await delay(pauseMs(harness))
  const tokens = await poll()
  t.equal(tokens.status, 200)
  t.match(decodeJwt(tokens.body.access_token), { azp: realm.cli, sub: realm.admin.id, typ: 'Bearer' })
  const again = await poll()
  t.equal(again.status, 400)
  t.equal(again.body.error, 'invalid_grant')
  const reused = await enterCode(agent, await agent.open(body.verification_uri), body.user_code)
  t.match(reused.text, UNUSABLE)
})

t.test('32: of twenty concurrent polls one gets the tokens', async (t) => {
  const harness = await identityHarness(t)
  const realm = await makeRealm(harness)
  const { body, poll } = await startDevice(harness, realm)
  const agent = new UserAgent(harness.authUrl)
  const confirm = await enterCode(agent, await agent.open(body.verification_uri), body.user_code)
  await throughPages(agent, confirm, { email: realm.admin.email, password: PASSWORD })
  const answers = await Promise.all(Array.from({ length: 20 }, poll))
  t.ok(answers.filter(({ status }) => status === 200).length <= 1)
  t.ok(answers.every(({ status, body: { error } }) => status === 200 || /^(invalid_grant|slow_down)$/.test(error)))
})

t.test('32: a rejected device gets access_denied', async (t) => {
  const harness = await identityHarness(t)
  const realm = await makeRealm(harness)
  const { body, poll } = await startDevice(harness, realm)
  const agent = new UserAgent(harness.authUrl)
  const confirm = await enterCode(agent, await agent.open(body.verification_uri), body.user_code)
  // Keycloak wants to know who refuses.
  const asked = asksForPassword(confirm)
    ? await agent.send(confirm, { username: realm.admin.email, password: PASSWORD })
    : confirm
  await refuse(agent, asked)
  const refused = await poll()
  t.equal(refused.status, 400)
  t.equal(refused.body.error, 'access_denied')
})

t.test('32: unknown codes and codes of another realm are rejected alike', async (t) => {
  const harness = await identityHarness(t)
  const [realm, other] = [await makeRealm(harness), await makeRealm(harness)]
  const { body } = await startDevice(harness, other)
  const agent = new UserAgent(harness.authUrl)
  const asked = await agent.open(`${harness.authUrl}/realms/${realm.slug}/device`)
  const foreign = await enterCode(agent, asked, body.user_code)
  const unknown = await enterCode(agent, await agent.open(asked.url), 'BCDF-GHJK')
  const comparable = (text: string): string => text.replaceAll(/name="xsrf" value="[^"]*"/g, '')
  t.equal(comparable(foreign.text), comparable(unknown.text))
  t.match(foreign.text, UNUSABLE)
})

t.test('32: a confirmation that another site sends approves nothing', async (t) => {
  const harness = await identityHarness(t)
  const realm = await makeRealm(harness)
  const { agent } = await signIn(atPortal(harness, realm))
  const { body, poll } = await startDevice(harness, realm)
  const page = await agent.open(body.verification_uri)
  const forged = { xsrf: 'guessed', code: 'guessed', confirm: 'yes', user_code: body.user_code }
  const next = await agent.send(page, { ...forged, device_user_code: body.user_code })
  // Keycloak's own page for it stands at an address that nobody else knows.
  const text = next.text.replaceAll(/tab_id=[\w-]+/g, 'tab_id=guessed')
  if (formsOf(text).length > 0) await agent.send({ ...next, text }, forged, ['accept', ''])
  t.equal((await poll()).body.error, 'authorization_pending')
})
