import { decodeJwt } from 'jose'
import t from 'tap'
import {
  PASSWORD,
  ask,
  atPortal,
  authorizationUrl,
  exchange,
  identityHarness,
  makeRealm,
  signIn,
  signInForCode,
  throughPages,
} from '../../support/identity.ts'
import type { IdentityHarness, SignInWish, TestRealm } from '../../support/identity.ts'
import { UserAgent } from '../../support/user-agent.ts'

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

/** The command line of the realm's administrator, which listens at a port that it found free. */
function atTerminal(harness: IdentityHarness, realm: TestRealm, port: number): SignInWish {
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

t.test('31: and nowhere else', async (t) => {
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

t.test('31: a person who refuses sends the command line away without a code', async (t) => {
  const harness = await identityHarness(t)
  const realm = await makeRealm(harness)
  const agent = new UserAgent(harness.authUrl)
  const { url } = authorizationUrl(atTerminal(harness, realm, 4_000))
  const login = await agent.open(url)
  const consent = await agent.send(login, { email: realm.admin.email, password: PASSWORD })
  t.equal(consent.left, undefined, 'it is asked for, though the password was right')
  const refused = await agent.send(consent, {}, ['action', 'cancel'])
  t.equal(refused.left?.searchParams.get('error'), 'access_denied')
  t.equal(refused.left?.searchParams.get('code'), null)
})

/** What a terminal without a browser shows and keeps. */
async function startDevice({ authUrl }: IdentityHarness, { slug, cli }: TestRealm) {
  const { status, body } = await ask(authUrl, slug, 'auth/device', { client_id: cli, scope: 'openid' })
  if (status !== 200) throw new Error(`no device code: ${status} ${JSON.stringify(body)}`)
  const poll = () =>
    ask(authUrl, slug, 'token', { grant_type: DEVICE_GRANT, client_id: cli, device_code: body.device_code })
  return { body, poll }
}

t.test('32: a device waits, gets its tokens once when it is approved, and nothing after that', async (t) => {
  const harness = await identityHarness(t)
  const realm = await makeRealm(harness)
  const { body, poll } = await startDevice(harness, realm)
  t.match(body, { user_code: String, verification_uri: String, verification_uri_complete: String, expires_in: Number })
  const waiting = await poll()
  t.equal(waiting.status, 400)
  t.equal(waiting.body.error, 'authorization_pending')

  const agent = new UserAgent(harness.authUrl)
  const asked = await agent.open(body.verification_uri)
  const confirm = await agent.send(asked, { user_code: body.user_code.toLowerCase().replace('-', ' ') })
  t.match(confirm.text, body.user_code, 'the code is shown again, to be compared')
  const still = await poll()
  t.equal(still.body.error, 'authorization_pending', 'typing the code is not approving it')
  const done = await throughPages(agent, confirm, { email: realm.admin.email, password: PASSWORD })
  t.equal(done.status, 200)

  const tokens = await poll()
  t.equal(tokens.status, 200)
  t.match(decodeJwt(tokens.body.access_token), { azp: realm.cli, sub: realm.admin.id, typ: 'Bearer' })
  const again = await poll()
  t.equal(again.status, 400)
  t.equal(again.body.error, 'invalid_grant')
  const reused = await agent.send(await agent.open(body.verification_uri), { user_code: body.user_code })
  t.match(reused.text, /does not work/)
})

t.test('32: of twenty polls at once one gets the tokens', async (t) => {
  const harness = await identityHarness(t)
  const realm = await makeRealm(harness)
  const { body, poll } = await startDevice(harness, realm)
  const agent = new UserAgent(harness.authUrl)
  const confirm = await agent.send(await agent.open(body.verification_uri), { user_code: body.user_code })
  await throughPages(agent, confirm, { email: realm.admin.email, password: PASSWORD })
  const answers = await Promise.all(Array.from({ length: 20 }, poll))
  t.ok(answers.filter(({ status }) => status === 200).length <= 1)
  t.ok(answers.every(({ status, body: { error } }) => status === 200 || error === 'invalid_grant'))
})

t.test('32: a device that is refused is told so', async (t) => {
  const harness = await identityHarness(t)
  const realm = await makeRealm(harness)
  const { body, poll } = await startDevice(harness, realm)
  const agent = new UserAgent(harness.authUrl)
  const confirm = await agent.send(await agent.open(body.verification_uri), { user_code: body.user_code })
  await agent.send(confirm, {}, ['abort', 'yes'])
  const refused = await poll()
  t.equal(refused.status, 400)
  t.equal(refused.body.error, 'access_denied')
})

t.test('32: a code that nobody was given, or that another realm gave, is refused alike', async (t) => {
  const harness = await identityHarness(t)
  const [realm, other] = [await makeRealm(harness), await makeRealm(harness)]
  const { body } = await startDevice(harness, other)
  const agent = new UserAgent(harness.authUrl)
  const asked = await agent.open(`${harness.authUrl}/realms/${realm.slug}/device`)
  const foreign = await agent.send(asked, { user_code: body.user_code })
  const unknown = await agent.send(await agent.open(asked.url), { user_code: 'BCDF-GHJK' })
  const comparable = (text: string): string => text.replaceAll(/name="xsrf" value="[^"]*"/g, '')
  t.equal(comparable(foreign.text), comparable(unknown.text))
  t.match(foreign.text, /does not work/)
})

t.test('32: a confirmation that another site sends approves nothing', async (t) => {
  const harness = await identityHarness(t)
  const realm = await makeRealm(harness)
  const { agent } = await signIn(atPortal(harness, realm))
  const { body, poll } = await startDevice(harness, realm)
  const page = await agent.open(body.verification_uri)
  await agent.send(page, { xsrf: 'guessed', user_code: body.user_code, confirm: 'yes' })
  t.equal((await poll()).body.error, 'authorization_pending')
})
