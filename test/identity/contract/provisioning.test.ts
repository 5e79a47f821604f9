import t from 'tap'
import { request } from 'undici'
import { IdentityUnavailableError, RealmExistsError } from '../../../src/identity/provider.ts'
import {
  CALLBACK,
  atPortal,
  clientCredentials,
  identityHarness,
  makeRealm,
  realmSpec,
  signIn,
} from '../../support/identity.ts'

const harness = await identityHarness(t)
const { identity, authUrl } = harness

async function read(path: string) {
  const { statusCode, body } = await request(`${authUrl}/realms/${path}`)
  const text = await body.text()
  return { status: statusCode, body: text.startsWith('{') ? JSON.parse(text) : text }
}

const DISCOVERY = '.well-known/openid-configuration'

t.test('1: a new realm has its issuer, its administrator, and the paths of Keycloak with S256 alone', async (t) => {
  const spec = realmSpec()
  const made = await identity.createRealm(spec)
  t.type(made.adminUserId, 'string')
  t.equal(made.adminRoleAssigned, true)
  t.equal(await identity.realmExists(spec.slug), true)
  const { status, body } = await read(`${spec.slug}/${DISCOVERY}`)
  t.equal(status, 200)
  const issuer = `${authUrl}/realms/${spec.slug}`
  const protocol = `${issuer}/protocol/openid-connect`
  t.match(body, {
    issuer,
    authorization_endpoint: `${protocol}/auth`,
    token_endpoint: `${protocol}/token`,
    jwks_uri: `${protocol}/certs`,
    userinfo_endpoint: `${protocol}/userinfo`,
    end_session_endpoint: `${protocol}/logout`,
  })
  t.ok(body.code_challenge_methods_supported.includes('S256'))
  const algorithms: string[] = body.id_token_signing_alg_values_supported
  t.ok(algorithms.includes('PS256'))
  // Keycloak names all that it knows, whichever a realm signs with; contract 9 looks at what it does.
  if (identity.kind !== 'keycloak') t.same(algorithms, ['PS256'])
})

t.test('2: a taken slug is rejected, and the first realm stays complete', async (t) => {
  const first = await makeRealm(harness)
  const keys = await identity.keys(first.slug)
  await t.rejects(identity.createRealm(realmSpec({ slug: first.slug })), RealmExistsError)
  t.same(await identity.keys(first.slug), keys, 'its keys are the same')
  const { claims } = await signIn(atPortal(harness, first))
  t.equal(claims.sub, first.admin.id, 'its administrator signs in')
})

t.test('3: a failure after the realm was created leaves no realm', async (t) => {
  const spec = realmSpec()
  const made = identity.createRealm(spec, () => Promise.reject(new Error('the merchant could not be recorded')))
  await t.rejects(made, { message: 'the merchant could not be recorded' })
  t.equal(await identity.realmExists(spec.slug), false)
  t.equal(await identity.keys(spec.slug), null)
  t.equal((await read(`${spec.slug}/${DISCOVERY}`)).status, 404)
  const again = await makeRealm(harness, { slug: spec.slug })
  await signIn(atPortal(harness, again))
})

t.test('4: only the creating registration deletes a realm', async (t) => {
  const realm = await makeRealm(harness)
  t.equal(await identity.deleteRealm(realm.slug, realmSpec().registrationId), false)
  t.equal(await identity.realmExists(realm.slug), true)
  t.equal(await identity.deleteRealm(realm.slug, realm.registrationId), true)
  t.equal(await identity.deleteRealm(realm.slug, realm.registrationId), false, 'once')
  t.equal(await identity.realmExists(realm.slug), false)
  const { status } = await clientCredentials(authUrl, realm)
  t.equal(status, 404)
})

t.test('4: a realm created again under an old name has nothing of the old one', async (t) => {
  const old = await makeRealm(harness)
  const { tokens, agent } = await signIn(atPortal(harness, old))
  const before = await identity.keys(old.slug)
  await identity.deleteRealm(old.slug, old.registrationId)
  const fresh = await makeRealm(harness, { slug: old.slug })
  const after = await identity.keys(old.slug)
  t.notSame(after?.keys[0]?.kid, before?.keys[0]?.kid)
  const refused = await clientCredentials(authUrl, old)
  t.equal(refused.status, 401, 'the old secret is refused')
  for (const url of [authUrl, harness.otherUrl]) {
    const { status, body } = await clientCredentials(url, fresh)
    t.equal(status, 200)
    t.equal(JSON.parse(Buffer.from(body.access_token.split('.')[0], 'base64url').toString()).kid, after?.keys[0]?.kid)
  }
  const who = await request(`${authUrl}/realms/${old.slug}/protocol/openid-connect/userinfo`, {
    headers: { authorization: `Bearer ${tokens.access_token}` },
  })
  await who.body.dump()
  t.equal(who.statusCode, 401, 'a token of the old one is refused')
  const page = await agent.open(
    `${authUrl}/realms/${old.slug}/protocol/openid-connect/auth?client_id=${fresh.portal}&redirect_uri=${CALLBACK}` +
      '&response_type=code&scope=openid&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256',
  )
  t.equal(page.left, undefined, 'a session of the old one signs nobody in')
})

