import { createHash } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { refuseDowngrade } from '../../../cli/client/auth/service-info.ts'
import { runCli } from '../harness.ts'
import type { CliSettings } from '../harness.ts'
import { fakeIdentity, fakeToken, formsOf, writeState } from './fake-identity.ts'
import type { FakeIdentity, FakeIdentityOptions } from './fake-identity.ts'
import { addressIn, startCli, visit } from './running.ts'
import { provesLeaves } from '../ran.ts'

type Setting = { fake: FakeIdentity; dir: string; settings: CliSettings; file: string }

/** A service with a provider, and a user who has never signed in. */
async function setUp(t: Test, wish: FakeIdentityOptions = {}): Promise<Setting> {
  const fake = await fakeIdentity(t, wish)
  const dir = t.testdir({})
  const env = { SVC_CONFIG_DIR: join(dir, 'config'), SVC_API_URL: fake.url, BROWSER: '/bin/true', NO_COLOR: '1' }
  return { fake, dir, settings: { env, cwd: dir, tty: true }, file: join(dir, 'config', 'credentials.json') }
}

const LOGIN = ['login', '--realm', 'acme-ltd']

t.test('a browser on this machine signs in: PKCE S256, a state, a loopback port', async (t) => {
  const { fake, dir, settings, file } = await setUp(t)
  const login = startCli(LOGIN, settings)
  const url = new URL(await addressIn(login))
  t.match(Object.fromEntries(url.searchParams), {
    response_type: 'code',
    client_id: 'acme-ltd-cli',
    scope: 'openid offline_access',
    code_challenge_method: 'S256',
    redirect_uri: /^http:\/\/127\.0\.0\.1:\d+\/callback$/,
    state: /^[\w-]{43}$/,
  })
  const { location } = await visit(url.href)
  t.match(await visit(location), { status: 200, text: /You are signed in\. You can close this page\./ })
  t.match(await login.ended, { code: 0, stdout: /Signed in +ada@acme\.example/ })
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.match(readFileSync(join(dir, 'config', 'config.yaml'), 'utf8'), /^profile: acme-ltd$/m)
  const { code, stdout } = await runCli(['whoami', '--json'], { ...settings, tty: false })
  t.equal(code, 0)
  t.match(JSON.parse(stdout), { kind: 'merchant', realm: 'acme-ltd', client_id: 'acme-ltd-cli', role: 'ADMIN' })
  t.equal(fake.asked().length, 1)
})

t.test(
  '--second-factor asks the provider for a new sign-in with a second factor, here and on another device',
  async (t) => {
    const { fake, settings } = await setUp(t)
    const login = startCli([...LOGIN, '--second-factor'], settings)
    const url = new URL(await addressIn(login))
    t.match(Object.fromEntries(url.searchParams), { acr_values: '2', max_age: '0' })
    const { location } = await visit(url.href)
    await visit(location)
    t.match(await login.ended, { code: 0 })
    t.match(await runCli([...LOGIN, '--second-factor', '--device'], settings), { code: 0 })
    const [form] = formsOf(fake.requests, '/auth/device')
    t.match([form?.get('acr_values'), form?.get('max_age')], ['2', '0'])
  },
)

t.test('the JSON of a login has a stable shape and no secret', async (t) => {
  const { fake, settings } = await setUp(t)
  const token = fake.accessToken()
  const { code, stdout, stderr } = await runCli([...LOGIN, '--with-token', '--json'], {
    ...settings,
    tty: false,
    stdin: `${token}\n`,
  })
  t.equal(code, 0)
  t.equal(stderr, '')
  t.same(JSON.parse(stdout), {
    profile: 'acme-ltd',
    api_url: fake.url,
    realm: 'acme-ltd',
    kind: 'merchant',
    client_id: 'acme-ltd-cli',
    mode: 'sandbox',
    subject: 'u-1',
    name: 'ada@acme.example',
    role: 'ADMIN',
  })
})

t.test(
  'an answer with a wrong state, or of another issuer, is refused, and the right one still signs in',
  async (t) => {
    const { settings } = await setUp(t)
    const login = startCli(LOGIN, settings)
    const { location } = await visit(await addressIn(login))
    const right = new URL(location)
    const wrong = new URL(location)
    wrong.searchParams.set('state', 'x'.repeat(43))
    t.match(await visit(wrong.href), { status: 400, text: /not of the login in progress/ })
    wrong.searchParams.delete('state')
    t.equal((await visit(wrong.href)).status, 400)
    const foreign = new URL(location)
    foreign.searchParams.set('iss', 'https://evil.example/realms/acme-ltd')
    t.equal((await visit(foreign.href)).status, 400)
    t.equal((await visit(`${right.origin}/elsewhere`)).status, 404)
    t.equal((await visit(right.href)).status, 200)
    t.match(await login.ended, { code: 0 })
  },
)

