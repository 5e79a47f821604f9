import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { probe } from '../../cli/service/probe.ts'
import { freePort } from '../support/free-port.ts'
import { ensurePlatform } from '../../src/staff/ensure-platform.ts'
import { testService } from '../support/app.ts'
import { FAKE_SECRET, fakeKeycloak } from '../support/fake-keycloak.ts'
import type { Answerer } from '../support/fake-keycloak.ts'
import { fakeService, runCli } from './harness.ts'

type Checks = Record<string, { state: string; text: string; fix: string | null }>

function checksOf(stdout: string): Checks {
  const { checks } = JSON.parse(stdout)
  return Object.fromEntries(checks.map((each: { check: string }) => [each.check, each]))
}

t.test('a service whose provider is well has no findings', async (t) => {
  const SVC_ENCRYPTION_KEY = randomBytes(32).toString('base64')
  const service = await testService(t, { env: { SVC_IDENTITY: 'embedded', SVC_ENCRYPTION_KEY } })
  const env = { SVC_DATABASE_URL: service.databaseUrl, SVC_ENCRYPTION_KEY, SVC_PUBLIC_URL: service.url }
  const bare = await runCli(['doctor', '--only', 'identity', '--json'], { env })
  t.equal(bare.code, 1)
  t.match(checksOf(bare.stdout)['discovery'], { state: 'finding', fix: /^svc staff bootstrap --email/ })

  await ensurePlatform(service.app)
  const whole = await runCli(['doctor', '--only', 'identity', '--json'], { env })
  t.equal(whole.code, 0, whole.stdout)
  const checks = checksOf(whole.stdout)
  t.same(Object.keys(checks), [
    'provider',
    'health',
    'discovery',
    'keys',
    'customer keys',
    'clock',
    'tls',
    'registrations',
  ])
  for (const [name, { state }] of Object.entries(checks)) t.equal(state, 'ok', name)

  const asked = await runCli(['doctor'], { env: { SVC_API_URL: service.url } })
  t.equal(asked.code, 0, 'by its address alone')
  t.match(asked.stdout, /^registrations +skipped: /m, 'which nobody may read who has not signed in')
})

t.test('without a service, and without an environment that configures one, it looks at this machine', async (t) => {
  const alone = await runCli(['doctor', '--json'])
  t.equal(alone.code, 1)
  t.match(checksOf(alone.stdout), {
    node: { state: 'ok' },
    running: { state: 'finding', text: /no service runs here/, fix: 'svc up' },
    reachable: { state: 'skipped' },
    provider: { state: 'skipped' },
  })
  // With a service that is named: whether somebody listens at the port of svc up is not this test's affair.
  const named = { env: { SVC_API_URL: 'http://127.0.0.1:1' } }
  t.match(await runCli(['doctor', '--only', 'machine', '-q', 'healthy'], named), { code: 0, stdout: 'true\n' })
  // Of a service elsewhere nothing is known here of the database: that is no word on its health.
  const unknown = await runCli(['doctor', '--only', 'database'], named)
  t.match(unknown.stdout, /^Healthy +not known, nothing could be checked: 0 ok, 2 skipped$/m)
  t.match(unknown.stdout, /^reachable +skipped: only its service knows it$/m, 'and why')
  t.match(await runCli(['doctor', '--only', 'database', '-q', 'healthy', '--json'], named), { stdout: 'null\n' })
  t.match(await runCli(['doctor', '--only', 'database', '-o', 'id'], named), { stdout: 'unknown\n' })
  t.match(await runCli(['doctor', '--only', 'everything']), { code: 2, stderr: /machine, service/ })
  t.match(await runCli(['doctor', '--only', 'mail,everything']), { code: 2, stderr: /machine, service/ })
  for (const only of [
    ['--only', 'Mail,machine'],
    ['--only', 'mail', '--only', 'machine'],
  ]) {
    const some = JSON.parse((await runCli(['doctor', ...only, '--json'], named)).stdout).checks
    t.same([...new Set(some.map(({ group }: { group: string }) => group))], ['machine', 'mail'], only.join(' '))
  }
  const SVC_API_URL = `http://127.0.0.1:${await freePort()}`
  const away = await runCli(['doctor', '--json'], { env: { SVC_API_URL } })
  t.equal(away.code, 1)
  t.match(checksOf(away.stdout), {
    running: { state: 'finding', text: /nothing answers/, fix: /^export SVC_API_URL=/ },
    provider: { state: 'skipped' },
  })
})

