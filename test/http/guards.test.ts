import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { TestMerchant, TestService } from '../support/app.ts'
import { authorisedPayment, createPayment, testService } from '../support/app.ts'
import { endingPath, serviceWithRealms } from '../support/realms.ts'
import type { Credentials } from '../../src/http/credentials.ts'
import { makeGuard } from '../../src/http/guards.ts'
import { endTokens } from '../../src/identity/token-cutoffs-sql.ts'
import { SCOPES } from '../../src/lib/permissions.ts'
import { CUSTOMERS_REALM } from '../../src/lib/realms.ts'
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes.ts'
import { errorsOf, hasBody } from '../../src/wire/operation.ts'
import type { Access, Operation } from '../../src/wire/operation.ts'
import { listPayments } from '../../src/wire/payments.ts'

const { service, idp, person, automation } = await serviceWithRealms(t)
const open = await testService(t, { env: { SVC_IDENTITY: 'none' } })
const OPERATIONS = [...ROUTES, ...SANDBOX_ROUTES].map((row) => row.operation)

function credentials(headers: Record<string, string> = {}): Credentials {
  const given = { host: 'localhost:8080', ...headers }
  return { headers: given, rawHeaders: Object.entries(given).flat(), params: { id: randomUUID() } }
}

/** An operation as somebody may declare it by mistake. */
function crafted(access: readonly Access[], permission: Operation['permission']): Operation {
  const { permission: _, ...declared } = listPayments
  return { ...declared, access, ...(permission === undefined ? {} : { permission }) }
}

t.test('an operation without access rejects every caller', async (t) => {
  const merchant = await service.merchant()
  const tokens = [{}, person(merchant, { roles: ['ADMIN'] }), await automation('OWNER')]
  const headers = [{}, { 'x-merchant-client-id': (await open.merchant()).clientId }, { 'x-platform-user': 'ada' }]
  for (const [{ app }, proofs] of [
    [service, tokens],
    [open, headers],
  ] as const) {
    const guard = makeGuard(app)
    for (const permission of [undefined, 'read payments', 'administer platform'] as const) {
      for (const access of [[], ['payment-state']] as const) {
        for (const proof of proofs) {
          const asked = guard(crafted(access, permission), credentials(proof))
          await t.rejects(asked, { code: 'UNAUTHENTICATED' }, `[${access.join()}] ${permission}`)
        }
      }
    }
    for (const access of [['anyone'], ['bank']] as const) {
      t.same(await guard(crafted(access, undefined), credentials()), { kind: 'anyone' })
      const asked = guard(crafted(access, 'read payments'), credentials())
      await t.rejects(asked, { code: 'UNAUTHENTICATED' }, 'one that asks for a role asks for a caller')
    }
  }
})

t.test(
  "what a customer's program changes is rejected at once when its tokens have ended, whatever was cached",
  async (t) => {
    const guard = makeGuard(service.app, { rememberMs: 600_000 })
    const subject = randomUUID()
    const iat = Math.floor(Date.now() / 1_000) - 5
    const claims = { scope: SCOPES.join(' '), iat, exp: iat + 600 }
    const token = idp.mint(CUSTOMERS_REALM, { clientId: 'customers-cli', subject, claims })
    const bearer = credentials({ authorization: `Bearer ${token}` })
    const operations = OPERATIONS.filter(({ access }) => access.includes('customer'))
    const [reads, changes] = [true, false].map((isRead) =>
      operations.filter(({ method }) => (method === 'GET') === isRead),
    )
    t.ok(reads !== undefined && reads.length > 3 && changes !== undefined && changes.length > 3)
    for (const operation of operations) t.match(await guard(operation, bearer), { kind: 'customer' }, operation.name)
    await endTokens(service.app.pool, CUSTOMERS_REALM, { subject })
    for (const operation of changes ?? [])
      await t.rejects(guard(operation, bearer), { code: 'UNAUTHENTICATED' }, operation.name)
    for (const operation of reads ?? [])
      t.match(await guard(operation, bearer), { kind: 'customer' }, `${operation.name} is answered from the cache`)
  },
)

