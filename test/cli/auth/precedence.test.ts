import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { updateEntries } from '../../../cli/client/auth/credentials-file.ts'
import { refusal, runCli } from '../harness.ts'
import type { Outcome } from '../harness.ts'
import { fakeIdentity, fakeToken, writeState } from './fake-identity.ts'
import type { FakeIdentity, FakeIdentityOptions } from './fake-identity.ts'

type Setting = { fake: FakeIdentity; cwd: string; configDir: string }
type More = { env?: NodeJS.ProcessEnv; words?: readonly string[]; command?: readonly string[] }

/** A running service, two profiles with a client each, and one chosen with `profile use` where it is named. */
async function setUp(t: Test, { chosen, ...wish }: FakeIdentityOptions & { chosen?: string } = {}): Promise<Setting> {
  const fake = await fakeIdentity(t, wish)
  const cwd = t.testdir({})
  const configDir = join(cwd, 'config')
  mkdirSync(configDir)
  writeState(cwd, fake.url, wish.authUrl === null ? { auth_url: null, operator: null } : {})
  const profiles = ['one', 'two'].map(
    (name) =>
      `  ${name}: { api_url: '${fake.url}', auth_url: '${fake.url}', realm: ${name}-ltd, client_id: ${name}-ltd-server, kind: merchant, mode: sandbox, role: null, subject: null }\n`,
  )
  const use = chosen === undefined ? '' : `profile: ${chosen}\n`
  writeFileSync(join(configDir, 'config.yaml'), `${use}profiles:\n${profiles.join('')}`)
  const entry = (name: string) => ({
    type: 'client' as const,
    api_url: fake.url,
    auth_url: fake.url,
    realm: `${name}-ltd`,
    client_id: `${name}-ltd-server`,
    client_secret: 'right-secret',
  })
  await updateEntries(configDir, async () => ({ one: entry('one'), two: entry('two') }))
  return { fake, cwd, configDir }
}

async function run(
  { cwd, configDir }: Setting,
  { env = {}, words = [], command = ['whoami'] }: More,
): Promise<Outcome> {
  return runCli([...command, '--json', ...words], { cwd, env: { SVC_CONFIG_DIR: configDir, ...env } })
}

async function clientOf(setting: Setting, more: More): Promise<unknown> {
  const { stdout, stderr } = await run(setting, more)
  return stdout === '' ? JSON.parse(stderr).error.code : JSON.parse(stdout).client_id
}

t.test('flags win over the environment, that over the chosen profile, that over the running service', async (t) => {
  const given = fakeToken({ iss: 'https://pay.example/realms/given-ltd', azp: 'given-ltd-cli' })
  const token = { SVC_TOKEN: given }
  const client = { SVC_CLIENT_ID: 'env-ltd-server', SVC_CLIENT_SECRET: 'right-secret' }
  const profile = { SVC_PROFILE: 'two' }
  const cases: [name: string, more: More & { chosen?: string }, expected: string][] = [
    ['nothing', {}, 'demo-server'],
    ['profile use', { chosen: 'one' }, 'one-ltd-server'],
    ['profile use dev', { chosen: 'dev' }, 'demo-server'],
    ['SVC_PROFILE over profile use', { chosen: 'one', env: profile }, 'two-ltd-server'],
    ['SVC_CLIENT_ID over SVC_PROFILE', { env: { ...client, ...profile } }, 'env-ltd-server'],
    ['SVC_TOKEN over SVC_CLIENT_ID', { env: { ...token, ...client, ...profile } }, 'given-ltd-cli'],
    ['--profile over the environment', { env: { ...token, ...client }, words: ['-p', 'two'] }, 'two-ltd-server'],
    ['--profile dev over profile use', { chosen: 'one', words: ['--profile', 'dev'] }, 'demo-server'],
    [
      '--client-id over all',
      { env: { ...token, ...client }, words: ['--client-id', 'flag-ltd-server', '-p', 'two'] },
      'flag-ltd-server',
    ],
    ['--client-id of the running service', { chosen: 'dev', words: ['--client-id', 'demo-server'] }, 'demo-server'],
    ['the operator by id', { words: ['--client-id', 'platform-key-aaaabbbb'] }, 'platform-key-aaaabbbb'],
  ]
  for (const [name, { chosen, ...more }, expected] of cases) {
    await t.test(name, async (t) => {
      const setting = await setUp(t, chosen === undefined ? {} : { chosen })
      t.equal(await clientOf(setting, more), expected)
    })
  }
})

t.test('a client without its secret is refused before any request, with what is missing', async (t) => {
  const setting = await setUp(t)
  const { code, stderr } = await run(setting, { env: { SVC_CLIENT_ID: 'acme-ltd-server' } })
  t.equal(code, 4)
  t.match(JSON.parse(stderr), { error: { code: 'CLIENT_SECRET_MISSING', hint: /SVC_CLIENT_SECRET/ } })
  t.equal(setting.fake.requests.length, 0)
})

