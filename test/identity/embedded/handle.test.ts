import { createHash } from 'node:crypto'
import { Writable } from 'node:stream'
import t from 'tap'
import { request } from 'undici'
import { DatabaseSilentError } from '../../../src/db/pool.ts'
import { makeEmbeddedProvider } from '../../../src/identity/embedded/provider.ts'
import { makeLog } from '../../../src/observe/log.ts'
import {
  CALLBACK,
  PASSWORD,
  ask,
  atPortal,
  authorizationUrl,
  clientCredentials,
  embeddedHarness,
  makeRealm,
  refresh,
  signIn,
} from '../../support/identity.ts'
import { startHandler } from '../../support/handler.ts'
import { UserAgent } from '../../support/user-agent.ts'

const harness = await embeddedHarness(t)
const { app, authUrl, identity } = harness

async function read(url: string, headers: Record<string, string> = {}) {
  const { statusCode, headers: answered, body } = await request(url, { headers })
  const text = await body.text()
  return { status: statusCode, headers: answered, text, body: text.startsWith('{') ? JSON.parse(text) : undefined }
}

t.test("a missing realm gets Keycloak's response", async (t) => {
  for (const slug of [
    'nobody',
    'a',
    '%2e%2e',
    '..%2fplatform',
    'UPPER',
    'x'.repeat(500),
    "'; drop table idp.realms --",
  ]) {
    const { status, body } = await read(`${authUrl}/realms/${encodeURI(slug)}/protocol/openid-connect/certs`)
    t.equal(status, 404, slug)
    t.same(body, { error: 'Realm does not exist' })
  }
})

t.test('an unknown path is 404', async (t) => {
  const { slug } = await makeRealm(harness)
  const { status, body } = await read(`${authUrl}/realms/${slug}/protocol/saml`)
  t.equal(status, 404)
  t.same(body, { error: 'not_found' })
  t.match((await read(`${authUrl}/realms/${slug}`)).body, { realm: slug })
})

t.test('URLs are the configured ones, whatever the Host header', async (t) => {
  const { slug } = await makeRealm(harness)
  const headers = {
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'gopher',
    forwarded: 'host=evil.example',
  }
  const { text } = await read(`${authUrl}/realms/${slug}/.well-known/openid-configuration`, headers)
  t.notMatch(text, /evil|gopher/)
  t.match(text, `"${authUrl}/realms/${slug}/protocol/openid-connect/token"`)
  const realm = await makeRealm(harness)
  const page = await request(authorizationUrl(atPortal(harness, realm)).url, { headers: { host: 'evil.example' } })
  await page.body.dump()
  t.notMatch(String(page.headers['location']), 'evil')
})

t.test('behind TLS cookies are secure, and a path of the public address is kept', async (t) => {
  const publicUrl = 'https://pay.example/svc'
  const provider = makeEmbeddedProvider({ ...app, publicUrl })
  const url = await startHandler(t, provider)
  const realm = await makeRealm({ identity: provider })
  const { body } = await read(`${url}/realms/${realm.slug}/.well-known/openid-configuration`)
  t.equal(body.token_endpoint, `${publicUrl}/realms/${realm.slug}/protocol/openid-connect/token`)
  const begin = authorizationUrl({ authUrl: url, realm: realm.slug, clientId: realm.portal })
  const answer = await request(begin.url)
  await answer.body.dump()
  t.match(answer.headers['location'], `/svc/realms/${realm.slug}/interaction/`)
  const cookies = [answer.headers['set-cookie'] ?? []].flat()
  t.ok(cookies.length > 0)
  for (const cookie of cookies) {
    t.match(cookie, /; secure/i)
    t.match(cookie, /; httponly/i)
    t.match(cookie, /; samesite=lax/i)
    t.match(cookie, `path=/svc/realms/${realm.slug}/`)
  }
})

t.test('pages cannot be framed, and types are not sniffed', async (t) => {
  const realm = await makeRealm(harness)
  const page = await new UserAgent(authUrl).open(authorizationUrl(atPortal(harness, realm)).url)
  const error = await new UserAgent(authUrl).open(`${authUrl}/realms/${realm.slug}/protocol/openid-connect/auth`)
  for (const { headers } of [page, error]) {
    t.equal(headers['x-frame-options'], 'DENY')
    t.equal(headers['x-content-type-options'], 'nosniff')
    t.equal(headers['referrer-policy'], 'no-referrer')
  }
})

t.test('offline access needs consent, whether the client requests it or not', async (t) => {
  const realm = await makeRealm(harness)
  const wish = {
    authUrl,
    realm: realm.slug,
    clientId: realm.cli,
    email: realm.admin.email,
    redirectUri: 'http://127.0.0.1:49152/callback',
    scope: 'openid offline_access',
  }
  const { tokens, agent } = await signIn(wish)
  const again = await signIn({ ...wish, agent })
  // A refusal of one sign-in takes no other with it.
  await ask(authUrl, realm.slug, 'revoke', { client_id: realm.cli, token: again.tokens.refresh_token })
  const { status } = await refresh(authUrl, { slug: realm.slug, portal: realm.cli }, tokens.refresh_token)
  t.equal(status, 200)
})

