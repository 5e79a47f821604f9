import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { request } from 'undici'
import { makeServer } from '../../src/http/server.ts'
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes.ts'
import { clientIdsOf } from '../../src/lib/realms.ts'
import { hasBody } from '../../src/wire/operation.ts'
import type { Answer } from '../support/app.ts'
import { createPayment } from '../support/app.ts'
import { makeKeyPair } from '../support/mini-idp.ts'
import { endingPath, serviceWithRealms } from '../support/realms.ts'

const { service, idp, person, program, operator, automation } = await serviceWithRealms(t)
const [victim, attacker] = [await service.merchant(), await service.merchant()]
const OPERATIONS = [...ROUTES, ...SANDBOX_ROUTES].map((row) => row.operation)

/** Answers as they are, but for the id that every request has. */
function bytes({ status, text, body }: Answer): string {
  return `${status} ${text.replaceAll(String(body.request_id), '')}`
}

/** Bodies of the operations that don't take an empty one. */
const VALID: Record<string, object> = { raiseDispute: { reason: 'OTHER' } }

t.test("another tenant's payment is, byte for byte, one that does not exist", async (t) => {
  const { body: payment } = await createPayment(service, victim)
  t.equal((await service.call('GET', `/api/v1/payments/${payment.payment_id}`, { merchant: victim })).status, 200)
  const withId = OPERATIONS.filter(({ access, path }) => access.includes('merchant') && path.includes('/payments/{id}'))
  t.ok(withId.length >= 4)
  for (const operation of withId) {
    const call = (id: string): Promise<Answer> =>
      service.call(operation.method, operation.path.replace('{id}', id), {
        merchant: attacker,
        ...(hasBody(operation) ? { body: VALID[operation.name] ?? {} } : {}),
      })
    const [foreign, unknown] = [await call(payment.payment_id), await call(randomUUID())]
    t.equal(foreign.status, 404, operation.name)
    t.equal(bytes(foreign), bytes(unknown), operation.name)
  }
  const { body: list } = await service.call('GET', '/api/v1/payments', { merchant: attacker })
  t.same(list.data, [])
  const deliveries = await service.call('GET', '/api/v1/portal/webhooks', { merchant: victim })
  for (const { id } of deliveries.body.data) {
    const replay = (of: string): Promise<Answer> =>
      service.call('POST', `/api/v1/portal/webhooks/${of}/replay`, { merchant: attacker })
    t.equal(bytes(await replay(id)), bytes(await replay(randomUUID())))
  }
})

t.test('two live realms: the client of one in a token of the other opens nothing', async (t) => {
  const crossed = [
    { authorization: `Bearer ${idp.mint(attacker.realm, { clientId: victim.clientId, roles: ['ADMIN'] })}` },
    {
      authorization: `Bearer ${idp.mint(attacker.realm, { clientId: clientIdsOf(victim.realm).portal, roles: ['ADMIN'] })}`,
    },
    { authorization: `Bearer ${idp.mint(victim.realm, { clientId: attacker.clientId, roles: ['ADMIN'] })}` },
    { authorization: `Bearer ${idp.mint('platform', { clientId: victim.clientId, roles: ['ADMIN', 'OWNER'] })}` },
    { authorization: `Bearer ${idp.mint(attacker.realm, { clientId: 'platform-cli', roles: ['OWNER'] })}` },
    { authorization: `Bearer ${idp.mint('customers', { clientId: victim.clientId, roles: ['ADMIN'] })}` },
    // The victim's issuer and client, signed with the attacker's own realm's key.
    {
      authorization: `Bearer ${idp.mint(victim.realm, {
        roles: ['ADMIN'],
        key: idp.keyOf(attacker.realm),
        header: { kid: idp.keyOf(victim.realm).kid },
      })}`,
    },
  ]
  const forged = { authorization: `Bearer ${idp.mint(victim.realm, { roles: ['ADMIN'], key: await makeKeyPair() })}` }
  for (const operation of OPERATIONS) {
    if (!operation.access.some((kind) => ['merchant', 'platform', 'sandbox'].includes(kind))) continue
    const call = (headers: Record<string, string>): Promise<Answer> =>
      service.call(operation.method, endingPath(operation), { headers, ...(hasBody(operation) ? { body: {} } : {}) })
    const badSignature = bytes(await call(forged))
    t.match(badSignature, /^401 .*UNAUTHENTICATED/)
    for (const headers of crossed) t.equal(bytes(await call(headers)), badSignature, operation.name)
  }
})

t.test('a role is worth nothing outside its realm', async (t) => {
  const owner = person(attacker, { roles: ['OWNER', 'OPS', 'SUPPORT', 'ADMIN'] })
  for (const operation of OPERATIONS.filter(
    ({ access }) => access.includes('platform') && !access.includes('merchant'),
  )) {
    const answer = await service.call(operation.method, endingPath(operation), {
      headers: owner,
      ...(hasBody(operation) ? { body: {} } : {}),
    })
    t.match(answer, { status: 403, body: { code: 'WRONG_REALM' } }, operation.name)
  }
  const admin = operator({ roles: ['ADMIN', 'OWNER'] })
  for (const operation of OPERATIONS.filter(
    ({ access }) => access.includes('merchant') && !access.includes('platform'),
  )) {
    const answer = await service.call(operation.method, endingPath(operation), {
      headers: admin,
      ...(hasBody(operation) ? { body: {} } : {}),
    })
    t.match(answer, { status: 403, body: { code: 'WRONG_REALM' } }, operation.name)
  }
})

