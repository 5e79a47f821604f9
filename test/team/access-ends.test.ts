import t from 'tap'
import type { Answer, TestMerchant } from '../support/app.ts'
import { testService, until } from '../support/app.ts'
import { clientCredentials, refresh } from '../support/identity.ts'
import { merchantWithPortal, portalTokens, takeInvitation } from '../support/sign-in.ts'

/*
 * The whole way with real tokens: who is invited gets in, and who is removed, demoted or revoked gets out. A process
 * remembers callers for ten seconds, so what is refused may take that long.
 */
const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
const REMEMBERED_MS = 12_000
// They wait rather than work.
t.jobs = 4
const TEAM = '/api/v1/portal/team'
const CREDENTIALS = '/api/v1/portal/api-credentials'

const as = (token: string, method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<Answer> =>
  service.call(method, path, { headers: { authorization: `Bearer ${token}` }, body })

const tokenOf = (merchant: TestMerchant, clientId: string, secret: string) =>
  clientCredentials(service.url, { slug: merchant.realm, server: { clientId, secret } })

t.test(
  'a credential gets tokens and has its role; a revoked one gets none, and its current ones are rejected',
  async (t) => {
    const merchant = await merchantWithPortal(service)
    const made = await service.call('POST', CREDENTIALS, { merchant, body: { name: 'ci', role: 'DEVELOPER' } })
    t.match(made, {
      status: 201,
      body: { token_endpoint: `${service.url}/realms/${merchant.realm}/protocol/openid-connect/token` },
    })
    const { client_id: clientId, client_secret: secret } = made.body
    const { status, body } = await tokenOf(merchant, clientId, secret)
    t.equal(status, 200)
    const token: string = body.access_token
    t.equal((await as(token, 'GET', '/api/v1/payments')).status, 200)
    t.match(await as(token, 'GET', TEAM), { status: 403, body: { code: 'FORBIDDEN_ROLE' } })
    t.match(
      await as(token, 'POST', CREDENTIALS, { name: 'more', role: 'ADMIN' }),
      { status: 403 },
      'nor makes more of them',
    )
    t.equal((await service.call('DELETE', `${CREDENTIALS}/${clientId}`, { merchant })).status, 200)
    t.match(await tokenOf(merchant, clientId, secret), { status: 401 })
    const refused = await until(async () => {
      const answer = await as(token, 'GET', '/api/v1/payments')
      return answer.status === 401 ? answer : undefined
    }, REMEMBERED_MS)
    t.match(refused.body, { code: 'UNAUTHENTICATED' })
  },
)

t.test('a credential without a role is for payments and nothing else', async (t) => {
  const merchant = await merchantWithPortal(service)
  const { body } = await service.call('POST', CREDENTIALS, { merchant, body: { name: 'shop' } })
  const token: string = (await tokenOf(merchant, body.client_id, body.client_secret)).body.access_token
  t.equal((await as(token, 'GET', '/api/v1/payments')).status, 200)
  t.match(await as(token, 'GET', '/api/v1/portal/webhook-endpoint'), { status: 403 })
  t.match(await as(token, 'GET', CREDENTIALS), { status: 403 })
})

t.test('a rotated secret gets tokens, and the one before gets none', async (t) => {
  const merchant = await merchantWithPortal(service)
  const path = `${CREDENTIALS}/${merchant.clientId}/rotate`
  const { status, body } = await service.call('POST', path, { merchant })
  t.equal(status, 200)
  t.match(await tokenOf(merchant, merchant.clientId, merchant.clientSecret), { status: 401 })
  t.match(await tokenOf(merchant, merchant.clientId, body.client_secret), { status: 200 })
})

t.test('an accepted invitation signs in with the role, until removed', async (t) => {
  const merchant = await merchantWithPortal(service)
  await service.call('POST', TEAM, { merchant, body: { email: 'ada@acme.example', role: 'ADMIN' } })
  const { body: bob } = await service.call('POST', TEAM, {
    merchant,
    body: { email: 'bob@acme.example', role: 'ADMIN' },
  })
  await takeInvitation(service, 'ada@acme.example')
  await takeInvitation(service, 'bob@acme.example')
  const tokens = await portalTokens(service, merchant.realm, 'bob@acme.example')
  t.match(await as(tokens.access_token, 'GET', TEAM), { status: 200, body: { data: [{}, { id: bob.id }] } })
  t.match(await as(tokens.access_token, 'POST', TEAM, { email: 'cat@acme.example', role: 'FINANCE' }), {
    status: 201,
    body: { invited_by: 'bob@acme.example' },
  })
  t.match(await service.call('POST', TEAM, { merchant, body: { email: 'bob@acme.example', role: 'ADMIN' } }), {
    status: 409,
    body: { code: 'USER_EXISTS' },
  })
  t.equal((await service.call('DELETE', `${TEAM}/${bob.id}`, { merchant })).status, 200)
  const portal = { slug: merchant.realm, portal: `${merchant.realm}-portal` }
  t.match(await refresh(service.url, portal, tokens.refresh_token), { status: 400, body: { error: 'invalid_grant' } })
  await t.rejects(portalTokens(service, merchant.realm, 'bob@acme.example'), 'the password is worth nothing any more')
  await until(async () => (await as(tokens.access_token, 'GET', TEAM)).status === 401, REMEMBERED_MS)
  t.match(await service.call('POST', TEAM, { merchant, body: { email: 'bob@acme.example', role: 'FINANCE' } }), {
    status: 201,
    body: { role: 'FINANCE' },
  })
})

t.test('a demotion holds while the token still says more', async (t) => {
  const merchant = await merchantWithPortal(service)
  await service.call('POST', TEAM, { merchant, body: { email: 'ada@b.example', role: 'ADMIN' } })
  const { body: bob } = await service.call('POST', TEAM, { merchant, body: { email: 'bob@b.example', role: 'ADMIN' } })
  await takeInvitation(service, 'ada@b.example')
  await takeInvitation(service, 'bob@b.example')
  const { access_token: token } = await portalTokens(service, merchant.realm, 'bob@b.example')
  t.equal((await as(token, 'GET', TEAM)).status, 200)
  await service.call('PUT', `${TEAM}/${bob.id}`, { merchant, body: { role: 'DEVELOPER' } })
  const refused = await until(async () => {
    const answer = await as(token, 'GET', TEAM)
    return answer.status === 403 ? answer : undefined
  }, REMEMBERED_MS)
  t.match(refused.body, { code: 'FORBIDDEN_ROLE' })
  t.equal((await as(token, 'GET', '/api/v1/payments')).status, 200)
})

t.test('DEVELOPER and FINANCE have no say over team and credentials', async (t) => {
  for (const role of ['DEVELOPER', 'FINANCE'] as const) {
    const merchant = await service.merchant({ serverRole: role })
    for (const [method, path, body] of [
      ['GET', TEAM],
      ['POST', TEAM, { email: 'x@y.example', role: 'ADMIN' }],
      ['PUT', `${TEAM}/x`, { role: 'ADMIN' }],
      ['DELETE', `${TEAM}/x`],
      ['GET', CREDENTIALS],
      ['POST', CREDENTIALS, { name: 'x', role: 'ADMIN' }],
      ['POST', `${CREDENTIALS}/${merchant.clientId}/rotate`],
      ['DELETE', `${CREDENTIALS}/x`],
    ] as const) {
      const answer = await service.call(method, path, { merchant, body })
      t.match(answer, { status: 403, body: { code: 'FORBIDDEN_ROLE' } }, `${role} ${method} ${path}`)
    }
  }
})