t.test('a user who refuses ends the login with exit code 4, and nothing is kept', async (t) => {
  const back = (query: URLSearchParams) => ({ error: 'access_denied', state: query.get('state') ?? '' })
  const { settings, file } = await setUp(t, { back })
  const login = startCli(LOGIN, settings)
  const { location } = await visit(await addressIn(login))
  t.match(await visit(location), { status: 400, text: /not signed in/ })
  t.match(await login.ended, { code: 4, stderr: /the login was rejected\nTry: svc login to begin again\n/ })
  t.notOk(existsSync(file))
})

t.test('a code that the provider rejects is exit code 4, and the browser shows it', async (t) => {
  const back = (query: URLSearchParams) => ({ code: 'forged', state: query.get('state') ?? '' })
  const { settings, file } = await setUp(t, { back })
  const login = startCli(LOGIN, settings)
  const { location } = await visit(await addressIn(login))
  t.match(await visit(location), { status: 400, text: /not signed in/ })
  t.match(await login.ended, { code: 4, stderr: /about invalid_grant/ })
  t.notOk(existsSync(file))
})

t.test('a login without a return in time is exit code 9', async (t) => {
  const { settings } = await setUp(t)
  t.match(await runCli([...LOGIN, '--timeout', '100ms'], settings), {
    code: 9,
    stderr:
      /the login was not completed in time\nTry: to begin again: svc login\n {5}without a browser here: svc login --device\n/,
  })
})

t.test('without a terminal or a browser a code is confirmed on another device', async (t) => {
  const { fake, settings } = await setUp(t)
  fake.deviceAnswers.push('authorization_pending', 'authorization_pending')
  const { code, stderr } = await runCli(LOGIN, { ...settings, tty: false })
  t.equal(code, 0)
  t.match(stderr, /confirm the code WDJB-MJHT:\n {2}http:\S+user_code=WDJB-MJHT\n/)
  t.equal(fake.asked().length, 3)
  t.match(fake.asked()[2]?.get('device_code'), 'device-secret')
  const verifier = fake.asked()[2]?.get('code_verifier') ?? ''
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  t.equal(
    formsOf(fake.requests, '/auth/device')[0]?.get('code_challenge'),
    challenge,
    'Keycloak wants the proof of PKCE here too',
  )
  const remote = { ...settings.env, BROWSER: '', SSH_CONNECTION: '10.0.0.1', DISPLAY: ':0' }
  t.match(await runCli(LOGIN, { ...settings, env: remote }), { stderr: /confirm the code/ })
})

t.test('a refused device is exit code 4, an expired one 9, another error ends it at once', async (t) => {
  const ends = { access_denied: 4, expired_token: 9, invalid_grant: 4 }
  for (const [error, exit] of Object.entries(ends)) {
    const { fake, settings, file } = await setUp(t)
    fake.deviceAnswers.push('authorization_pending', error, 'never reached')
    t.match(await runCli([...LOGIN, '--device'], settings), { code: exit }, error)
    t.equal(fake.asked().length, 2, error)
    t.notOk(existsSync(file), error)
  }
})

t.test('a program begins a login, and completes it after its user has confirmed the code', async (t) => {
  const { fake, settings, file } = await setUp(t)
  const programs = { ...settings, tty: false }
  const begun = await runCli([...LOGIN, '--non-interactive'], programs)
  t.match(begun, { code: 0, stderr: '' })
  t.same(JSON.parse(begun.stdout), {
    verification_uri: `${fake.url}/realms/acme-ltd/device`,
    verification_uri_complete: `${fake.url}/realms/acme-ltd/device?user_code=WDJB-MJHT`,
    user_code: 'WDJB-MJHT',
    expires_in: 600,
    next_step: 'svc login --complete --profile acme-ltd',
  })
  t.notMatch(begun.stdout, /device-secret/)
  t.match(await runCli(['whoami'], programs), { code: 4 })
  fake.deviceAnswers.push('authorization_pending')
  const completed = await runCli(['login', '--complete', '--profile', 'acme-ltd', '--json'], programs)
  t.match(completed, { code: 0, stderr: '' })
  t.match(JSON.parse(completed.stdout), { profile: 'acme-ltd', role: 'ADMIN' })
  t.notMatch(readFileSync(file, 'utf8'), /device-secret/)
  t.match(await runCli(['login', '--complete'], programs), { code: 4, stderr: /no login waits/ })
})

t.test('a token of standard input is kept until it expires, and never renewed', async (t) => {
  const { fake, settings } = await setUp(t)
  const token = fake.accessToken()
  const words = [...LOGIN, '--with-token']
  t.match(await runCli(words, { ...settings, stdin: token }), { code: 0 })
  t.same((await runCli(['profile', 'token'], settings)).stdout, `${token}\n`)
  t.equal(fake.asked().length, 0)
  fake.expired.add(token)
  t.match(await runCli(['whoami', '--json'], settings), { code: 4, stderr: /SESSION_EXPIRED.*svc login/ })
  const old = fake.accessToken('acme-ltd', { exp: Math.floor(Date.now() / 1_000) - 10 })
  await runCli(words, { ...settings, stdin: old })
  t.match(await runCli(['payments', 'list'], settings), { code: 4, stderr: /your session in realm acme-ltd has ended/ })
})

