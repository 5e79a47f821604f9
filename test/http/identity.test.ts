import { randomUUID } from 'node:crypto'
import t from 'tap'
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes.ts'
import { clientIdsOf } from '../../src/lib/realms.ts'
import { hasBody } from '../../src/wire/operation.ts'
import type { Answer } from '../support/app.ts'
import { createPayment, testService, until } from '../support/app.ts'
import { rawRequest } from '../support/raw-http.ts'
import { serviceWithRealms, endingPath } from '../support/realms.ts'

const { service, idp, person, operator, automation } = await serviceWithRealms(t)
const merchant = await service.merchant()
const open = await testService(t, { env: { SVC_IDENTITY: 'none' } })
const openMerchant = await open.merchant()

const OPERATIONS = [...ROUTES, ...SANDBOX_ROUTES].map((row) => row.operation)
const asksForCaller = OPERATIONS.filter(({ access }) =>
  access.some((kind) => ['merchant', 'platform', 'sandbox'].includes(kind)),
)

t.test('with a provider, every operation with a caller requires a token, and no header replaces it', async (t) => {
  const headers: Record<string, string>[] = [
    {},
    { 'x-merchant-client-id': merchant.clientId },
    { 'x-platform-user': 'ada' },
    { 'x-merchant-client-id': merchant.clientId, 'x-platform-user': 'ada', 'x-customer-id': '1' },
    { authorization: `Basic ${Buffer.from(`${merchant.clientId}:${merchant.clientSecret}`).toString('base64')}` },
  ]
  for (const operation of asksForCaller) {
    for (const given of headers) {
      const answer = await service.call(operation.method, endingPath(operation), {
        headers: given,
        ...(hasBody(operation) ? { body: {} } : {}),
      })
      t.match(answer, { status: 401, body: { code: 'UNAUTHENTICATED' } }, `${operation.name} ${Object.keys(given)}`)
      t.equal(answer.headers['www-authenticate'], 'Bearer', 'and says how to prove oneself')
    }
  }
})

t.test('an invalid token is rejected as in RFC 6750, by every operation alike', async (t) => {
  const bodies = new Set<string>()
  for (const operation of asksForCaller) {
    const answer = await service.call(operation.method, endingPath(operation), {
      headers: { authorization: 'Bearer abc.def.ghi', 'x-merchant-client-id': merchant.clientId },
      ...(hasBody(operation) ? { body: {} } : {}),
    })
    t.match(answer, { status: 401, body: { code: 'UNAUTHENTICATED' } }, operation.name)
    t.equal(answer.headers['www-authenticate'], 'Bearer error="invalid_token"')
    bodies.add(JSON.stringify({ ...answer.body, request_id: '' }))
  }
  t.equal(bodies.size, 1)
  const expired = { iat: 1_700_000_000, exp: 1_700_000_900 }
  const answer = await service.call('GET', '/api/v1/payments', { headers: person(merchant, { claims: expired }) })
  t.match(answer, { status: 401, body: { code: 'TOKEN_EXPIRED' } })
  t.equal(answer.headers['www-authenticate'], 'Bearer error="invalid_token"')
})

t.test("a merchant's server works with its token: create, read, list", async (t) => {
  const created = await createPayment(service, merchant)
  t.equal(created.status, 201)
  const { body } = await service.call('GET', `/api/v1/payments/${created.body.payment_id}`, { merchant })
  t.equal(body.payment_id, created.body.payment_id)
  t.match((await service.call('GET', '/api/v1/payments', { merchant })).body.data.length, 1)
})

t.test('the scheme has no case, and the token comes once', async (t) => {
  const token = person(merchant, { roles: ['ADMIN'] })['authorization']?.slice('Bearer '.length) ?? ''
  const statusOf = async (authorization: string): Promise<number> =>
    (await service.call('GET', '/api/v1/payments', { headers: { authorization } })).status
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer  ']) t.equal(await statusOf(`${scheme} ${token}`), 200)
  for (const wrong of [
    token,
    `Bearer${token}`,
    `Token ${token}`,
    `Bearer ${token}, Bearer ${token}`,
    `Bearer ${token} x`,
  ])
    t.equal(await statusOf(wrong), 401)
  const twice = await rawRequest(
    service.app.config.port,
    `GET /api/v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nauthorization: Bearer abc\r\nConnection: close\r\n\r\n`,
  )
  t.match(twice.text, /^HTTP\/1.1 401 /)
  const once = await rawRequest(
    service.app.config.port,
    `GET /api/v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`,
  )
  t.match(once.text, /^HTTP\/1.1 200 /)
})