t.test('a client whose secret is wrong, or that is gone, gets a hint what to check', async (t) => {
  const setting = await setUp(t)
  const { code, stderr } = await run(setting, { env: { SVC_CLIENT_ID: 'acme-ltd-server', SVC_CLIENT_SECRET: 'wrong' } })
  t.equal(code, 4)
  t.match(JSON.parse(stderr), {
    error: {
      code: 'INVALID_CLIENT',
      message: 'the secret of acme-ltd-server is wrong, or the client has been revoked',
      hint: /SVC_CLIENT_SECRET.*svc credentials rotate acme-ltd-server/,
    },
  })
})

t.test('an identity of the wrong kind is reported with the setting that chose it', async (t) => {
  const answer = ({ path }: { path: string }) =>
    path.startsWith('/api/v1/admin/') || path.startsWith('/api/v1/payments') ? refusal(403, 'WRONG_REALM') : undefined
  const setting = await setUp(t, { answer })
  const told = async (more: More) => JSON.parse((await run(setting, more)).stderr).error
  const env = { SVC_CLIENT_ID: 'acme-ltd-server', SVC_CLIENT_SECRET: 'right-secret' }
  t.match(await told({ command: ['merchants', 'list'], env }), {
    code: 'WRONG_REALM',
    hint: /^unset SVC_CLIENT_ID, which selects acme-ltd-server; then svc login --platform$/,
  })
  const token = { SVC_TOKEN: fakeToken({ azp: 'platform-cli' }) }
  t.match(await told({ command: ['payments', 'list'], env: token }), {
    hint: /^unset SVC_TOKEN, which selects platform-cli;/,
  })
  const words = ['--client-id', 'acme-ltd-server']
  t.match(await told({ command: ['merchants', 'list'], words, env: { SVC_CLIENT_SECRET: 'right-secret' } }), {
    hint: /without --client-id/,
  })
})

t.test('rejected credentials are reported with their source', async (t) => {
  const setting = await setUp(t, { chosen: 'one' })
  const hintOf = async (more: More) => JSON.parse((await run(setting, more)).stderr).error.hint
  for (const realm of ['one-ltd', 'given-ltd', 'acme-ltd', 'demo']) setting.fake.untrusted.add(realm)
  const given = fakeToken({ iss: `${setting.fake.url}/realms/given-ltd` })
  t.match(await hintOf({ env: { SVC_TOKEN: given } }), /unset SVC_TOKEN$/)
  const client = { SVC_CLIENT_ID: 'acme-ltd-server', SVC_CLIENT_SECRET: 'right-secret' }
  t.match(await hintOf({ env: client }), /^check SVC_CLIENT_ID and SVC_CLIENT_SECRET/)
  t.equal(await hintOf({}), 'svc login --profile one')
  t.equal(await hintOf({ words: ['-p', 'dev'], command: ['payments', 'list'] }), 'svc login --realm <realm>')
})

t.test('the realm comes from the client id, unless SVC_REALM says; an id without one needs it', async (t) => {
  const setting = await setUp(t)
  const realmOf = async (env: NodeJS.ProcessEnv) => {
    const { stdout, stderr } = await run(setting, { env: { SVC_CLIENT_SECRET: 'right-secret', ...env } })
    return stdout === '' ? JSON.parse(stderr).error.code : JSON.parse(stdout).realm
  }
  t.equal(await realmOf({ SVC_CLIENT_ID: 'acme-ltd-key-a1b2c3d4' }), 'acme-ltd')
  t.equal(await realmOf({ SVC_CLIENT_ID: 'robot', SVC_REALM: 'acme-ltd' }), 'acme-ltd')
  t.equal(await realmOf({ SVC_CLIENT_ID: 'robot' }), 'USAGE')
})

t.test('only an address: the service says where its provider is, once; SVC_AUTH_URL saves the question', async (t) => {
  const { fake, ...setting } = await setUp(t)
  const env = { SVC_API_URL: fake.url, SVC_CLIENT_ID: 'acme-ltd-server', SVC_CLIENT_SECRET: 'right-secret' }
  const elsewhere = { ...setting, fake, cwd: '/nowhere' }
  t.equal(await clientOf(elsewhere, { env }), 'acme-ltd-server')
  t.same(
    fake.requests.map(({ path }) => path.split('/').at(-1)),
    ['service', 'token', 'whoami'],
  )
  fake.requests.length = 0
  t.equal(await clientOf(elsewhere, { env: { ...env, SVC_AUTH_URL: `${fake.url}/` } }), 'acme-ltd-server')
  t.same(
    fake.requests.map(({ path }) => path.split('/').at(-1)),
    ['token', 'whoami'],
  )
})

