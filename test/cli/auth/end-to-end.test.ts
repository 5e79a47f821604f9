import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { ensureDemoMerchant } from '../../../src/sandbox/seed-merchant.ts'
import { ensureDemoOperator } from '../../../src/sandbox/seed-operator.ts'
import { testService } from '../../support/app.ts'
import { ask, throughPages } from '../../support/identity.ts'
import { UserAgent } from '../../support/user-agent.ts'
import { runCli } from '../harness.ts'
import type { CliSettings } from '../harness.ts'
import { writeState } from './fake-identity.ts'
import { addressIn, startCli, visit } from './running.ts'
import type { Running } from './running.ts'

type Login = { email: string; password: string }

/** What `svc up` leaves: a service with the embedded provider, and its svc.json. */
async function setUp(t: Test) {
  const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
  const [merchant, operator] = [await ensureDemoMerchant(service.app), await ensureDemoOperator(service.app)]
  const cwd = t.testdir({})
  const authUrl = service.app.identity.authUrl ?? ''
  writeState(cwd, service.url, { auth_url: authUrl, merchant, operator })
  const env = { SVC_CONFIG_DIR: join(cwd, 'config'), BROWSER: '/bin/true', NO_COLOR: '1' }
  const settings: CliSettings = { env, cwd }
  const admin = { email: merchant.email ?? '', password: merchant.password ?? '' }
  return { service, authUrl, settings, file: join(cwd, 'config', 'credentials.json'), admin, operator }
}

/** Does in a browser what the command asks for, and answers the page that it ends at. */
async function inBrowser(login: Running, authUrl: string, person: Login) {
  const agent = new UserAgent(authUrl)
  return throughPages(agent, await agent.open(await addressIn(login)), person)
}