t.test('whoami returns the identity and permissions of people and programs', async (t) => {
  const subject = randomUUID()
  const asPerson = person(merchant, { subject, roles: ['FINANCE'], claims: { email: 'fin@acme.example' } })
  const { body } = await service.call('GET', '/api/v1/whoami', { headers: asPerson })
  t.match(body, {
    kind: 'merchant',
    realm: merchant.realm,
    client_id: clientIdsOf(merchant.realm).portal,
    subject,
    name: 'fin@acme.example',
    role: 'FINANCE',
    permissions: ['read payments', 'refund payments'],
    merchant: { id: merchant.id, trading_name: 'Acme', kyb_status: 'APPROVED', is_active: true },
  })
  t.ok(Date.parse(body.expires_at) > Date.now())
  const program = await service.call('GET', '/api/v1/whoami', { merchant })
  t.match(program.body, { name: merchant.clientId, role: 'ADMIN', client_id: merchant.clientId })
  const { body: ops } = await service.call('GET', '/api/v1/whoami', { headers: await automation('OPS') })
  t.match(ops, { kind: 'platform', realm: 'platform', role: 'OPS', merchant: null })
  t.same(ops.permissions, ['read merchants', 'operate merchants', 'operate sandbox'])
})

t.test('the settings for signing in need no credentials', async (t) => {
  t.match((await service.call('GET', '/api/v1/service')).body, {
    name: 'svc',
    mode: 'sandbox',
    identity: 'keycloak',
    auth_url: idp.authUrl,
    platform_realm: 'platform',
    customers_realm: 'customers',
    vrp_caps: 'ignore',
  })
  t.match((await open.call('GET', '/api/v1/service')).body, { identity: 'none', auth_url: null })
})

t.test('the OpenAPI document has the credentials that the service accepts', async (t) => {
  const names = (answer: Answer): string[] => Object.keys(answer.body.components.securitySchemes).toSorted()
  const [tokens, headers] = [await service.call('GET', '/openapi.json'), await open.call('GET', '/openapi.json')]
  t.same(names(tokens), ['checkoutToken', 'merchantToken', 'payerSession', 'paymentState', 'platformToken'])
  t.same(names(headers), ['checkoutToken', 'merchantClientId', 'payerSession', 'paymentState', 'platformUser'])
  t.same(tokens.body.paths['/api/v1/payments'].post.security, [{ merchantToken: [] }, { checkoutToken: [] }])
  const { paths } = (await service.call('GET', '/open-banking/v1/openapi.json')).body
  t.same(paths['/open-banking/v1/payments'].post.security, [{ customerToken: ['payments'] }])
  t.same(paths['/open-banking/v1/payments/{PaymentId}'].get.security, [
    { customerToken: ['payments'] },
    { customerToken: ['accounts'] },
  ])
  t.same(tokens.body.paths['/api/v1/sandbox/merchants'].post.security, [{ platformToken: [] }])
  t.match(tokens.body.components.securitySchemes.platformToken.openIdConnectUrl, /realms\/platform\/\.well-known/)
})

t.test('without a provider any client id of a merchant is its ADMIN, and any name an OWNER', async (t) => {
  const { portal, server, cli } = clientIdsOf(openMerchant.realm)
  for (const clientId of [portal, server, cli]) {
    const { body } = await open.call('GET', '/api/v1/whoami', { headers: { 'x-merchant-client-id': clientId } })
    t.match(body, { kind: 'merchant', realm: null, role: 'ADMIN', expires_at: null, merchant: { id: openMerchant.id } })
  }
  const { body } = await open.call('GET', '/api/v1/whoami', { headers: { 'x-platform-user': 'ada' } })
  t.match(body, { kind: 'platform', role: 'OWNER', name: 'ada', client_id: null, merchant: null })
})

