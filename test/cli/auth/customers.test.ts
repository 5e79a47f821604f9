import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { updateEntries } from '../../../cli/client/auth/credentials-file.ts'
import { saveProfile } from '../../../cli/client/auth/profiles.ts'
import type { ProfileKind } from '../../../cli/client/auth/profiles.ts'
import { ensurePlatform } from '../../../src/staff/ensure-platform.ts'
import { ensureDemoCustomer } from '../../../src/sandbox/seed-customer.ts'
import { ensureDemoMerchant } from '../../../src/sandbox/seed-merchant.ts'
import { ensureDemoOperator } from '../../../src/sandbox/seed-operator.ts'
import { testService } from '../../support/app.ts'
import { throughPages } from '../../support/identity.ts'
import { UserAgent } from '../../support/user-agent.ts'
import { runCli } from '../harness.ts'
import type { Answer, CliSettings, Outcome, Request } from '../harness.ts'
import { fakeIdentity, fakeToken, formsOf, writeState } from './fake-identity.ts'
import type { FakeIdentity } from './fake-identity.ts'
import { addressIn, startCli, visit } from './running.ts'

const CUSTOMER = {
  id: 'grace',
  realm: 'customers',
  client_id: 'customers-key-aaaabbbb',
  client_secret: 'right-secret',
}
const KEY = { SVC_CLIENT_ID: 'customers-key-ccccdddd', SVC_CLIENT_SECRET: 'right-secret' }

/** A refusal of Surface A, which has no code of the service's own but in the address of its page. */
function obRefusal(status: number, page: string): Answer {
  const Url = `http://127.0.0.1/errors/${page}`
  const Errors = [{ ErrorCode: 'UK.OBIE.Header.Invalid', Message: 'refused', Url }]
  return { status, json: { Code: `${status} Some`, Id: 'i-1', Message: 'refused', Errors } }
}

type Setting = {
  fake: FakeIdentity
  cwd: string
  configDir: string
  run(words: string, env?: NodeJS.ProcessEnv): Promise<Outcome>
}

/** A running service with a demo customer, and a profile of each kind. */
async function setUp(t: Test, { authUrl }: { authUrl?: null } = {}): Promise<Setting> {
  const answer = ({ path, headers }: Request): Answer | undefined => {
    if (path.startsWith('/api/v1/sandbox/accounts')) return { json: { data: [], has_more: false, next_cursor: null } }
    if (!path.startsWith('/open-banking/')) return undefined
    if (headers['x-customer-id'] === 'nobody') return obRefusal(401, 'unauthenticated')
    const token = (headers.authorization ?? '').replace('Bearer ', '')
    if (fake.expired.has(token)) return obRefusal(401, 'token-expired')
    const realm =
      authUrl === null ? 'customers' : JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).iss
    if (!realm.endsWith('customers')) return obRefusal(403, 'wrong-realm')
    return { json: { Data: [], Links: { Self: 'http://127.0.0.1/' }, Meta: { TotalPages: 1 } } }
  }
  const fake = await fakeIdentity(t, { answer, ...(authUrl === null ? { authUrl } : {}) })
  const cwd = t.testdir({})
  const configDir = join(cwd, 'config')
  mkdirSync(configDir)
  writeState(cwd, fake.url, { ...(authUrl === null ? { auth_url: null, operator: null } : {}), customer: CUSTOMER })
  return {
    fake,
    cwd,
    configDir,
    run: (words, env = {}) => runCli(words.split(' '), { cwd, env: { SVC_CONFIG_DIR: configDir, ...env } }),
  }
}

/** Profiles of these kinds, named like them, each with a client that is known. */
async function addProfiles({ fake, configDir }: Setting, kinds: readonly ProfileKind[]): Promise<void> {
  const of = { merchant: 'acme-ltd', platform: 'platform', customer: 'customers' }
  for (const kind of kinds) {
    const [api_url, realm, client_id] = [fake.url, of[kind], `${of[kind]}-key-eeeeffff`]
    const profile = {
      api_url,
      auth_url: api_url,
      realm,
      client_id,
      kind,
      mode: 'sandbox' as const,
      role: null,
      subject: null,
    }
    saveProfile(configDir, kind, { profile, choose: false })
    const entry = {
      type: 'client' as const,
      api_url,
      auth_url: api_url,
      realm,
      client_id,
      client_secret: 'right-secret',
    }
    await updateEntries(configDir, async (entries) => ({ ...entries, [kind]: entry }))
  }
}

