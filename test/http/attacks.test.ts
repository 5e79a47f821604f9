import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { request } from 'undici'
import { makeGuard } from '../../src/http/guards.ts'
import { makeServer } from '../../src/http/server.ts'
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes.ts'
import { DomainError } from '../../src/lib/errors.ts'
import { clientIdsOf } from '../../src/lib/realms.ts'
import { listMerchants } from '../../src/wire/admin.ts'
import { listMails } from '../../src/wire/mails.ts'
import { hasBody } from '../../src/wire/operation.ts'
import type { Operation } from '../../src/wire/operation.ts'
import { listPayments } from '../../src/wire/payments.ts'
import { addStaff } from '../../src/wire/staff.ts'
import type { Answer } from '../support/app.ts'
import { createPayment } from '../support/app.ts'
import { makeKeyPair } from '../support/in-process-idp.ts'
import { endingPath, serviceWithRealms } from '../support/realms.ts'

const { service, idp, person, program, operator, automation } = await serviceWithRealms(t)
const [victim, attacker] = [await service.merchant(), await service.merchant()]
const OPERATIONS = [...ROUTES, ...SANDBOX_ROUTES].map((row) => row.operation)
const guard = makeGuard(service.app)

/** An answer byte for byte, without the id that every request has. */
function bytes({ status, text, body }: Answer): string {
  return `${status} ${text.replaceAll(String(body.request_id), '')}`
}

/** Bodies of the operations that don't take an empty one. */
const VALID: Record<string, object> = { raiseDispute: { reason: 'OTHER' } }

t.test("another tenant's payment looks, byte for byte, like one that does not exist", async (t) => {
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

t.test('a token of one realm with the client of another is rejected everywhere', async (t) => {
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
  const operations = OPERATIONS.filter(({ access }) =>
    access.some((kind) => ['merchant', 'platform', 'sandbox'].includes(kind)),
  )
  const badSignature = await rejectionOf(listPayments, forged)
  t.match(badSignature, { code: 'UNAUTHENTICATED' })
  t.same(
    await mapOperations(operations, (operation) => Promise.all(crossed.map((each) => rejectionOf(operation, each)))),
    Object.fromEntries(operations.map(({ name }) => [name, crossed.map(() => badSignature)])),
  )
  // Over HTTP byte for byte, for an operation of each kind of access.
  for (const operation of [listPayments, listMerchants, listMails, addStaff]) {
    const call = (headers: Record<string, string>): Promise<Answer> =>
      service.call(operation.method, endingPath(operation), { headers, ...(hasBody(operation) ? { body: {} } : {}) })
    const expected = bytes(await call(forged))
    t.match(expected, /^401 .*UNAUTHENTICATED/)
    const answers = await Promise.all(crossed.map(async (headers) => bytes(await call(headers))))
    t.same(
      answers,
      crossed.map(() => expected),
      operation.name,
    )
  }
})

/** The rejection of the guard with all that an answer shows of it; null where it allows the request. */
async function rejectionOf(operation: Operation, headers: Record<string, string>): Promise<object | null> {
  try {
    const id = randomUUID()
    await guard(operation, { headers, rawHeaders: Object.entries(headers).flat(), params: { id } })
    return null
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    const { code, message, next, errors, scope } = error
    return { code, message, next, errors, scope }
  }
}

/** The result of a check for each operation, by the operation's name. */
async function mapOperations<T>(operations: readonly Operation[], check: (operation: Operation) => Promise<T>) {
  const entries: [string, T][] = []
  for (const operation of operations) entries.push([operation.name, await check(operation)])
  return Object.fromEntries(entries)
}

t.test('a role counts for nothing outside its realm', async (t) => {
  const owner = person(attacker, { roles: ['OWNER', 'OPS', 'SUPPORT', 'ADMIN'] })
  const admin = operator({ roles: ['ADMIN', 'OWNER'] })
  const forOperators = OPERATIONS.filter(({ access }) => access.includes('platform') && !access.includes('merchant'))
  const forMerchants = OPERATIONS.filter(({ access }) => access.includes('merchant') && !access.includes('platform'))
  const codeOf = async (operation: Operation, headers: Record<string, string>): Promise<unknown> =>
    Object(await rejectionOf(operation, headers)).code
  const wrongRealm = (operations: readonly Operation[]) =>
    Object.fromEntries(operations.map(({ name }) => [name, 'WRONG_REALM']))
  t.same(await mapOperations(forOperators, (operation) => codeOf(operation, owner)), wrongRealm(forOperators))
  t.same(await mapOperations(forMerchants, (operation) => codeOf(operation, admin)), wrongRealm(forMerchants))
  const wrong = { status: 403, body: { code: 'WRONG_REALM' } }
  t.match(await service.call('GET', '/api/v1/admin/staff', { headers: owner }), wrong)
  t.match(await service.call('GET', '/api/v1/portal/team', { headers: admin }), wrong)
})

t.test("a payer's state authenticates no merchant, and a merchant's token beside it adds nothing", async (t) => {
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

/** The same app behind a guard that caches callers for 50 ms. */
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

t.test('a revoked credential is rejected, though its token has not expired', async (t) => {
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

t.test('a removed person is rejected, and a demoted one keeps what the new role allows', async (t) => {
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

t.test("the service's guard caches callers for ten seconds at most", async (t) => {
  const headers = await program(victim, 'DEVELOPER')
  const statusNow = async (): Promise<number> => (await service.call('GET', '/api/v1/payments', { headers })).status
  t.equal(await statusNow(), 200)
  await service.owner.query(`update merchant_client set revoked_at = now() where client_id like $1`, [
    `${victim.realm}-key-%`,
  ])
  const now = performance.now.bind(performance)
  t.intercept(performance, 'now', { value: () => now() + 10_000 })
  t.equal(await statusNow(), 401)
})

t.test('a flood of unknown client ids locks no caller out, and fetches no keys', async (t) => {
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