t.test('5: of two concurrent realms of one name, one is created', async (t) => {
  const specs = [realmSpec(), realmSpec()] as const
  const slug = specs[0].slug
  const outcomes = await Promise.allSettled(
    specs.map((spec) => identity.createRealm({ ...spec, ...realmSpec({ slug }), registrationId: spec.registrationId })),
  )
  t.same(outcomes.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
  const lost = outcomes.find((outcome) => outcome.status === 'rejected')
  t.type(lost?.reason, RealmExistsError)
  const loser = specs[outcomes.findIndex(({ status }) => status === 'rejected')]
  t.equal(
    await identity.deleteRealm(slug, loser?.registrationId ?? ''),
    false,
    "the loser can't take the winner's away",
  )
})

t.test('6: two realms share neither keys nor clients', async (t) => {
  const [one, two] = [await makeRealm(harness), await makeRealm(harness)]
  const kids = await Promise.all(
    [one, two].map(async ({ slug }) => (await identity.keys(slug))?.keys.map((key) => key.kid)),
  )
  t.equal(new Set(kids.flat()).size, kids.flat().length)
  t.not(one.server.clientId, two.server.clientId)
  const { status } = await clientCredentials(authUrl, { slug: two.slug, server: one.server })
  t.equal(status, 401)
})

t.test('6: only public keys are published', async (t) => {
  const { slug } = await makeRealm(harness)
  const { body } = await read(`${slug}/protocol/openid-connect/certs`)
  for (const keys of [body.keys, (await identity.keys(slug))?.keys ?? []]) {
    t.ok(keys.length > 0)
    for (const key of keys) for (const member of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']) t.notOk(member in key, member)
  }
  t.equal(await identity.keys('no-such-realm'), null)
})

t.test('8: without a mail server the realm works, and the invitation can be repeated', async (t) => {
  const withoutMail = await identityHarness(t, { mail: 'away' })
  const realm = await makeRealm(withoutMail)
  const invitation = {
    clientId: realm.portal,
    redirectUri: CALLBACK,
    lifespanSeconds: 3_600,
    deliver: 'mail',
    merchantId: null,
  } as const
  const invite = ({ identity: any }: Pick<typeof harness, 'identity'>): Promise<string | null> =>
    any.inviteUser(realm.slug, realm.admin.id, invitation)
  // Keycloak sends its mails itself, and keeps none that it could not send.
  const isKept = identity.kind !== 'keycloak'
  if (isKept) t.equal(await invite(withoutMail), null)
  else await t.rejects(invite(withoutMail), IdentityUnavailableError)
  await signIn(atPortal(withoutMail, realm))
  const repeated = isKept ? withoutMail : harness
  t.equal(await invite(repeated), null)
  const mails = await repeated.mailsTo(realm.admin.email)
  t.equal(mails.length, isKept ? 2 : 1)
  for (const mail of mails) t.match(mail, `${withoutMail.authUrl}/realms/${realm.slug}/`)
})

t.test('a user is found by its address in any case, which is unique', async (t) => {
  const { slug, admin } = await makeRealm(harness)
  const id = await identity.createUser(slug, { email: 'Dev@Example.com', roles: ['DEVELOPER'] })
  t.equal(await identity.findUser(slug, 'dev@example.COM'), id)
  t.equal(await identity.findUser(slug, 'nobody@example.com'), null)
  await t.rejects(identity.createUser(slug, { email: 'dev@example.com', roles: [] }), { name: 'UserExistsError' })
  await t.rejects(identity.createUser(slug, { email: admin.email.toUpperCase(), roles: [] }), {
    name: 'UserExistsError',
  })
  await identity.deleteUser(slug, id)
  t.equal(await identity.findUser(slug, 'dev@example.com'), null)
  await identity.deleteUser(slug, id)
})

t.test('a taken client id is rejected, and its secret stays', async (t) => {
  const realm = await makeRealm(harness)
  const taken = { ...realm.server, secret: 'another', roles: [] }
  await t.rejects(identity.createServiceClient(realm.slug, taken), { name: 'ClientExistsError' })
  t.equal((await clientCredentials(authUrl, realm)).status, 200)
})
