import { createServer } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { packageVersion } from '../../src/lib/package-root.ts'
import { freePort } from '../support/free-port.ts'
import { fakeService, refusal, runCli } from './harness.ts'
import type { Answer, Request } from './harness.ts'

type Checks = Record<string, { state: string; group: string; text: string; fix: string | null }>

const INFO = { name: 'svc', version: packageVersion(), mode: 'sandbox', identity: 'none', auth_url: null }
const SERVICE = { ...INFO, platform_realm: 'platform', customers_realm: 'customers' }

/** A service in the place of a real one; `answer` says what is another way than well. */
async function serviceWith(t: Test, answer: (request: Request) => Answer | undefined): Promise<string> {
  const { url } = await fakeService(t, (request) => {
    const own = answer(request)
    if (own !== undefined) return own
    if (request.path === '/api/v1/service') return { json: SERVICE }
    if (request.path === '/readyz') return { json: { status: 'ready', database: 'reachable' } }
    return refusal(404, 'NOT_FOUND')
  })
  return url
}

async function lookOver(url: string, only: string, more: NodeJS.ProcessEnv = {}): Promise<Checks> {
  const { stdout } = await runCli(['doctor', '--only', only, '--json'], { env: { SVC_API_URL: url, ...more } })
  return Object.fromEntries(JSON.parse(stdout).checks.map((each: { check: string }) => [each.check, each]))
}

t.test('what HTTP shows of a service that is not well', async (t) => {
  const date = new Date(Date.now() + 90_000).toUTCString()
  const url = await serviceWith(t, ({ path }) => {
    if (path === '/api/v1/service') return { json: SERVICE, headers: { date } }
    return path === '/readyz' ? { status: 503, json: { status: 'not_ready', database: 'unreachable' } } : undefined
  })
  t.match(await lookOver(url, 'service'), {
    running: { state: 'ok', text: `svc ${packageVersion()} in sandbox mode` },
    ready: { state: 'finding', text: /database is unreachable/ },
    'service clock': { state: 'finding', text: /\d\d s ahead of this machine/, fix: 'timedatectl set-ntp true' },
    'api tls': { state: 'ok' },
    worker: { state: 'skipped' },
  })
  const standby = await serviceWith(t, ({ path }) =>
    path === '/readyz' ? { status: 503, json: { status: 'not_ready', database: 'read_only' } } : undefined,
  )
  t.match((await lookOver(standby, 'service'))['ready'], { state: 'finding', text: /takes no changes/, fix: /^psql / })
  const reached = await lookOver(url.replace('127.0.0.1', '0.0.0.0'), 'service')
  t.match(reached['api tls'], { state: 'finding', fix: /^export SVC_API_URL=https:\/\/0\.0\.0\.0:/ })
})

t.test(
  'a service of another version is remarked, by status too, and the words for no token tell who has to sign in',
  async (t) => {
    const own = packageVersion().replaceAll('.', '\\.')
    const authUrl = 'http://127.0.0.1:9/auth'
    const url = await serviceWith(t, ({ path }) => {
      return path === '/api/v1/service'
        ? { json: { ...SERVICE, version: '9.0.0', identity: 'embedded', auth_url: authUrl } }
        : undefined
    })
    const { running } = await lookOver(url, 'service')
    t.match(running, {
      state: 'remark',
      text: new RegExp(`svc 9\\.0\\.0 [^]*this command line is ${own}`),
      fix: /svc 9\.0\.0/,
    })
    const env = { SVC_API_URL: url }
    t.match(
      (await runCli(['status'], { env })).stdout,
      new RegExp(`Version of svc +${own}; the service is 9\\.0\\.0\\n`),
    )
    t.equal((await runCli(['status', '-q', 'service_version'], { env })).stdout, '9.0.0\n')
    t.match(await runCli(['profile', 'token'], { env }), {
      code: 4,
      stdout: '',
      stderr: /^Error: not signed in[^]*Try: svc .*login/,
    })
    t.match(await runCli(['profile', 'token', '--customer'], { env }), {
      code: 4,
      stderr: /svc (--api-url \S+ )?login --customer/,
    })
    const none = await serviceWith(t, () => undefined)
    t.match(await runCli(['profile', 'token'], { env: { SVC_API_URL: none, SVC_CLIENT_ID: 'acme' } }), {
      code: 7,
      stderr: /no tokens/,
    })
  },
)