async function json(words: readonly string[], settings: CliSettings) {
  const { code, stdout, stderr } = await runCli([...words, '--json'], settings)
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${stderr}`)
  return JSON.parse(stdout)
}

t.test('the profile dev just works: the demo merchant for payments, the demo operator for the platform', async (t) => {
  const { settings } = await setUp(t)
  t.match(await json(['whoami'], settings), { kind: 'merchant', realm: 'demo', role: 'ADMIN' })
  t.match(await json(['whoami', '--platform'], settings), { kind: 'platform', realm: 'platform', role: 'OWNER' })
  t.match(await json(['payments', 'list'], settings), [])
  t.match(await runCli(['whoami', '--client-id', 'demo-portal'], settings), { code: 4, stderr: /svc login/ })
})

t.test('a merchant signs in with a browser, works on after the token expired, and signs out', async (t) => {
  const { authUrl, settings, file, admin } = await setUp(t)
  const login = startCli(['login'], { ...settings, tty: true })
  const { left } = await inBrowser(login, authUrl, admin)
  t.match(await visit(left?.href ?? ''), { status: 200, text: /You are signed in/ })
  t.match(await login.ended, { code: 0, stdout: /Signed in +admin@demo\.example/ })
  t.match(await json(['whoami'], settings), { client_id: 'demo-cli', name: admin.email, role: 'ADMIN' })

  const first = JSON.parse(readFileSync(file, 'utf8'))
  const [key = ''] = Object.keys(first.entries)
  const expired = { ...first.entries[key], expires_at: new Date(0).toISOString() }
  writeFileSync(file, JSON.stringify({ version: 1, entries: { [key]: expired } }))
  const both = await Promise.all([runCli(['whoami'], settings), runCli(['payments', 'list'], settings)])
  t.same(
    both.map(({ code }) => code),
    [0, 0],
  )
  const { refresh_token } = JSON.parse(readFileSync(file, 'utf8')).entries[key]
  t.not(refresh_token, expired.refresh_token)

  t.match(await json(['logout'], settings), { profile: 'dev', signed_out: true, revoked: true })
  const replay = await ask(authUrl, 'demo', 'token', {
    grant_type: 'refresh_token',
    client_id: 'demo-cli',
    refresh_token,
  })
  t.match(replay, { status: 400, body: { error: 'invalid_grant' } })
  t.match(await json(['whoami'], settings), { client_id: 'demo-server' })
})

t.test('an operator signs in on another device', async (t) => {
  const { authUrl, settings, operator } = await setUp(t)
  const login = startCli(['login', '--platform', '--device'], settings)
  const done = await inBrowser(login, authUrl, operator)
  t.equal(done.status, 200)
  t.match(await login.ended, { code: 0, stdout: /Signed in +owner@svc\.example/ })
  t.match(await json(['whoami', '--platform'], settings), { client_id: 'platform-cli', role: 'OWNER' })
  t.match(await json(['whoami'], settings), { client_id: 'demo-server' })
})

t.test('a program begins and completes a login', async (t) => {
  const { authUrl, settings, admin } = await setUp(t)
  const begun = await json(['login', '--non-interactive'], settings)
  const agent = new UserAgent(authUrl)
  await throughPages(agent, await agent.open(begun.verification_uri_complete), admin)
  t.equal(begun.next_step, 'svc login --complete --profile dev')
  t.match(await json(['login', '--complete', '--profile', 'dev'], settings), { realm: 'demo', name: admin.email })
})

t.test('a token of one login is taken by another, and a profile is kept for the service', async (t) => {
  const { service, settings } = await setUp(t)
  const { stdout } = await runCli(['profile', 'token'], settings)
  const words = ['login', '--api-url', service.url, '--realm', 'demo', '--profile', 'shop', '--with-token']
  const elsewhere = { ...settings, cwd: '/nowhere' }
  t.match(await runCli(words, { ...elsewhere, stdin: stdout }), { code: 0 })
  t.match(await json(['whoami'], elsewhere), { client_id: 'demo-server', realm: 'demo' })
  t.match(await json(['profile', 'show'], elsewhere), { name: 'shop', realm: 'demo', role: 'ADMIN', signed_in: 'yes' })
})

t.test('a secret that has been replaced is exit code 4', async (t) => {
  const { service, settings } = await setUp(t)
  const { stdout } = await runCli(['profile', 'token'], settings)
  const env = { ...settings.env, SVC_CLIENT_ID: 'demo-server', SVC_CLIENT_SECRET: 'a-wrong-secret' }
  const wrong = await runCli(['whoami', '--api-url', service.url], { ...settings, env })
  t.equal(wrong.code, 4)
  t.match(wrong.stderr, /the secret of demo-server is wrong[^]*Try: check SVC_CLIENT_ID and SVC_CLIENT_SECRET/)
  t.notMatch(wrong.stderr, /a-wrong-secret/)
  const forged = `${stdout.trim().slice(0, -8)}AAAAAAAA`
  t.match(await runCli(['whoami'], { ...settings, env: { ...settings.env, SVC_TOKEN: forged } }), { code: 4 })
})

t.test('a realm that is not there, and one that operators have disabled, are reported as that', async (t) => {
  const { service, settings } = await setUp(t)
  for (const how of [['--device'], []]) {
    const here = { ...settings, tty: true }
    t.match(await runCli(['login', '--realm', 'no-such', ...how], here), {
      code: 6,
      stderr: /realm not found: no-such[^]*Try: svc/,
    })
  }
  await service.app.identity.setRealmEnabled('demo', false)
  t.match(await runCli(['login', '--device'], settings), { code: 5, stderr: /the merchant of realm demo is disabled/ })
  t.match(await runCli(['payments', 'list'], settings), { code: 5, stderr: /Try: ask an operator/ })
})

t.test('a session that the provider has ended is reported, and is no longer signed in', async (t) => {
  const { service, authUrl, settings, file, admin } = await setUp(t)
  const login = startCli(['login'], { ...settings, tty: true })
  const { left } = await inBrowser(login, authUrl, admin)
  await visit(left?.href ?? '')
  t.match(await login.ended, { code: 0 })
  // As after the service was set up anew: it knows neither the signature nor the refresh token.
  await service.owner.query('delete from idp.state')
  writeFileSync(file, readFileSync(file, 'utf8').replace(/("access_token": "[^"]+)[^"]{8}"/, '$1AAAAAAAA"'))
  const { code, stderr } = await runCli(['payments', 'list'], settings)
  t.equal(code, 4)
  t.match(stderr, /your session in realm demo has ended\nTry: svc login --realm demo/)
  t.match((await runCli(['profile', 'list', '--json'], settings)).stdout, /"signed_in":"expired"/)
})
