import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { request } from 'undici'
import type { ServiceState } from '../../cli/client/service-state.ts'
import { runCli } from './harness.ts'
import type { Outcome } from './harness.ts'
import { stateDirOf, svc, upDetached } from './service.ts'

/** What the whole story runs against: a service with the embedded provider, and commands for it, run in this process. */
type Story = {
  state: ServiceState
  stateDir: string
  /** As the demo operator and the demo merchant, which svc.json makes ready. */
  run(...words: string[]): Promise<Outcome>
  /** As a client with a secret, as a merchant's server or CI does. */
  runAs(client: Client, ...words: string[]): Promise<Outcome>
}

type Client = { client_id: string; client_secret: string }

async function story(t: Test): Promise<Story> {
  const stateDir = stateDirOf(t)
  const home = t.testdir({})
  const state = await upDetached(stateDir)
  const env = { SVC_STATE_DIR: stateDir, SVC_CONFIG_DIR: home }
  return {
    state,
    stateDir,
    run: (...words) => runCli(words, { env }),
    runAs: (client, ...words) =>
      runCli(words, { env: { ...env, SVC_CLIENT_ID: client.client_id, SVC_CLIENT_SECRET: client.client_secret } }),
  }
}

/** One service for all the stories; the one that ends it comes after those that do not. */
const SHARED = story(t)

/** A token by client_credentials, as any HTTP client asks for it at Keycloak's path. */
async function tokenOf(authUrl: string | null, realm: string, client: Client): Promise<string> {
  const { statusCode, body } = await request(`${authUrl}/realms/${realm}/protocol/openid-connect/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: 'client_credentials', ...client }).toString(),
  })
  const text = await body.text()
  if (statusCode !== 200) throw new Error(`${statusCode} ${text}`)
  return JSON.parse(text).access_token
}

async function createByHttp(apiUrl: string, headers: Record<string, string>, key: string): Promise<number> {
  const { statusCode, body } = await request(`${apiUrl}/api/v1/payments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-idempotency-key': key, ...headers },
    body: JSON.stringify({ amount: '5.00', currency: 'GBP', redirect_uri: 'https://shop.example/return' }),
  })
  await body.dump()
  return statusCode
}

const REGISTER = ['register', '--company', 'Acme Ltd', '--trading-name', 'Acme', '--email', 'ada@acme.example']
const CREATE = ['payments', 'create', '--amount', '50.00', '--currency', 'GBP']

t.test('a merchant registers, is approved by a client of OPS, is paid, is held and is released', async (t) => {
  const { state, stateDir, run, runAs } = await SHARED
  t.equal(state.auth_url, state.api_url)
  t.match(state.operator, { realm: 'platform', role: 'OWNER', client_id: String, client_secret: String, email: /@/ })
  t.match(state.merchant, { realm: 'demo', client_id: 'demo-server', client_secret: String, password: String })

  const registered = await run(...REGISTER, '--json')
  t.equal(registered.code, 0, registered.stderr)
  const acme = JSON.parse(registered.stdout)
  t.match(acme, {
    client_id: 'acme-ltd-server',
    realm_slug: 'acme-ltd',
    kyb_status: 'PENDING',
    issuer: `${state.auth_url}/realms/acme-ltd`,
  })
  t.match(await run(...REGISTER), { code: 7, stderr: /acme-ltd.* is taken/ }, 'its name is taken now')
  t.match(await run('sandbox', 'mail', 'show', '--recipient', 'ada@acme.example', '--links', '--wait', '20s'), {
    code: 0,
    stdout: new RegExp(`^${state.auth_url}/realms/acme-ltd/`),
  })
  t.match(await run('merchants', 'list', '-o', 'id'), { code: 0, stdout: new RegExp(acme.merchant_id) })
  t.match(await run('kyb', 'list', '-o', 'id'), { code: 0, stdout: `${acme.merchant_id}\n` })

  const refused = await runAs(acme, ...CREATE, '--json')
  t.equal(refused.code, 5)
  t.match(JSON.parse(refused.stderr), { error: { code: 'MERCHANT_NOT_APPROVED', status: 403 } })

  const made = await run(
    'credentials',
    'create',
    '--platform',
    '--role',
    'OPS',
    '--name',
    'review',
    '--reason',
    'reviews',
    '--json',
  )
  t.equal(made.code, 0, made.stderr)
  const ops: Client = JSON.parse(made.stdout)
  t.match(await runAs(acme, 'kyb', 'approve', 'acme-ltd', '--reason', 'me'), { code: 5 }, 'no merchant approves itself')
  t.match(await runAs(ops, 'kyb', 'approve', 'acme-ltd', '--reason', 'documents checked', '-q', 'kyb_status'), {
    code: 0,
    stdout: 'APPROVED\n',
  })

  const token = await tokenOf(state.auth_url, 'acme-ltd', {
    client_id: acme.client_id,
    client_secret: acme.client_secret,
  })
  t.equal(await createByHttp(state.api_url, { authorization: `Bearer ${token}` }, 'one'), 201)
  t.equal(await createByHttp(state.api_url, { 'x-merchant-client-id': acme.client_id }, 'two'), 401)
  t.match(await runAs(acme, ...CREATE, '--approve', '--wait', 'Settled', '-q', 'status'), {
    code: 0,
    stdout: 'Settled\n',
  })
  t.match(await run('payments', 'list', '--json'), { code: 0, stdout: '[]\n' }, 'the demo merchant sees none of it')
  t.match(await runAs(ops, 'hold', 'set', acme.merchant_id, '--reason', 'a look at it'), { code: 0 })
  t.match(await runAs(ops, 'hold', 'list', '-o', 'id'), { stdout: `${acme.merchant_id}\n` })
  const held = await runAs(acme, ...CREATE, '--json')
  t.equal(held.code, 5)
  t.match(JSON.parse(held.stderr), { error: { code: 'PAYOUT_HELD', status: 403 } })
  t.match(await runAs(ops, 'hold', 'release', 'acme-ltd', '--reason', 'all well'), { code: 0 })
  t.match(await runAs(acme, ...CREATE), { code: 0 })

  t.match(await runAs(ops, 'audit', 'list'), { code: 5, stderr: /OPS|role/ }, 'the audit trail is for owners')
  const audit = await run('audit', 'list', '--merchant', 'acme-ltd', '--json')
  const done: { actor: string; reason: string }[] = JSON.parse(audit.stdout)
  t.same(
    done.filter(({ actor }) => actor === ops.client_id).map(({ reason }) => reason),
    ['all well', 'a look at it', 'documents checked'],
  )
  t.match(await runAs({ ...acme, client_secret: 'wrong' }, 'payments', 'list'), { code: 4 })

  const log = readFileSync(join(stateDir, 'svc.log'), 'utf8')
  for (const secret of [acme.client_secret, ops.client_secret, state.operator?.client_secret, token])
    t.notOk(log.includes(String(secret)), 'no secret stands in the log')
})

