import t from 'tap'
import { ensurePlatform } from '../../src/staff/ensure-platform.ts'
import { initPlatform } from '../../src/staff/init-platform.ts'
import { ensureDemoOperator } from '../../src/sandbox/seed-operator.ts'
import { testService, until } from '../support/app.ts'
import { clientCredentials, refresh, signIn } from '../support/identity.ts'
import { takeInvitation } from '../support/sign-in.ts'
import { UserAgent } from '../support/user-agent.ts'

const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
const { app } = service
const REMEMBERED_MS = 12_000
// They wait rather than work.
t.jobs = 4
const STAFF = '/api/v1/admin/staff'
const CLIENTS = '/api/v1/admin/staff-clients'
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
const PASSWORD = 'a password that nobody guesses'
const atAdmin = (email: string) => ({
  authUrl: service.url,
  realm: 'platform',
  clientId: 'platform-portal',
  redirectUri: `${app.publicUrl}/admin/callback`,
  email,
})

t.test('starts that race make the realms and the demo operator once, and it gets a token', async (t) => {
  const made = await Promise.all(Array.from({ length: 4 }, () => ensureDemoOperator(app)))
  t.equal(new Set(made.map((each) => JSON.stringify(each))).size, 1)
  const { client_id: clientId, client_secret: secret, email, password } = made[0] ?? (await ensureDemoOperator(app))
  const { status, body } = await clientCredentials(service.url, { slug: 'platform', server: { clientId, secret } })
  t.equal(status, 200)
  t.match(await service.call('GET', STAFF, bearer(body.access_token)), { status: 200, body: { data: [{ email }] } })
  const cli = { ...atAdmin(email), clientId: 'platform-cli', redirectUri: 'http://127.0.0.1:5000/callback', password }
  const { tokens } = await signIn(cli)
  t.match(await service.call('GET', STAFF, bearer(tokens.access_token)), { status: 200 })
  await Promise.all([ensurePlatform(app), ensurePlatform(app)])
})

t.test("the first OWNER's link sets a password once", async (t) => {
  const own = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
  const { link } = await initPlatform(own.app, { email: 'ada@svc.example', displayName: 'Ada' })
  const agent = new UserAgent(own.url)
  const page = await agent.open(link ?? '')
  await agent.send(page, { password: PASSWORD, repeated: PASSWORD })
  const { tokens } = await signIn({
    ...atAdmin('ada@svc.example'),
    authUrl: own.url,
    clientId: 'platform-cli',
    redirectUri: 'http://127.0.0.1:5000/callback',
    password: PASSWORD,
  })
  t.match(await own.call('GET', STAFF, bearer(tokens.access_token)), {
    status: 200,
    body: { data: [{ email: 'ada@svc.example', role: 'OWNER' }] },
  })
  await t.rejects(initPlatform(own.app, { email: 'ada@svc.example' }), { code: 'USER_EXISTS' })
  t.same((await own.owner.query('select * from mails')).rows, [])
})

t.test('an invited member signs in with the role, until removed', async (t) => {
  const owner = await service.operator('OWNER')
  const { body: bob } = await service.call('POST', STAFF, {
    headers: owner,
    body: { email: 'bob@svc.example', role: 'OPS' },
  })
  await takeInvitation(service, 'bob@svc.example')
  const wish = {
    ...atAdmin('bob@svc.example'),
    clientId: 'platform-cli',
    redirectUri: 'http://127.0.0.1:5000/callback',
  }
  const { tokens } = await signIn(wish)
  const merchants = () => service.call('GET', '/api/v1/admin/merchants', bearer(tokens.access_token))
  t.equal((await merchants()).status, 200)
  t.match(await service.call('GET', STAFF, bearer(tokens.access_token)), {
    status: 403,
    body: { code: 'FORBIDDEN_ROLE' },
  })
  t.equal((await service.call('DELETE', `${STAFF}/${bob.id}`, { headers: owner })).status, 200)
  const cli = { slug: 'platform', portal: 'platform-cli' }
  t.match(await refresh(service.url, cli, tokens.refresh_token), { status: 400, body: { error: 'invalid_grant' } })
  await t.rejects(signIn(wish))
  await until(async () => (await merchants()).status === 401, REMEMBERED_MS)
})

t.test('a revoked client gets no tokens, and its current ones are rejected', async (t) => {
  const headers = await service.operator('OWNER')
  const made = await service.call('POST', CLIENTS, { headers, body: { name: 'nightly', role: 'SUPPORT' } })
  const server = { clientId: made.body.client_id, secret: made.body.client_secret }
  const { body } = await clientCredentials(service.url, { slug: 'platform', server })
  const merchants = () => service.call('GET', '/api/v1/admin/merchants', bearer(body.access_token))
  t.equal((await merchants()).status, 200)
  t.equal((await service.call('DELETE', `${CLIENTS}/${server.clientId}`, { headers })).status, 200)
  t.match(await clientCredentials(service.url, { slug: 'platform', server }), { status: 401 })
  await until(async () => (await merchants()).status === 401, REMEMBERED_MS)
})

t.test('OPS, SUPPORT and merchants cannot manage staff', async (t) => {
  const merchant = await service.merchant()
  const callers = [
    { headers: await service.operator('OPS') },
    { headers: await service.operator('SUPPORT') },
    { merchant },
  ]
  for (const caller of callers) {
    for (const [method, path, body] of [
      ['GET', STAFF],
      ['POST', STAFF, { email: 'x@y.example', role: 'OWNER' }],
      ['PUT', `${STAFF}/x`, { role: 'OWNER' }],
      ['DELETE', `${STAFF}/x`],
      ['GET', CLIENTS],
      ['POST', CLIENTS, { name: 'x', role: 'OWNER' }],
      ['DELETE', `${CLIENTS}/x`],
    ] as const) {
      t.equal((await service.call(method, path, { ...caller, body })).status, 403, `${method} ${path}`)
    }
  }
  t.equal((await service.call('GET', STAFF)).status, 401)
})