t.test('what is no token of the realm is refused before it is sent anywhere', async (t) => {
  const { fake, settings, file } = await setUp(t)
  const words = [...LOGIN, '--with-token']
  const foreign = fakeToken({ iss: 'https://evil.example/realms/acme-ltd' })
  for (const [stdin, exit] of [
    ['', 2],
    ['nonsense', 2],
    [foreign, 4],
    [fake.accessToken('other-ltd'), 4],
  ] as const) {
    const { code, stderr } = await runCli(words, { ...settings, stdin })
    t.equal(code, exit)
    if (stdin.length > 20) t.notOk(stderr.includes(stdin))
  }
  t.same(fake.bearers(), [])
  t.notOk(existsSync(file))
})

t.test('a token that the service refuses is not kept', async (t) => {
  const { fake, settings, file } = await setUp(t)
  const token = fake.accessToken()
  fake.expired.add(token)
  t.match(await runCli([...LOGIN, '--with-token'], { ...settings, stdin: token }), { code: 4 })
  t.notOk(existsSync(file))
})

t.test('where there is nothing to sign in to, it says so', async (t) => {
  const none = await setUp(t, { authUrl: null })
  t.match(await runCli(LOGIN, none.settings), { code: 7, stderr: /without an identity provider/ })
  const { settings } = await setUp(t)
  t.match(await runCli(['login', '--realm', 'nowhere', '--device'], settings), {
    code: 6,
    stderr: /realm not found: nowhere at http\S+\nTry: svc login --realm/,
  })
  t.match(await runCli(['login', '--realm', 'nowhere'], settings), { code: 6 }, 'before a browser opens')
  for (const how of [['--device'], []])
    t.match(await runCli(['login', '--realm', 'shut-ltd', ...how], settings), {
      code: 5,
      stderr: /the merchant of realm shut-ltd is disabled[^]*Try: ask an operator/,
    })
  t.match(await runCli(['login'], settings), { code: 2, stderr: /which realm\?/ })
  t.match(await runCli(['login', '--realm', 'No Slug'], settings), { code: 2 })
  t.match(await runCli(['login', '--realm', 'acme-ltd', '--platform'], settings), { code: 2 })
  t.match(await runCli([...LOGIN, '--device', '--with-token'], settings), { code: 2 })
  const gone = { ...settings, env: { ...settings.env, SVC_API_URL: 'http://127.0.0.1:1' } }
  t.match(await runCli(LOGIN, gone), { code: 8 })
})

t.test('a service behind https does not send its users to a provider without', async (t) => {
  const [api, open] = ['https://pay.example', 'http://idp.example']
  t.throws(() => refuseDowngrade(api, open), { code: 'IDP_INSECURE', options: { exit: 1 } })
  for (const [apiUrl, authUrl] of [
    [api, 'https://idp.example'],
    [api, null],
    ['http://127.0.0.1:8080', open],
  ] as const)
    t.doesNotThrow(() => refuseDowngrade(apiUrl, authUrl))
})

t.test(
  'a login at the running service is of the profile dev, one for each kind, and preferred until logout',
  async (t) => {
    const { fake, dir, settings } = await setUp(t)
    writeState(dir, fake.url)
    const env = { SVC_CONFIG_DIR: settings.env?.['SVC_CONFIG_DIR'] }
    const here = { env, cwd: dir }
    t.match(JSON.parse((await runCli(['whoami', '--json'], here)).stdout), { client_id: 'demo-server' })
    t.match(await runCli(['login', '--with-token'], { ...here, stdin: fake.accessToken('demo') }), {
      code: 0,
      stdout: /Profile +dev/,
    })
    const asOperator = { ...here, stdin: fake.accessToken('platform', { azp: 'platform-cli' }) }
    t.match(await runCli(['login', '--platform', '--with-token'], asOperator), { code: 0 })
    t.match(JSON.parse((await runCli(['whoami', '--json'], here)).stdout), { client_id: 'demo-cli' })
    t.match(JSON.parse((await runCli(['whoami', '--platform', '--json'], here)).stdout), { client_id: 'platform-cli' })
    t.match(await runCli(['logout'], here), { code: 0 })
    t.match(JSON.parse((await runCli(['whoami', '--json'], here)).stdout), { client_id: 'demo-server' })
    t.notOk(existsSync(join(dir, 'config', 'config.yaml')))
  },
)

t.test('credentials that others could read are closed to them; damaged ones are reported', async (t) => {
  const { fake, settings, file } = await setUp(t)
  await runCli([...LOGIN, '--with-token'], { ...settings, stdin: fake.accessToken() })
  chmodSync(file, 0o644)
  t.match(await runCli(['whoami'], settings), { code: 0 })
  t.equal(statSync(file).mode & 0o777, 0o600)
  writeFileSync(file, '{"version":2')
  t.match(await runCli(['whoami'], settings), { code: 1, stderr: /credentials\.json\s+can't be read[^]*svc login/ })
})

provesLeaves(t, import.meta.filename)