t.test('a merchant manages its own credentials and team, and what was revoked is refused', async (t) => {
  const { run, runAs } = await SHARED
  const made = await run('credentials', 'create', '--name', 'shop', '--json')
  t.equal(made.code, 0, made.stderr)
  const shop: Client = JSON.parse(made.stdout)
  t.match(await runAs(shop, ...CREATE), { code: 0 })
  t.match(await runAs(shop, 'team', 'list'), { code: 5 }, 'payments only')
  t.match(await run('credentials', 'list', '-o', 'id'), { stdout: new RegExp(shop.client_id) })
  const rotated = await run('credentials', 'rotate', shop.client_id, '--json')
  t.match(await runAs(shop, ...CREATE), { code: 4 }, 'the old secret')
  t.match(await runAs(JSON.parse(rotated.stdout), ...CREATE), { code: 0 })
  t.match(await run('credentials', 'revoke', shop.client_id), { code: 0 })
  t.match(await runAs(JSON.parse(rotated.stdout), ...CREATE), { code: 4 })

  t.match(await run('team', 'invite', '--email', 'grace@demo.example', '--role', 'DEVELOPER'), { code: 0 })
  t.match(await run('team', 'role', 'grace@demo.example', 'FINANCE', '-q', 'role'), { code: 0, stdout: 'FINANCE\n' })
  t.match(await run('team', 'remove', 'admin@demo.example'), { code: 7 }, 'the last ADMIN stays')
  t.match(await run('team', 'remove', 'grace@demo.example'), { code: 0 })
  t.match(await run('staff', 'invite', '--email', 'grace@pay.example', '--role', 'SUPPORT', '--reason', 'helps'), {
    code: 0,
  })
  t.match(await run('staff', 'list'), { code: 0, stdout: /grace@pay\.example/ })
  t.match(await run('staff', 'remove', 'grace@pay.example', '--reason', 'left'), { code: 0 })
})

t.test('a listener reads with tokens, while a client for payments only may not', async (t) => {
  const { run, runAs } = await SHARED
  t.match(await run(...CREATE, '--approve', '--wait', 'Settled'), { code: 0 })
  const listen = [
    'listen',
    '--cursor',
    'beginning',
    '--stop-after',
    'payment.settled',
    '--timeout',
    '30s',
    '--print-json',
  ]
  const heard = await run(...listen)
  t.match(heard, { code: 0, stdout: /"payment\.settled"/, stderr: /Listening for events of demo-server/ })
  t.match(heard.stderr, /Signatures are checked with the secret of .*svc\.json/)
  const shop: Client = JSON.parse((await run('credentials', 'create', '--name', 'shop', '--json')).stdout)
  t.match(await runAs(shop, ...listen), { code: 5 })
})

