import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { runCli } from '../harness.ts'
import type { CliSettings } from '../harness.ts'
import { fakeIdentity, writeState } from './fake-identity.ts'
import type { FakeIdentity, FakeIdentityOptions } from './fake-identity.ts'
import { provesLeaves } from '../ran.ts'

type Setting = { fake: FakeIdentity; settings: CliSettings; configFile: string; cwd: string }

async function setUp(t: Test, wish: FakeIdentityOptions = {}): Promise<Setting> {
  const fake = await fakeIdentity(t, wish)
  const cwd = t.testdir({})
  const configDir = join(cwd, 'config')
  const settings = { cwd, env: { SVC_CONFIG_DIR: configDir } }
  return { fake, settings, cwd, configFile: join(configDir, 'config.yaml') }
}

t.test('a profile is added, shown, chosen and removed', async (t) => {
  const { fake, settings, configFile } = await setUp(t)
  const added = await runCli(
    ['profile', 'create', 'acme', '--api-url', fake.url, '--realm', 'acme-ltd', '--json'],
    settings,
  )
  t.equal(added.code, 0)
  t.same(JSON.parse(added.stdout), {
    name: 'acme',
    current: false,
    api_url: fake.url,
    auth_url: fake.url,
    realm: 'acme-ltd',
    client_id: 'acme-ltd-cli',
    kind: 'merchant',
    mode: 'sandbox',
    role: null,
    subject: null,
    signed_in: 'no',
    login: null,
  })
  t.equal(statSync(configFile).mode & 0o777, 0o600)
  t.match(await runCli(['profile', 'use', 'acme', '-o', 'id'], settings), { code: 0, stdout: 'acme\n' })
  t.match(await runCli(['profile', 'show', '-q', 'current'], settings), { code: 0, stdout: 'true\n' })
  t.match(await runCli(['whoami'], settings), { code: 4, stderr: /svc login --profile acme/ })
  t.match(await runCli(['profile', 'remove', 'acme', '--json'], settings), {
    code: 0,
    stdout: '{"profile":"acme","removed":true}\n',
  })
  t.match(await runCli(['profile', 'list', '--json'], settings), { code: 0, stdout: '[]\n' })
  t.notMatch(readFileSync(configFile, 'utf8'), /acme/)
})