t.test('without a provider each kind of operation wants its own header', async (t) => {
  const proofs = { merchant: { 'x-merchant-client-id': openMerchant.clientId }, platform: { 'x-platform-user': 'ada' } }
  for (const operation of asksForCaller) {
    const code = async (headers: Record<string, string>): Promise<string | undefined> =>
      (
        await open.call(operation.method, endingPath(operation), {
          headers,
          ...(hasBody(operation) ? { body: { nothing: true } } : {}),
        })
      ).body.code
    const { access, name } = operation
    const isRefused = async (headers: Record<string, string>): Promise<boolean> =>
      ['UNAUTHENTICATED', 'UNKNOWN_CLIENT', 'WRONG_REALM', 'FORBIDDEN_ROLE'].includes((await code(headers)) ?? '')
    t.equal(await isRefused(proofs.merchant), !access.includes('merchant') && !access.includes('sandbox'), name)
    t.equal(await isRefused(proofs.platform), !access.includes('platform') && !access.includes('sandbox'), name)
    t.equal(await isRefused({}), !access.includes('sandbox'), `${name} without any`)
  }
  const odd = { 'x-platform-user': 'Ada Lovelace' }
  t.match(await open.call('GET', '/api/v1/admin/merchants', { headers: odd }), { status: 401 })
  t.match(await open.call('GET', '/api/v1/payments', { headers: { 'x-merchant-client-id': 'nobody' } }), {
    status: 401,
    body: { code: 'UNKNOWN_CLIENT' },
  })
})

t.test('the keys are fetched once for any number of callers', async (t) => {
  const fresh = await service.merchant()
  const answers = await Promise.all(
    Array.from({ length: 100 }, () =>
      service.call('GET', '/api/v1/payments', { headers: person(fresh, { roles: ['ADMIN'] }) }),
    ),
  )
  t.ok(answers.every(({ status }) => status === 200))
  t.equal(idp.fetches.get(fresh.realm), 1)
})

t.test('while the provider is down those it knows work on, and others hear 503 and when to come back', async (t) => {
  const stranger = await service.merchant()
  t.equal((await service.call('GET', '/api/v1/payments', { merchant })).status, 200)
  const headers = person(stranger, { roles: ['ADMIN'] })
  idp.down = true
  t.teardown(() => void (idp.down = false))
  t.equal(
    (await service.call('GET', '/api/v1/payments', { headers: person(merchant, { roles: ['ADMIN'] }) })).status,
    200,
  )
  const answer = await service.call('GET', '/api/v1/payments', { headers })
  t.match(answer, { status: 503, body: { code: 'IDP_UNAVAILABLE' }, headers: { 'retry-after': /^\d+$/ } })
  t.equal(answer.headers['www-authenticate'], undefined)
  idp.down = false
  await until(async () => (await service.call('GET', '/api/v1/payments', { headers })).status === 200)
})

t.test('a visit of a person of the staff is noted, once a minute', async (t) => {
  const subject = randomUUID()
  await service.owner.query(
    `insert into platform_users (id, keycloak_user_id, email, display_name, role)
     values ($1, $2, 'ops@platform.example', 'Ops', 'OPS')`,
    [randomUUID(), subject],
  )
  const seenAt = async (): Promise<Date | null> => {
    const { rows } = await service.owner.query('select last_seen_at from platform_users where keycloak_user_id = $1', [
      subject,
    ])
    return rows[0].last_seen_at
  }
  t.equal(await seenAt(), null)
  const headers = operator({ subject, roles: ['OPS'] })
  t.match((await service.call('GET', '/api/v1/whoami', { headers })).body, {
    name: 'ops@platform.example',
    role: 'OPS',
  })
  const first = await until(async () => (await seenAt()) ?? undefined)
  await service.call('GET', '/api/v1/whoami', { headers })
  await service.call('GET', '/api/v1/whoami', { headers })
  t.same(await seenAt(), first)
})