t.test('a suspended or disabled merchant is refused, and comes back', async (t) => {
  const { run } = await SHARED
  t.match(await run('kyb', 'suspend', 'demo', '--reason', 'a test'), { code: 0 })
  t.match(await run(...CREATE), { code: 5, stderr: /SUSPENDED|approved/i })
  t.match(await run('kyb', 'approve', 'demo', '--reason', 'a test'), { code: 7, stderr: /svc kyb reinstate/ })
  t.match(await run('kyb', 'reinstate', 'demo', '--reason', 'a test'), { code: 0 })
  t.match(await run(...CREATE), { code: 0 })
  t.match(await run('merchants', 'disable', 'demo', '--reason', 'a test'), { code: 0 })
  t.not((await run(...CREATE)).code, 0)
  t.match(await run('merchants', 'enable', 'demo', '--reason', 'a test'), { code: 0 })
  t.match(await run(...CREATE), { code: 0 })
})

t.test('scenarios play with real tokens, and a failure prints none of them', async (t) => {
  const { state, run } = await SHARED
  t.match(await run('sandbox', 'run', 'happy-path', 'refund', 'payer-cancels'), { code: 0 })
  const dir = t.testdir({
    'a.yaml': 'scenario: v1\nname: fails\nsteps:\n  - http: { get: /payments/nothing }\n',
  })
  const { code, stdout } = await run('sandbox', 'run', join(dir, 'a.yaml'))
  t.equal(code, 3)
  t.match(stdout, /curl .*authorization: \*\*\*/i)
  t.notMatch(stdout, /Bearer|eyJ/)
  t.notOk(stdout.includes(String(state.operator?.client_secret)))
})

t.test('status shows the provider; a second start keeps every login', async (t) => {
  const { state, stateDir, run } = await SHARED
  t.match(await run('status', '-q', 'identity'), { code: 0, stdout: 'embedded\n' })
  t.match(await run('status'), {
    code: 0,
    stdout: new RegExp(`Identity +embedded, realms at ${state.auth_url}/realms`),
  })
  t.match(await run('down'), { code: 0 })
  const again = await upDetached(stateDir)
  t.same(again.merchant, state.merchant)
  t.same(again.operator, state.operator)
  t.match(await run(...CREATE), { code: 0 })
})

t.test('the banner says logins and steps that work as they are typed', async (t) => {
  const stateDir = stateDirOf(t)
  const { code, stdout, stderr } = await svc(['up', '--port', '0', '--detach'], { env: { SVC_STATE_DIR: stateDir } })
  t.equal(code, 0, stderr)
  const state: ServiceState = JSON.parse(readFileSync(join(stateDir, 'svc.json'), 'utf8'))
  t.match(stdout, `${state.merchant.email} and ${state.merchant.password}`)
  t.match(stdout, `${state.operator?.email} and ${state.operator?.password}`)
  const lines = `${stderr}\n${stdout}`.split('\n')
  // What is as long as it is: the directory of a test's database is longer than that of a user's.
  for (const line of lines.filter((each) => !/^(Database|State) /.test(each))) t.ok(line.length <= 80, line)
  const banner = stderr.slice(stderr.indexOf('Everything runs.'))
  t.ok(banner.split('\n').length + stdout.split('\n').length <= 24, 'a terminal of 24 lines shows all of it')
  t.match(stdout, `Checkout   ${state.api_url}/widget-demo.html\nPayer hub  ${state.api_url}/hub\n`)
  t.match(stdout, `${state.customer?.email} and ${state.customer?.password}, realm customers`)
  t.match(stdout, /\nMerchant .*\nOperator .*\nCustomer .*\n$/, 'the logins come last')
  const typed = stderr.replaceAll(/ \\\n */g, ' ').split('\n')
  const steps = typed.flatMap((line) => /^ {2}npx svc (?<words>.+)$/.exec(line)?.groups?.['words'] ?? [])
  t.ok(steps.length >= 5, stderr)
  for (const step of steps.filter((words) => words !== 'listen')) {
    const words = [...step.matchAll(/"(?<quoted>[^"]*)"|(?<bare>\S+)/g)].map(
      ({ groups }) => groups?.['quoted'] ?? groups?.['bare'] ?? '',
    )
    t.match(await runCli(words, { env: { SVC_STATE_DIR: stateDir } }), { code: 0 }, step)
  }
  t.match(banner, '\nThe console: npx svc. Besides: npx svc inbox, npx svc doctor, npx svc listen\n')
  const url = /Tokens +(?<url>\S+)/.exec(stdout)?.groups?.['url']
  t.equal(url, `${state.auth_url}/realms/demo/protocol/openid-connect/token`)
  t.match(stderr, 'npx svc api /api/v1/whoami\n')
  const [, id = '', secret = ''] = /Server +(\S+) and (\S+)/.exec(stdout) ?? []
  t.ok(await tokenOf(state.auth_url, 'demo', { client_id: id, client_secret: secret }))
})
