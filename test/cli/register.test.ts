import t from 'tap'
import type { Test } from 'tap'
import { fakeAdmin } from './admin-harness.ts'
import { fakeService, refusal, runCli, serviceInfo } from './harness.ts'
import type { Request } from './harness.ts'

const REGISTER = ['register', '--company', 'Acme Ltd', '--trading-name', 'Acme', '--email', 'ada@acme.example']

function registered(more: object = {}): Record<string, unknown> {
  return {
    merchant_id: '01a1fd03-f879-7eb7-872f-a2b4358c4f6d',
    client_id: 'acme-ltd-server',
    client_secret: null,
    realm_slug: 'acme-ltd',
    kyb_status: 'PENDING',
    issuer: null,
    webhook_signing_secret: 'wh-secret',
    warnings: [],
    ...more,
  }
}

type Kyb = 'PENDING' | 'APPROVED' | 'SUSPENDED'

/** A service with an identity provider, whose operators take this many questions to decide. */
async function provider(
  t: Test,
  decided: { to: Kyb; afterAsked: number },
): Promise<{ url: string; requests: Request[] }> {
  let asked = 0
  const { url, requests } = await fakeService(t, ({ path, headers }) => {
    const base = `http://${headers.host}`
    if (path.endsWith('/register'))
      return { status: 201, json: registered({ client_secret: 'cl-secret', issuer: `${base}/realms/acme-ltd` }) }
    if (path === '/api/v1/service') return { json: serviceInfo({ identity: 'embedded' }) }
    if (path.endsWith('/token')) return { json: { access_token: 'tok-1', token_type: 'Bearer', expires_in: 900 } }
    asked += 1
    return { json: whoami(asked > decided.afterAsked ? decided.to : 'PENDING') }
  })
  return { url, requests }
}

function whoami(kyb: Kyb): Record<string, unknown> {
  return {
    kind: 'merchant',
    realm: 'acme-ltd',
    client_id: 'acme-ltd-server',
    subject: 's',
    name: 'acme-ltd-server',
    role: 'ADMIN',
    permissions: [],
    merchant: { id: '01a1fd03-f879-7eb7-872f-a2b4358c4f6d', trading_name: 'Acme', kyb_status: kyb, is_active: true },
    expires_at: null,
  }
}

t.test('register sends what the flags say, and prints every secret once with the next steps', async (t) => {
  const { url, requests } = await provider(t, { to: 'PENDING', afterAsked: 0 })
  const { code, stdout, stderr } = await runCli([...REGISTER, '--api-url', url])
  t.equal(code, 0)
  t.same(
    requests
      .filter(({ path }) => path !== '/api/v1/service')
      .map(({ method, path, body }) => ({ method, path, body: JSON.parse(body) })),
    [
      {
        method: 'POST',
        path: '/api/v1/portal/register',
        body: { company_name: 'Acme Ltd', trading_name: 'Acme', admin_email: 'ada@acme.example' },
      },
    ],
  )
  t.equal(requests[0]?.headers.authorization, undefined, 'anybody may register')
  t.match(stdout, /Client secret +cl-secret\nWebhook secret +wh-secret\n/)
  t.match(stderr, /svc .*mail show --recipient ada@acme\.example --links[^]*svc .*kyb approve acme-ltd --reason/)
  t.notMatch(stderr, /cl-secret|wh-secret/, 'remarks hold no secret')
  t.match(stderr, `curl -s ${url}/realms/acme-ltd/protocol/openid-connect/token -d grant_type=client_credentials`)
})

t.test('for programs there is JSON and nothing else; -o id prints the id', async (t) => {
  const admin = await fakeAdmin(t, () => ({ status: 201, json: registered() }))
  const { stdout, stderr } = await admin.run([...REGISTER, '--json'])
  t.same(JSON.parse(stdout), registered())
  t.equal(stderr, '')
  t.match(await admin.run([...REGISTER, '-o', 'id']), { stdout: '01a1fd03-f879-7eb7-872f-a2b4358c4f6d\n' })
})