/** The client whose token the last request to the API carried, or how it named the customer. */
function actedAs({ fake }: Setting): unknown {
  const { headers } = fake.requests.findLast(({ path }) => path.startsWith('/open-banking/')) ?? {}
  const token = headers?.authorization?.replace('Bearer ', '')
  if (token === undefined) return headers?.['x-customer-id']
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).azp
}

t.test('with a provider: --profile, SVC_TOKEN, SVC_CLIENT_ID, SVC_PROFILE, then the demo customer', async (t) => {
  const setting = await setUp(t)
  await addProfiles(setting, ['customer'])
  const token = { SVC_TOKEN: fakeToken({ iss: `${setting.fake.url}/realms/customers`, azp: 'customers-app' }) }
  for (const [words, env, expected] of [
    ['ob accounts', {}, CUSTOMER.client_id],
    ['ob accounts', { SVC_PROFILE: 'customer' }, 'customers-key-eeeeffff'],
    ['ob accounts', { ...KEY, SVC_PROFILE: 'customer' }, KEY.SVC_CLIENT_ID],
    ['ob accounts', { ...token, ...KEY }, 'customers-app'],
    ['ob accounts --profile customer', { ...token, ...KEY }, 'customers-key-eeeeffff'],
    ['ob accounts', { SVC_CUSTOMER_ID: 'somebody' }, CUSTOMER.client_id],
  ] as const) {
    t.match(await setting.run(words, env), { code: 0 })
    t.equal(actedAs(setting), expected)
  }
  const [first] = setting.fake.asked()
  t.match(Object.fromEntries(first ?? []), { grant_type: 'client_credentials', scope: 'accounts payments' })
  setting.fake.requests.length = 0
  t.match(await setting.run('payments list'), { code: 0 })
  t.equal(setting.fake.asked()[0]?.get('scope'), null, "a merchant's client has a role, and asks for no scope")
  t.match(await setting.run('ob accounts --customer somebody'), {
    code: 2,
    stderr: /--customer names a customer where there is no identity provider[^]*Try: svc login --customer/,
  })
  await addProfiles(setting, ['platform'])
  t.match(await setting.run('sandbox accounts --customer somebody -p platform'), { code: 0 })
  const asked = setting.fake.requests.findLast(({ path: each }) => each.startsWith('/api/v1/sandbox/accounts'))
  t.match(asked?.path, /customer_id=somebody/, 'which is a filter there, and nobody to act as')
})

t.test(
  'without a provider: the flag, the profile that is named, the variable, the profile, the demo customer',
  async (t) => {
    const setting = await setUp(t, { authUrl: null })
    t.match(await setting.run(`profile create ada --customer ada --api-url ${setting.fake.url}`), {
      code: 0,
      stdout: /Kind +customer/,
    })
    t.match(await setting.run(`profile create bob --customer --api-url ${setting.fake.url}`), {
      code: 2,
      stderr: /which customer/,
    })
    const env = { SVC_CUSTOMER_ID: 'tim' }
    for (const [words, more, expected] of [
      ['ob accounts', {}, 'grace'],
      ['ob accounts', { SVC_PROFILE: 'ada' }, 'ada'],
      ['ob accounts', { ...env, SVC_PROFILE: 'ada' }, 'tim'],
      ['ob accounts --profile ada', env, 'ada'],
      ['ob --customer eve accounts --profile ada', env, 'eve'],
      ['ob accounts --client-id demo-server', env, 'tim'],
    ] as const) {
      t.match(await setting.run(words, more), { code: 0 })
      t.equal(actedAs(setting), expected, words)
    }
    t.match(JSON.parse((await setting.run('whoami --profile ada --json')).stdout), {
      kind: 'customer',
      subject: 'ada',
      realm: null,
    })
    for (const [words, hint] of [
      ['ob --customer nobody accounts', /Try: which customers there are: svc sandbox accounts\n/],
      [`ob --customer nobody accounts --api-url ${setting.fake.url}/`, /svc (--api-url \S+ )?sandbox accounts/],
    ] as const) {
      const { code, stderr } = await setting.run(words)
      t.equal(code, 4)
      t.match(stderr, hint)
    }
    t.match(await setting.run('whoami --customer'), { code: 0, stdout: /\nCustomer +grace\n/ })
    t.match((await setting.run('whoami --json')).stdout, /"kind":"merchant"/, 'all other commands act as before')
  },
)