t.test("the payer's capability is no merchant's: a token beside it adds nothing", async (t) => {
  const { body } = await createPayment(service, victim)
  const state = new URL(body.redirect_url).searchParams.get('state') ?? ''
  const path = `/api/v1/payments/${body.payment_id}`
  const answer = await service.call('GET', path, { headers: { 'x-payment-state': state } })
  t.equal(answer.status, 200)
  const wrong = await service.call('GET', path, { merchant: victim, headers: { 'x-payment-state': 'made-up' } })
  t.equal(wrong.status, 404)
  const list = await service.call('GET', '/api/v1/payments', { headers: { 'x-payment-state': state } })
  t.equal(list.status, 401)
})

/** The same app behind a guard that remembers callers for a blink. */
const BLINK_MS = 50
const quick = makeServer(service.app, { rememberMs: BLINK_MS })
quick.listen(0, '127.0.0.1')
await once(quick, 'listening')
t.teardown(() => void quick.close())
const quickUrl = `http://127.0.0.1:${(quick.address() as AddressInfo).port}`

async function status(path: string, headers: Record<string, string>): Promise<number> {
  const { statusCode, body } = await request(quickUrl + path, { headers })
  await body.dump()
  return statusCode
}

const blink = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, BLINK_MS * 2))

t.test('a revoked credential is refused, though its token is good for minutes yet', async (t) => {
  const headers = await program(victim, 'DEVELOPER')
  t.equal(await status('/api/v1/payments', headers), 200)
  await service.owner.query(`update merchant_client set revoked_at = now() where client_id like $1`, [
    `${victim.realm}-key-%`,
  ])
  await blink()
  t.equal(await status('/api/v1/payments', headers), 401)
  const ops = await automation('OPS')
  t.equal(await status('/api/v1/whoami', ops), 200)
  await service.owner.query(`update platform_clients set revoked_at = now() where kind = 'service'`)
  await blink()
  t.equal(await status('/api/v1/whoami', ops), 401)
})

t.test('someone who was removed is refused, and someone demoted keeps what the new role allows', async (t) => {
  const subject = randomUUID()
  await service.owner.query(
    `insert into team_members (merchant_id, id, email, role, invited_by) values ($1, $2, 'eve@acme.example', 'ADMIN', 'test')`,
    [victim.id, subject],
  )
  const headers = person(victim, { subject, roles: ['ADMIN'] })
  t.equal(await status('/api/v1/portal/webhooks', headers), 200)
  await service.owner.query(`update team_members set role = 'FINANCE' where id = $1`, [subject])
  await blink()
  t.equal(await status('/api/v1/portal/webhooks', headers), 403)
  t.equal(await status('/api/v1/payments', headers), 200)
  await service.owner.query(`update team_members set is_active = false where id = $1`, [subject])
  await blink()
  t.equal(await status('/api/v1/payments', headers), 401)
  t.equal(await status('/api/v1/whoami', headers), 401)

  const id = randomUUID()
  await service.owner.query(
    `insert into platform_users (id, keycloak_user_id, email, display_name, role)
     values ($1, $2, 'eve@platform.example', 'Eve', 'OWNER')`,
    [id, subject],
  )
  const staff = operator({ subject, roles: ['OWNER'] })
  t.equal(await status('/api/v1/whoami', staff), 200)
  await service.owner.query('update platform_users set is_active = false where id = $1', [id])
  await blink()
  t.equal(await status('/api/v1/whoami', staff), 401)
})

t.test('the guard that everyone meets remembers for ten seconds at most', async (t) => {
  const headers = await program(victim, 'DEVELOPER')
  t.equal((await service.call('GET', '/api/v1/payments', { headers })).status, 200)
  await service.owner.query(`update merchant_client set revoked_at = now() where client_id like $1`, [
    `${victim.realm}-key-%`,
  ])
  await new Promise((resolve) => setTimeout(resolve, 10_100))
  t.equal((await service.call('GET', '/api/v1/payments', { headers })).status, 401)
})

t.test('a flood of client ids that nobody has drives nobody out, and reaches no key', async (t) => {
  const before = new Map(idp.fetches)
  const answers = await Promise.all(
    Array.from({ length: 300 }, (_, count) =>
      service.call('GET', '/api/v1/payments', {
        headers: { authorization: `Bearer ${idp.mint(victim.realm, { clientId: `made-up-${count}` })}` },
      }),
    ),
  )
  t.ok(answers.every((answer) => answer.status === 401))
  t.same(idp.fetches, before)
  t.equal((await service.call('GET', '/api/v1/payments', { merchant: victim })).status, 200)
})