t.test('secrets may stand in files, and a file that is not there is not repeated', async (t) => {
  const setting = await setUp(t)
  const file = join(setting.cwd, 'secret')
  writeFileSync(file, 'right-secret\n')
  const env = { SVC_CLIENT_ID: 'acme-ltd-server', SVC_CLIENT_SECRET_FILE: file }
  t.equal(await clientOf(setting, { env }), 'acme-ltd-server')
  const { code, stderr } = await run(setting, { env: { ...env, SVC_CLIENT_SECRET_FILE: 'the-secret-itself' } })
  t.equal(code, 2)
  t.notMatch(stderr, /the-secret-itself/)
})

t.test('without a provider names are sent, a secret or none; with one, no name is believed', async (t) => {
  const none = await setUp(t, { authUrl: null })
  await run(none, { command: ['payments', 'list'] })
  await run(none, { command: ['payments', 'list'], words: ['--client-id', 'acme-ltd-server'] })
  await run(none, { command: ['payments', 'list'], env: { SVC_CLIENT_ID: 'env-server', SVC_CLIENT_SECRET: 'x' } })
  t.same(
    none.fake.requests.map(({ headers }) => [headers['x-merchant-client-id'], headers.authorization]),
    [
      ['demo-server', undefined],
      ['acme-ltd-server', undefined],
      ['env-server', undefined],
    ],
  )
  t.match(
    JSON.parse((await run(none, { command: ['whoami', '--platform'], env: { SVC_PLATFORM_USER: 'ada' } })).stdout),
    {
      kind: 'platform',
    },
  )
  t.equal(none.fake.requests.at(-1)?.headers['x-platform-user'], 'ada')
})

t.test('a secret is no mistake at a service that turns out to have no provider', async (t) => {
  const { fake, ...setting } = await setUp(t, { authUrl: null })
  const env = { SVC_API_URL: fake.url, SVC_CLIENT_ID: 'acme-ltd-server', SVC_CLIENT_SECRET: 'x' }
  t.equal(await clientOf({ ...setting, fake, cwd: '/nowhere' }, { env }), 'acme-ltd-server')
  t.equal(fake.requests.at(-1)?.headers['x-merchant-client-id'], 'acme-ltd-server')
})

t.test('an address on another machine that only the directory names is rejected with any identity', async (t) => {
  const setting = await setUp(t)
  const address = 'https://pay.invalid'
  const secrets = [
    ['nothing', {}],
    ['SVC_TOKEN', { SVC_TOKEN: fakeToken({ azp: 'robot' }) }],
    ['SVC_CLIENT_SECRET', { SVC_CLIENT_ID: 'acme-ltd-server', SVC_CLIENT_SECRET: 'right-secret' }],
  ] as const
  for (const [name, env] of secrets) {
    const refused = {
      code: 2,
      stderr: new RegExp(`${address} is named by this folder's .svc alone[^]*--api-url ${address}`),
    }
    writeState(setting.cwd, address, {})
    t.match(await run(setting, { env }), refused, name)
    t.match(await run(setting, { env, words: ['--api-url', address] }), { code: 8 }, 'whoever names it means it')
    t.match(await run(setting, { env: { ...env, SVC_API_URL: address } }), { code: 8 })
    writeState(setting.cwd, setting.fake.url, {})
    t.match(await run(setting, { env }), { code: 0 }, 'a service of this machine is ours')
  }
  writeFileSync(join(setting.configDir, 'config.yaml'), `api_url: ${address}/\n`)
  writeState(setting.cwd, address, {})
  t.match(await run(setting, { env: secrets[1][1] }), { code: 8 }, 'so does who has it in their own file')
})

t.test('a svc.json sends no secret to a provider on another machine', async (t) => {
  const setting = await setUp(t)
  writeState(setting.cwd, setting.fake.url, { auth_url: 'https://elsewhere.invalid' })
  const env = { SVC_CLIENT_ID: 'acme-ltd-server', SVC_CLIENT_SECRET: 'right-secret' }
  t.equal(await clientOf(setting, { env }), 'acme-ltd-server')
  t.equal(setting.fake.asked().length, 1, 'the service says where it is')
})

t.test('a profile and an address that are not of each other are refused', async (t) => {
  const setting = await setUp(t)
  const words = ['-p', 'one', '--api-url', 'http://127.0.0.1:1']
  t.match(await run(setting, { words }), { code: 2, stderr: /the profile one is of/ })
  t.match(await run(setting, { words: ['-p', 'nonsense'] }), { code: 2, stderr: /profile not found: nonsense/ })
})

t.test('without any credentials nothing is signed in: exit code 4', async (t) => {
  const { code, stderr } = await runCli(['whoami', '--json'])
  t.equal(code, 4)
  t.match(JSON.parse(stderr), { error: { code: 'NOT_SIGNED_IN', hint: /svc login/ } })
  t.match(await runCli(['profile', 'token']), { code: 4 })
})