t.test('an address of something else, and of nothing that says a word', async (t) => {
  const url = await serviceWith(t, () => ({ json: { hello: 'world' } }))
  t.match(await lookOver(url, 'service'), { running: { state: 'finding', text: /is not svc/ } })

  const mute = createServer(() => undefined)
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
  t.teardown(() => void mute.close())
  const address = mute.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const silent = await runCli(['doctor', '--json'], { env: { SVC_API_URL: `http://127.0.0.1:${port}` } })
  t.equal(silent.code, 1)
  const { checks } = JSON.parse(silent.stdout)
  t.ok(checks.length > 12, 'everything is told all the same')
  t.same(
    checks.filter(({ state }: { state: string }) => state === 'finding').map(({ check }: { check: string }) => check),
    ['running'],
  )
  const database = { SVC_DATABASE_URL: `postgres://ada:c4n4ry@127.0.0.1:${port}/x`, SVC_ENCRYPTION_KEY: 'k' }
  const configured = await runCli(['doctor', '--only', 'database', '--json'], { env: database })
  t.match(configured, { code: 1, stdout: /"check":"reachable","group":"database","state":"finding"/ })
  t.notMatch(configured.stdout, 'c4n4ry')
})

t.test('no worker, DEAD deliveries and endpoints that have gone, as an operator may see them', async (t) => {
  const delivery = (slug: string, index: number, status: number) => ({
    id: `01a1fd03-0000-7eb7-872f-a2b4358c${String(index).padStart(4, '0')}`,
    realm_slug: slug,
    trading_name: slug,
    merchant_id: '01a1fd03-f879-7eb7-872f-a2b4358c4f6d',
    last_http_status: status,
  })
  const dead = [delivery('acme', 1, 500), delivery('acme', 2, 500), delivery('gone-ltd', 3, 410)]
  const counted = { pending: 0, dead: 3, oldest_due_at: null }
  const disputes = { open: 0, under_review: 0, escalated: 0, oldest_open_at: null, next_evidence_due_at: null }
  const names = ['Initiated', 'AwaitingAuthorisation', 'Authorised', 'Settled', 'Failed', 'Refunded']
  const overview = {
    as_of: '2026-11-21T09:30:00.000Z',
    payments: {
      by_status: Object.fromEntries(names.map((name) => [name, 0])),
      per_minute: Array.from({ length: 60 }, () => 0),
    },
    money_today: [],
    kyb: { pending: 0, oldest_pending_at: null },
    deliveries: counted,
    disputes,
    worker: { lag_ms: 600_000 },
  }
  let mode = 'live'
  const url = await serviceWith(t, ({ path }) => {
    if (path === '/api/v1/service') return { json: { ...SERVICE, mode } }
    if (path === '/api/v1/admin/overview') return { json: overview }
    if (path.startsWith('/api/v1/admin/outbox'))
      return { json: { data: dead.map(wholeDelivery), has_more: false, next_cursor: null } }
    return undefined
  })
  t.match((await lookOver(url, 'service'))['worker'], { state: 'finding', text: /10 min/, fix: 'svc worker' })
  t.match(await lookOver(url, 'webhooks'), {
    'dead deliveries': {
      state: 'finding',
      text: /^2 of acme, of 3/,
      fix: 'svc webhooks replay --status DEAD --merchant acme',
    },
    endpoints: { state: 'finding', text: /gone-ltd has answered 410/, fix: 'svc merchants show gone-ltd' },
  })
  mode = 'sandbox'
  const inSandbox = await lookOver(url, 'webhooks')
  t.match(inSandbox['dead deliveries'], {
    state: 'remark',
    text: /^2 of acme/,
    fix: /^svc webhooks replay --status DEAD --merchant/,
  })
  t.match(inSandbox['endpoints'], { state: 'finding' }, 'an endpoint that has gone is one there, too')
})

function wholeDelivery(part: object): object {
  const at = '2026-11-21T09:30:00.000Z'
  return {
    event_id: 'evt_1',
    event_type: 'payment.settled',
    payment_id: null,
    status: 'DEAD',
    attempt_count: 6,
    next_retry_at: null,
    last_error: 'http_500',
    delivered_at: null,
    created_at: at,
    ...part,
  }
}

t.test('a configuration that is incomplete', async (t) => {
  const env = { SVC_DATABASE_URL: 'postgres://ada:c4n4ry@127.0.0.1:1/x' }
  const half = await runCli(['doctor', '--json'], { env })
  t.equal(half.code, 1)
  t.notMatch(half.stdout, 'c4n4ry')
  const fix = 'export SVC_ENCRYPTION_KEY=<value>'
  const configuration = JSON.parse(half.stdout).checks.find(({ check }: { check: string }) => check === 'configuration')
  t.match(configuration, { state: 'finding', text: /SVC_ENCRYPTION_KEY: is missing/, fix })
  const whole = { ...env, SVC_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'), SVC_PORT: String(await freePort()) }
  const { stdout } = await runCli(['doctor', '--only', 'service', '--json'], { env: whole })
  t.match(stdout, /"check":"running"[^}]*"fix":"svc serve"/)
})