t.test('a wrong kind of identity is reported with the right command, in both directions', async (t) => {
  const setting = await setUp(t)
  await addProfiles(setting, ['merchant', 'platform'])
  const login = new RegExp(`Try: svc login --api-url ${setting.fake.url} --customer`)
  t.match(await setting.run('ob accounts -p merchant'), {
    code: 4,
    stderr: /is a merchant's, and this needs a customer/,
  })
  t.match(await setting.run('ob accounts -p platform'), { code: 4, stderr: login })
  await addProfiles(setting, ['customer'])
  t.match(await setting.run('ob accounts -p merchant'), {
    code: 4,
    stderr: /Try: .*--profile customer, or svc profile use customer/,
  })
  t.match(await setting.run('payments list -p customer'), {
    code: 4,
    stderr: /is a customer's, and this needs a merchant/,
  })
  t.match(await setting.run('merchants list -p customer'), {
    code: 4,
    stderr: /is a customer's, and this needs an operator/,
  })
  t.match(await setting.run('whoami --platform -p customer'), { code: 4, stderr: /this needs an operator/ })
  const env = { SVC_CLIENT_ID: 'acme-ltd-server', SVC_CLIENT_SECRET: 'right-secret' }
  t.match(await setting.run('ob accounts', env), {
    code: 5,
    stderr: /Try: unset SVC_CLIENT_ID, which selects acme-ltd-server; then svc login --customer/,
  })
  const wrong = await setting.run('ob accounts', { ...KEY, SVC_CLIENT_SECRET: 'wrong' })
  t.match(wrong, { code: 4, stderr: /the secret of customers-key-ccccdddd is wrong/ })
  t.notMatch(wrong.stderr, /credentials rotate/, 'which is of merchants')
})

t.test(
  'a customer signs in: its realm, its client, the scopes of decision 9, and no session that outlives',
  async (t) => {
    const setting = await setUp(t)
    const { fake, cwd, configDir, run } = setting
    const settings = { cwd, env: { SVC_CONFIG_DIR: configDir, BROWSER: '/bin/true', NO_COLOR: '1' }, tty: true }
    const login = startCli(['login', '--customer'], settings)
    const url = new URL(await addressIn(login))
    t.equal(url.pathname, '/realms/customers/protocol/openid-connect/auth')
    t.match(Object.fromEntries(url.searchParams), { client_id: 'customers-cli', scope: 'openid accounts payments' })
    await visit((await visit(url.href)).location)
    t.match(await login.ended, { code: 0, stdout: /Role +CUSTOMER/, stderr: /svc ob now uses your identity/ })
    t.match(await run('ob accounts'), { code: 0 })
    t.equal(actedAs(setting), 'customers-cli')

    // What the API answers to an expired token is no error body of the other surface.
    for (const token of fake.requests.flatMap(({ headers }) => headers.authorization ?? []))
      fake.expired.add(token.slice('Bearer '.length))
    fake.requests.length = 0
    t.match(await run('ob accounts'), { code: 0 })
    t.equal(fake.asked()[0]?.get('grant_type'), 'refresh_token')
    t.match(await run('logout --platform --json'), { stdout: /"signed_out":false/ })
    t.match(await run('logout --customer --platform'), { code: 2, stderr: /cannot be used with/ })
    t.match(await run('logout --customer --json'), { stdout: /"signed_out":true/ })
    t.match(await run('logout --customer'), { code: 0, stderr: /No one was signed in to dev as a customer/ })
    t.match(await run('ob accounts'), { code: 0 })
    t.equal(actedAs(setting), CUSTOMER.client_id)

    fake.requests.length = 0
    t.match(await run(`login --api-url ${fake.url} --customer --device --profile me --timeout 5s`), { code: 0 })
    t.equal(formsOf(fake.requests, '/device')[0]?.get('scope'), 'openid accounts payments')
    t.match(readFileSync(join(configDir, 'config.yaml'), 'utf8'), /kind: customer/)
    t.match(await run('logout --platform --profile me'), { code: 2, stderr: /--platform: the profile me is none/ })
    t.match(await run('logout --customer --profile me --json'), { code: 0, stdout: /"signed_out":true/ })
    t.match(await run('login --customer --platform'), { code: 2, stderr: /cannot be used with/ })
  },
)