t.test('without an identity provider it says so by having no client secret', async (t) => {
  const admin = await fakeAdmin(t, () => ({ status: 201, json: registered() }))
  const { stdout, stderr } = await admin.run(REGISTER)
  t.notMatch(stdout, /Client secret/)
  t.match(stderr, /svc .*payments create .* --client-id acme-ltd-server/)
})

t.test('a name that is taken is exit code 7, a wrong address 2, too many 8', async (t) => {
  for (const [status, code, exit] of [
    [409, 'REALM_EXISTS', 7],
    [400, 'VALIDATION_FAILED', 2],
    [429, 'RATE_LIMITED', 8],
  ] as const) {
    const admin = await fakeAdmin(t, () => refusal(status, code))
    t.match(await admin.run(REGISTER), { code: exit }, code)
  }
  const admin = await fakeAdmin(t, () => ({ status: 201, json: registered() }))
  t.match(await admin.run(REGISTER.slice(0, 5)), { code: 2, stderr: /--email/ })
  t.match(await admin.run([...REGISTER, '--dry-run']), { code: 0, stdout: /Would send/ })
  t.match(await admin.run([...REGISTER.slice(0, 6), 'nobody', '--dry-run']), { code: 2, stderr: /e-mail address/ })
  t.same(admin.writes(), [])
})

t.test("--wait-kyb asks with the merchant's own token until it is approved", async (t) => {
  const { url, requests } = await provider(t, { to: 'APPROVED', afterAsked: 2 })
  const { code, stdout, stderr } = await runCli([...REGISTER, '--wait-kyb', '--api-url', url])
  t.equal(code, 0)
  t.match(stdout, /cl-secret/)
  t.match(stderr, /Approved/)
  const asked = requests.filter(({ path }) => path === '/api/v1/whoami')
  t.equal(asked.length, 3)
  t.ok(asked.every(({ headers }) => headers.authorization === 'Bearer tok-1'))
  t.equal(requests.filter(({ path }) => path.endsWith('/token')).length, 1)
})

t.test(
  '--wait-kyb ends with 3 when it is refused and with 9 when time is over; the secrets are printed before',
  async (t) => {
    const refused = await provider(t, { to: 'SUSPENDED', afterAsked: 0 })
    const one = await runCli([...REGISTER, '--wait-kyb', '--json', '--api-url', refused.url])
    t.equal(one.code, 3)
    t.match(JSON.parse(one.stdout), { client_secret: 'cl-secret' })
    t.match(JSON.parse(one.stderr), { error: { code: 'KYB_REFUSED', merchant_id: /^01a1/ } })
    const silent = await provider(t, { to: 'PENDING', afterAsked: 0 })
    const two = await runCli([...REGISTER, '--wait-kyb', '--timeout', '300ms', '--api-url', silent.url])
    t.match(two, { code: 9, stdout: /cl-secret/, stderr: /still PENDING after 300ms/ })
  },
)

t.test('the steps that come next go to the service that was named', async (t) => {
  const { url } = await provider(t, { to: 'PENDING', afterAsked: 0 })
  const { stderr } = await runCli([...REGISTER, '--api-url', url, '--state-dir', '/srv/svc'])
  const steps = stderr.split('\n').filter((line) => line.startsWith('  svc '))
  t.equal(steps.length, 4)
  for (const step of steps) t.ok(step.startsWith(`  svc --api-url ${url} --state-dir /srv/svc `), step)
})

t.test('live mode keeps no mail to be read here', async (t) => {
  const issuer = 'https://pay.example/realms/acme-ltd'
  const live = await fakeAdmin(t, () => ({ status: 201, json: registered({ client_secret: 's', issuer }) }), {
    mode: 'live',
  })
  const { code, stderr } = await live.run(REGISTER)
  t.equal(code, 0)
  t.match(stderr, /ada@acme\.example is invited by mail\.\n/)
  t.notMatch(stderr, /sandbox|mail show/)
})