/** A Keycloak as it is found, looked over with the environment of a service. */
async function lookOver(t: Parameters<typeof fakeKeycloak>[0], answer: Answerer, more: NodeJS.ProcessEnv = {}) {
  const service = await testService(t)
  const keycloak = await fakeKeycloak(t, answer)
  const env = {
    SVC_DATABASE_URL: service.databaseUrl,
    SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    SVC_IDENTITY: 'keycloak',
    SVC_AUTH_URL: keycloak.url,
    SVC_KEYCLOAK_CLIENT_SECRET: FAKE_SECRET,
    ...more,
  }
  const outcome = await runCli(['doctor', '--only', 'identity', '--json'], { env })
  const told = await runCli(['doctor', '--only', 'identity'], { env })
  return {
    ...outcome,
    told: told.stdout,
    checks: outcome.code === 2 ? {} : checksOf(outcome.stdout),
    url: keycloak.url,
  }
}

t.test('each finding is one line, and a command', async (t) => {
  const { code, checks, told } = await lookOver(
    t,
    ({ path }, res) => {
      res.setHeader('date', new Date(Date.now() - 60_000).toUTCString())
      if (path.endsWith('/openid-configuration'))
        return { status: 200, json: { issuer: 'https://id.example.com/realms/platform' } }
      if (path.endsWith('/certs')) return { status: 200, json: { keys: [{ kty: 'RSA', alg: 'RS256', use: 'sig' }] } }
      return { status: 200, json: {} }
    },
    { SVC_PUBLIC_URL: 'https://pay.example' },
  )
  t.equal(code, 1)
  t.match(checks, {
    health: { state: 'ok' },
    discovery: { state: 'finding', fix: 'export SVC_AUTH_URL=https://id.example.com' },
    keys: { state: 'finding', text: /no PS256 key/, fix: /^kcadm\.sh create components -r platform/ },
    'customer keys': { state: 'finding', text: /no PS256 key/, fix: /^kcadm\.sh create components -r customers/ },
    clock: { state: 'finding', text: /behind this machine/, fix: /^timedatectl/ },
    tls: { state: 'finding', fix: /^export SVC_AUTH_URL=https:/ },
    registrations: { state: 'ok', text: 'none needs attention' },
  })
  t.equal(told.match(/FINDING: /g)?.length, 5)
})

t.test('a Keycloak that rejects the client is distinguished from one that is away', async (t) => {
  const refused = await lookOver(t, () => ({ status: 404 }), { SVC_KEYCLOAK_CLIENT_SECRET: 'c4n4ry-wrong' })
  t.equal(refused.code, 1)
  t.match(refused.checks['health'], { state: 'finding', fix: 'sh examples/keycloak/set-up.sh' })
  t.match(refused.checks['discovery'], { state: 'finding', fix: /^svc staff bootstrap/ })
  t.notMatch(refused.stdout, 'c4n4ry', 'without its secret')

  const url = `http://127.0.0.1:${await freePort()}`
  const away = await lookOver(t, () => ({ status: 200, json: {} }), { SVC_AUTH_URL: url })
  t.equal(away.code, 1)
  t.match(away.checks, {
    discovery: { state: 'finding', text: /nothing answers/, fix: `curl -i ${url}/realms/master` },
    clock: { state: 'skipped' },
    keys: { state: 'skipped' },
  })
})

t.test('a service that runs is believed about what it can reach', async (t) => {
  const { url } = await fakeService(t, ({ path }) => {
    const info = { name: 'svc', version: '0.1.0', platform_realm: 'platform', customers_realm: 'customers' }
    if (path === '/api/v1/service')
      return { json: { ...info, mode: 'sandbox', identity: 'keycloak', auth_url: 'http://127.0.0.1:1' } }
    return { json: { status: 'ready', identity: 'away' } }
  })
  const { code, stdout } = await runCli(['doctor', '--only', 'identity', '--json'], { env: { SVC_API_URL: url } })
  t.equal(code, 1)
  t.match(checksOf(stdout)['health'], { state: 'finding', text: /is not let in/ })
})

t.test('a server that sends no Date is asked the hour by a token', async (t) => {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const server = createServer((req, res) => {
    res.sendDate = false
    const shift = Number(new URL(req.url ?? '', 'http://here').searchParams.get('shift'))
    const iat = Math.floor(Date.now() / 1000) + shift
    res.end(JSON.stringify(req.method === 'POST' ? { access_token: `${part({})}.${part({ iat })}.x` } : {}))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => void server.close())
  // Listening on a port, so it has one.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.match(await probe(url), { status: 200, aheadMs: undefined })
  t.match(await probe(url, {}), { status: 200, aheadMs: 0 })
  const behind = await probe(`${url}/?shift=-60`, {})
  t.ok(behind.status === 200 && behind.aheadMs !== undefined && behind.aheadMs < -58_000)
  const asked = performance.now()
  const ahead = await probe(`${url}/?shift=60`, {})
  const least = 58_000 - (performance.now() - asked)
  t.ok(ahead.status === 200 && ahead.aheadMs !== undefined && ahead.aheadMs > least)
})