t.test('the built-in profile is chosen whatever the file holds, and comments stay', async (t) => {
  const { settings, configFile, fake } = await setUp(t)
  const useDev = (): ReturnType<typeof runCli> => runCli(['profile', 'use', 'dev', '-o', 'id'], settings)
  t.match(await useDev(), { code: 0, stdout: 'dev\n' })
  t.notOk(existsSync(configFile), 'nothing to write')
  mkdirSync(join(configFile, '..'))
  for (const text of ['', '# mine\n', '---\n# mine\n', 'null # mine\n', '# mine\noutput: json # such\n']) {
    writeFileSync(configFile, text)
    t.match(await useDev(), { code: 0, stdout: 'dev\n' }, text)
    t.equal(readFileSync(configFile, 'utf8'), text)
  }
  for (const text of [
    '',
    '# mine\n',
    '---\n# mine\n',
    'null # mine\n',
    '# mine\nprofile: old # such\n',
    '# mine\n{}\n',
  ]) {
    writeFileSync(configFile, text)
    t.match(await useDev(), { code: 0 })
    const added = await runCli(['profile', 'create', 'acme', '--api-url', fake.url, '--realm', 'acme-ltd'], settings)
    t.match(added, { code: 0 }, text)
    t.match(await runCli(['profile', 'use', 'acme'], settings), { code: 0 }, text)
    t.match(readFileSync(configFile, 'utf8'), /^profile: acme( # such)?$/m, text)
    t.match(readFileSync(configFile, 'utf8'), text === '' ? /^profiles:/ : '# mine', text)
    t.match(await useDev(), { code: 0 })
    t.match(readFileSync(configFile, 'utf8'), /^profile: dev( # such)?$/m)
  }
})

t.test('a login fills the profile that was added, with role and subject', async (t) => {
  const { fake, settings } = await setUp(t)
  await runCli(['profile', 'create', 'ops', '--api-url', fake.url, '--platform'], settings)
  const stdin = fake.accessToken('platform', { azp: 'platform-cli' })
  t.match(await runCli(['login', '-p', 'ops', '--with-token'], { ...settings, stdin }), { code: 0 })
  const { stdout } = await runCli(['profile', 'show', 'ops', '--json'], settings)
  t.match(JSON.parse(stdout), {
    kind: 'platform',
    realm: 'platform',
    role: 'OWNER',
    subject: 'u-1',
    signed_in: 'yes',
    current: false,
  })
})

t.test("a client's secret is kept out of the configuration, and proves the client", async (t) => {
  const { fake, settings, configFile } = await setUp(t)
  const words = ['profile', 'create', 'ci', '--api-url', fake.url, '--client-id', 'acme-ltd-server', '--with-secret']
  const { code, stdout, stderr } = await runCli(words, { ...settings, stdin: 'right-secret\n' })
  t.equal(code, 0)
  t.notMatch(stdout + stderr + readFileSync(configFile, 'utf8'), /right-secret/)
  t.match(JSON.parse((await runCli(['whoami', '-p', 'ci', '--json'], settings)).stdout), {
    client_id: 'acme-ltd-server',
    realm: 'acme-ltd',
  })
  t.match(await runCli(['logout', '-p', 'ci'], settings), { code: 7, stderr: /Try: svc profile remove ci/ })
  t.match(await runCli(['whoami', '-p', 'ci'], settings), { code: 0 }, 'its secret is kept')
  t.match(await runCli(['profile', 'remove', 'ci'], settings), { code: 0 })
  t.notMatch(readFileSync(join(configFile, '..', 'credentials.json'), 'utf8'), /right-secret/)
})

t.test("a merchant's command with an operator's profile prints the right login, and the reverse", async (t) => {
  const { fake, settings } = await setUp(t)
  const login = (stdin: string, ...words: string[]) =>
    runCli(['login', '--api-url', fake.url, ...words, '--with-token'], { ...settings, stdin })
  await login(fake.accessToken('platform', { azp: 'platform-cli' }), '--platform')
  t.match(await runCli(['payments', 'receipt', '01a1fd03-f879-7eb7-872f-a2b4358c4f6e'], settings), {
    code: 4,
    stderr:
      "the profile platform is an operator's, and this needs a merchant\n" +
      `Try: svc login --api-url ${fake.url} --realm <realm>\n`,
  })
  const own = [
    ['payments', 'list'],
    ['payments', 'list', '-p', 'platform'],
  ]
  for (const words of own) t.match(await runCli(words, settings), { code: 0 }, 'lists are of all merchants then')
  const changing = await runCli(['payments', 'cancel', '01a1fd03-f879-7eb7-872f-a2b4358c4f6e'], settings)
  t.match(changing, { code: 4, stderr: /this needs a merchant\nTry: svc login/ }, 'no operator can do that')
  await login(fake.accessToken(), '--realm', 'acme-ltd')
  t.match(await runCli(['disputes', 'accept', '01a1fd03-f879-7eb7-872f-a2b4358c4f6e', '-p', 'platform'], settings), {
    stderr: /\nTry: the same command with --profile acme-ltd, or svc profile use acme-ltd\n/,
  })
  await runCli(['profile', 'remove', 'platform'], settings)
  t.match(await runCli(['merchants', 'list'], settings), {
    code: 4,
    stderr: `a merchant's, and this needs an operator\nTry: svc login --api-url ${fake.url} --platform\n`,
  })
})

t.test('a profile of a service without a provider sends the name of its client', async (t) => {
  const { fake, settings } = await setUp(t, { authUrl: null })
  await runCli(['profile', 'create', 'plain', '--api-url', fake.url, '--client-id', 'acme-ltd-server'], settings)
  t.match(await runCli(['payments', 'list', '-p', 'plain'], settings), { code: 0 })
  t.equal(fake.requests.at(-1)?.headers['x-merchant-client-id'], 'acme-ltd-server')
})

t.test('the running service is the profile dev, which is there without being added', async (t) => {
  const { fake, settings, cwd } = await setUp(t)
  writeState(cwd, fake.url)
  const { stdout } = await runCli(['profile', 'list', '--json'], settings)
  t.match(JSON.parse(stdout), [
    {
      name: 'dev',
      current: true,
      realm: 'demo',
      client_id: 'demo-server',
      role: 'ADMIN',
      signed_in: 'yes',
    },
  ])
  t.notMatch(stdout, /right-secret/)
  t.match(await runCli(['profile', 'remove', 'dev'], settings), { code: 2 })
  t.match(await runCli(['profile', 'create', 'dev', '--realm', 'acme-ltd'], settings), { code: 7 })
})

t.test('the running service has a session of its merchant and one of its operator', async (t) => {
  const { fake, settings, cwd } = await setUp(t)
  writeState(cwd, fake.url)
  await runCli(['login', '--with-token'], { ...settings, stdin: fake.accessToken('demo') })
  const stdin = fake.accessToken('platform', { azp: 'platform-cli' })
  const login = await runCli(['login', '--platform', '--with-token'], { ...settings, stdin })
  t.match(login.stderr, /^Operators' commands now use your identity: svc whoami --platform\./)
  t.match((await runCli(['profile', 'list'], settings)).stdout, /demo +ADMIN +yes\n/)
  const { stdout } = await runCli(['profile', 'show'], settings)
  t.match(stdout, /^Role +ADMIN$/m)
  t.match(stdout, /^Signed in +yes, ada@acme\.example$/m)
  t.match((await runCli(['whoami'], settings)).stdout, /^Role +ADMIN/m)
  t.match((await runCli(['whoami', '--platform'], settings)).stdout, /^Role +OWNER/m)
  fake.untrusted.add('platform')
  t.match(await runCli(['whoami', '--platform'], settings), { code: 4, stderr: /has ended/ })
})

t.test('without a provider the list says so, and shows no profile as signed in', async (t) => {
  const { fake, settings, cwd } = await setUp(t, { authUrl: null })
  writeState(cwd, fake.url, { auth_url: null, operator: null })
  t.match((await runCli(['profile', 'list'], settings)).stdout, /no identity provider +not needed\n/)
  t.match(JSON.parse((await runCli(['profile', 'show', '--json'], settings)).stdout), {
    realm: null,
    role: null,
    signed_in: 'not needed',
  })
})

t.test('names that are none, or are taken, and profiles that are not there', async (t) => {
  const { fake, settings } = await setUp(t)
  const add = (name: string) =>
    runCli(['profile', 'create', name, '--api-url', fake.url, '--realm', 'acme-ltd', '--json'], settings)
  t.match(await add('a b'), { code: 2 })
  t.match(await add('../x'), { code: 2 })
  t.match(await add('acme'), { code: 0 })
  t.match(await add('acme'), { code: 7, stderr: /PROFILE_EXISTS/ })
  for (const verb of ['use', 'show', 'remove']) t.match(await runCli(['profile', verb, 'none'], settings), { code: 6 })
  t.match(await runCli(['payments', 'list', '--profile', 'none'], settings), { code: 2 }, 'a flag is wrong')
  t.match(await runCli(['profile', 'create', 'x', '--api-url', fake.url], settings), { code: 2, stderr: /which realm/ })
  t.match(
    await runCli(['profile', 'create', 'x', '--api-url', 'http://127.0.0.1:1', '--realm', 'acme-ltd'], settings),
    {
      code: 8,
    },
  )
})

t.test('a login elsewhere does not take over a profile of the same name', async (t) => {
  const { fake, settings } = await setUp(t)
  const other = await fakeIdentity(t)
  const login = (idp: FakeIdentity) =>
    runCli(['login', '--api-url', idp.url, '--realm', 'acme-ltd', '--with-token'], {
      ...settings,
      stdin: idp.accessToken(),
    })
  t.match(await login(fake), { code: 0 })
  t.match(await login(other), { code: 2, stderr: /the profile acme-ltd is of/ })
})

t.test("what the user wrote in the file stays; what can't be read is reported without repeating it", async (t) => {
  const { fake, settings, configFile } = await setUp(t)
  mkdirSync(join(configFile, '..'))
  writeFileSync(configFile, '# mine\nprofiles: {} # none yet\n')
  await runCli(['profile', 'create', 'acme', '--api-url', fake.url, '--realm', 'acme-ltd'], settings)
  t.match(readFileSync(configFile, 'utf8'), /^# mine\n[^]*acme:/)
  writeFileSync(configFile, 'profiles: [my-secret\n')
  const broken = await runCli(['whoami'], settings)
  t.equal(broken.code, 2)
  t.match(broken.stderr, /config\.yaml: not valid YAML in line \d/)
  t.notMatch(broken.stderr, /my-secret/)
  writeFileSync(configFile, 'profiles: { acme: { api_url: nonsense } }\n')
  t.match(await runCli(['whoami'], settings), { code: 2, stderr: /profiles\.acme\.api_url/ })
})

t.test('token prints the access token alone, and what it says on demand', async (t) => {
  const { fake, settings } = await setUp(t)
  const env = {
    ...settings.env,
    SVC_API_URL: fake.url,
    SVC_CLIENT_ID: 'acme-ltd-server',
    SVC_CLIENT_SECRET: 'right-secret',
  }
  const here = { ...settings, env }
  t.match(await runCli(['profile', 'token'], here), { code: 0, stdout: /^[\w-]+\.[\w-]+\.[\w-]+\n$/, stderr: '' })
  t.match(await runCli(['profile', 'token', '--json']), { code: 4, stdout: '', stderr: /^\{"error":/ })
  t.match(JSON.parse((await runCli(['profile', 'token', '--json'], here)).stdout), {
    access_token: String,
    expires_at: /^\d{4}-.*Z$/,
    realm: 'acme-ltd',
    client_id: 'acme-ltd-server',
  })
  const { stdout } = await runCli(['profile', 'token', '--decode', '--json'], here)
  t.match(JSON.parse(stdout), { iss: `${fake.url}/realms/acme-ltd`, azp: 'acme-ltd-server' })
  t.match((await runCli(['profile', 'token', '--decode'], here)).stdout, /^exp +\d+ \(20\d\d-/m)
  const opaque = { ...here, env: { ...env, SVC_TOKEN: 'opaque', SVC_CLIENT_ID: '' } }
  t.match(await runCli(['profile', 'token'], opaque), { code: 0, stdout: 'opaque\n' })
  t.match(await runCli(['profile', 'token', '--decode'], opaque), { code: 1 })
})

t.test('there is no token where there is no provider', async (t) => {
  const { fake, settings, cwd } = await setUp(t, { authUrl: null })
  writeState(cwd, fake.url, { auth_url: null })
  t.match(await runCli(['profile', 'token'], settings), { code: 7, stderr: /no tokens/ })
})

provesLeaves(t, import.meta.filename)