async function disabled(at: TestService): Promise<TestMerchant> {
  const merchant = await at.merchant()
  await at.owner.query('update merchants set is_active = false where id = $1', [merchant.id])
  return merchant
}

const EVEN_IF_INACTIVE = [
  'createPayment',
  'endConsent',
  'refundPayment',
  'raiseDispute',
  'submitEvidence',
  'acceptDispute',
]
const ofMerchants = OPERATIONS.filter(({ access }) => access.includes('merchant'))

for (const [name, at] of [
  ['a token', service],
  ['a header', open],
] as const) {
  t.test(
    `a disabled merchant with ${name} reads, refunds and answers disputes, and changes nothing else`,
    async (t) => {
      const merchant = await disabled(at)
      for (const operation of ofMerchants) {
        const { body } = await at.call(operation.method, endingPath(operation), {
          merchant,
          ...(hasBody(operation) ? { body: {} } : {}),
        })
        const isOpen = operation.method === 'GET' || EVEN_IF_INACTIVE.includes(operation.name)
        t.equal(body.code === 'MERCHANT_INACTIVE', !isOpen, `${operation.name}: ${body.code}`)
        if (!isOpen) t.match(body, { status: 403, next: /ask an operator/ })
        if (!isOpen) t.ok(errorsOf(operation).includes('MERCHANT_INACTIVE'), 'and its declaration says so')
      }
      t.match(await createPayment(at, merchant), { status: 403, body: { code: 'MERCHANT_INACTIVE' } })
      t.match((await at.call('GET', '/api/v1/whoami', { merchant })).body, { merchant: { is_active: false } })
      const working = await at.merchant()
      t.match((await at.call('GET', '/api/v1/whoami', { merchant: working })).body, { merchant: { is_active: true } })
    },
  )
}

t.test('the team and the credentials of a merchant are closed from the moment it is disabled', async (t) => {
  for (const at of [service, open]) {
    const merchant = await at.merchant()
    const invite = () =>
      at.call('POST', '/api/v1/portal/api-credentials', { merchant, body: { name: 'back door', role: 'ADMIN' } })
    t.equal((await at.call('GET', '/api/v1/payments', { merchant })).status, 200, 'it is remembered')
    await at.owner.query('update merchants set is_active = false where id = $1', [merchant.id])
    t.match(await invite(), { status: 403, body: { code: 'MERCHANT_INACTIVE' } })
    await at.owner.query('update merchants set is_active = true where id = $1', [merchant.id])
    t.match(await invite(), { status: 201 })
  }
})

t.test('a missing permission is reported before an inactive merchant', async (t) => {
  const merchant = await disabled(service)
  const headers = person(merchant, { roles: ['FINANCE'] })
  const answer = await service.call('POST', '/api/v1/portal/team', { headers, body: {} })
  const error = /^the role FINANCE is not allowed to see, invite and remove members of the team/
  t.match(answer, { status: 403, body: { code: 'FORBIDDEN_ROLE', error } }, 'in words, and not as the operation')
})

t.test('payers can complete the payments of a disabled merchant', async (t) => {
  const merchant = await open.merchant()
  const { body } = await createPayment(open, merchant)
  const state = new URL(body.redirect_url).searchParams.get('state') ?? ''
  const { id } = await authorisedPayment(open, merchant)
  await open.owner.query('update merchants set is_active = false where id = $1', [merchant.id])
  const headers = { 'x-payment-state': state }
  t.match(await open.call('POST', `/api/v1/payments/${body.payment_id}/cancel`, { headers }), { status: 200 })
  t.match(await open.call('GET', `/api/v1/payments/${id}`, { merchant }), { status: 200 })
})