/** The parts of the app with a database that goes away after so many statements. */
function goesAway(after: number) {
  let left = after
  const pool = new Proxy(app.pool, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function' || !['maybeOne', 'query', 'any', 'one', 'transaction'].includes(String(name)))
        return method
      return (...given: unknown[]): unknown => {
        left -= 1
        if (left < 0) return Promise.reject(new DatabaseSilentError('The database has not answered.'))
        return Reflect.apply(method, target, given)
      }
    },
  })
  return { ...app, pool }
}

t.test('the provider reports a lost database at any point, and recovers', async (t) => {
  const realm = await makeRealm(harness)
  for (let after = 0; after < 4; after += 1) {
    const provider = makeEmbeddedProvider(goesAway(after))
    const url = await startHandler(t, provider)
    const { status, headers, body } = await clientCredentials(url, realm)
    if (status === 200) break
    t.equal(status, 503, `after ${String(after)} statements`)
    t.equal(headers['retry-after'], '1')
    t.notMatch(JSON.stringify(body), /database|statement|at /i)
    await t.rejects(provider.health(), { name: 'IdentityUnavailableError' })
  }
  for (let after = 0; after < 6; after += 1) {
    const url = await startHandler(t, makeEmbeddedProvider(goesAway(after)))
    const { statusCode, body } = await request(authorizationUrl({ ...atPortal(harness, realm), authUrl: url }).url)
    t.notMatch(await body.text(), /DatabaseSilent|has not answered/)
    t.ok([303, 503].includes(statusCode), `${String(statusCode)} after ${String(after)} statements`)
  }
  await t.resolves(identity.health())
})

t.test('an internal failure appears only in the log', async (t) => {
  const realm = await makeRealm(harness)
  await harness.service.owner.query(
    `update idp.realms set signing_keys = 'v1.broken', version = nextval('idp.realm_versions') where slug = $1`,
    [realm.slug],
  )
  const lines: string[] = []
  const log = makeLog('info', new Writable({ write: (line, _encoding, done) => done(void lines.push(String(line))) }))
  const url = await startHandler(t, makeEmbeddedProvider({ ...app, log }))
  const { status, body } = await clientCredentials(url, realm)
  t.equal(status, 500)
  t.same(body, { error: 'server_error' })
  t.match(lines.join(''), 'not a sealed value')
})

t.test('the log shows sign-ins, and no secrets', async (t) => {
  const lines: string[] = []
  const log = makeLog('trace', new Writable({ write: (line, _encoding, done) => done(void lines.push(String(line))) }))
  const realm = await makeRealm(harness)
  const provider = makeEmbeddedProvider({ ...app, log, publicUrl: authUrl })
  const url = await startHandler(t, provider)
  const { body } = await clientCredentials(url, realm)
  await clientCredentials(url, { ...realm, server: { ...realm.server, secret: 'a wrong secret' } })
  const { tokens } = await signIn(atPortal(harness, realm))
  const refreshed = await refresh(url, realm, tokens.refresh_token)
  await refresh(url, realm, tokens.refresh_token)
  await ask(url, realm.slug, 'token', { grant_type: 'a\nforged line', client_id: realm.portal })
  const text = lines.join('')
  t.match(text, '"tokens issued"')
  t.match(text, '"token request rejected"')
  t.match(text, realm.server.clientId)
  t.match(text, realm.admin.id)
  const secrets = [
    realm.server.secret,
    'a wrong secret',
    PASSWORD,
    body.access_token,
    tokens.refresh_token,
    refreshed.body.refresh_token,
  ]
  for (const secret of secrets) t.notOk(text.includes(secret))
  t.notMatch(text, 'forged')
})

t.test(
  'pages that the protocol library writes have the headers of ours, and allow their own script alone',
  async (t) => {
    const realm = await makeRealm(harness)
    const { agent } = await signIn(atPortal(harness, realm))
    const { url } = authorizationUrl({ ...atPortal(harness, realm), params: { response_mode: 'form_post' } })
    const logout = `${authUrl}/realms/${realm.slug}/protocol/openid-connect/logout`
    for (const [page, target] of [
      [await agent.open(url), new URL(CALLBACK).origin],
      [await new UserAgent(authUrl).open(logout), authUrl],
    ] as const) {
      t.equal(page.status, 200)
      const script = /<script>([^]*?)<\/script>/.exec(page.text)?.[1] ?? ''
      const hash = createHash('sha256').update(script).digest('base64')
      t.equal(
        page.headers['content-security-policy'],
        `default-src 'none'; script-src 'sha256-${hash}'; form-action 'self' ${target}; base-uri 'none'; frame-ancestors 'none'`,
      )
      t.match(page.headers, {
        'permissions-policy': /camera=\(\)/,
        'cross-origin-opener-policy': 'same-origin',
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      })
    }
  },
)

t.test('the callback gets code, state and issuer', async (t) => {
  const realm = await makeRealm(harness)
  const { agent } = await signIn(atPortal(harness, realm))
  const { url } = authorizationUrl({ ...atPortal(harness, realm), params: { state: 'xyz' } })
  const { left } = await agent.open(url)
  t.equal(`${left?.origin}${left?.pathname}`, CALLBACK)
  t.equal(left?.searchParams.get('state'), 'xyz')
  t.equal(left?.searchParams.get('iss'), `${authUrl}/realms/${realm.slug}`)
})