t.test('against the real service: the demo customer is used, signs in, and differs from all others', async (t) => {
  const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
  await ensurePlatform(service.app)
  const operator = await ensureDemoOperator(service.app)
  const [merchant, customer] = [await ensureDemoMerchant(service.app), await ensureDemoCustomer(service.app)]
  const cwd = t.testdir({})
  const authUrl = service.app.identity.authUrl ?? ''
  writeState(cwd, service.url, { auth_url: authUrl, merchant, operator, customer })
  const settings: CliSettings = {
    cwd,
    env: { SVC_CONFIG_DIR: join(cwd, 'config'), BROWSER: '/bin/true', NO_COLOR: '1' },
  }
  const run = (words: string, env: NodeJS.ProcessEnv = {}) =>
    runCli(words.split(' '), { ...settings, env: { ...settings.env, ...env } })
  t.match(await run('ob balances'), { code: 0, stdout: /1250\.00 +GBP/ })
  t.match(JSON.parse((await run('whoami --customer --json')).stdout), {
    kind: 'customer',
    realm: 'customers',
    name: customer.client_id,
    permissions: ['accounts', 'payments'],
  })
  t.match(await run('whoami'), { code: 0, stdout: /Realm +demo/ })
  t.match((await run('whoami --customer')).stdout, /^Role +CUSTOMER$/m)

  t.match(await run('sandbox accounts --customer customer-demo'), { code: 0, stdout: /Grace Demo.* 00-00-75 \d{8} / })
  const made = await run('sandbox customers create --balance 250.00')
  const [, SVC_CLIENT_ID, SVC_CLIENT_SECRET] =
    /SVC_CLIENT_ID=(\S+) SVC_CLIENT_SECRET=(\S+) svc ob accounts/.exec(made.stderr) ?? []
  t.match(await run('ob balances', { SVC_CLIENT_ID, SVC_CLIENT_SECRET }), { code: 0, stdout: /250\.00 +GBP/ })
  t.match(await run('whoami', { SVC_CLIENT_ID, SVC_CLIENT_SECRET }), { code: 0, stdout: /Role +CUSTOMER/ })
  const asId = await run('sandbox customers create -o id')
  t.notMatch(asId.stdout + asId.stderr, /SECRET|customers-key-/, 'a form without the secret says nothing of it')

  const login = startCli(['login', '--customer'], { ...settings, tty: true })
  const agent = new UserAgent(authUrl)
  const person = { email: customer.email, password: customer.password ?? '' }
  const { left } = await throughPages(agent, await agent.open(await addressIn(login)), person)
  await visit(left?.href ?? '')
  t.match(await login.ended, { code: 0, stdout: /Signed in +grace@demo\.example/ })
  t.match(JSON.parse((await run('whoami --customer --json')).stdout), {
    client_id: 'customers-cli',
    subject: customer.id,
    name: customer.email,
  })
  t.match(await run('ob balances'), { code: 0, stdout: /1250\.00 +GBP/ })

  const { stdout: token } = await run('profile token --customer')
  t.match(await run('payments list', { SVC_TOKEN: token.trim() }), {
    code: 5,
    stderr: /unset SVC_TOKEN, .*svc login --realm/,
  })
  t.match(await run('ob accounts', { SVC_TOKEN: (await run('profile token')).stdout.trim() }), {
    code: 5,
    stderr: /unset SVC_TOKEN, .*svc login --customer/,
  })
  t.match(await run('ob accounts', { SVC_TOKEN: `${token.trim().slice(0, -8)}AAAAAAAA` }), {
    code: 4,
    stderr: /unset SVC_TOKEN/,
  })
  t.match(await run(`ob accounts --api-url ${service.url}`, { SVC_TOKEN: '' }), { code: 0 })
})
