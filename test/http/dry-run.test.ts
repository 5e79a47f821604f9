import t from 'tap'
import { runDry } from '../../src/http/dry-run.ts'
import { inviteTeamMember } from '../../src/team/invite-team-member.ts'
import { createPayment, paymentBody, testService } from '../support/app.ts'
import { capturedLog } from '../support/captured-log.ts'
import { raise } from '../support/disputes.ts'
import { settledPayment } from '../support/payments.ts'
import { makeRemoteIdentity } from '../support/remote-identity.ts'
import { hashTables } from '../support/rows.ts'
import { steeredBank } from '../support/steered-bank.ts'

const { log, lines } = capturedLog('info')
const service = await testService(t, { overrides: { log } })
const merchant = await service.merchant()
const operator = await service.operator()

t.test('a refund is answered as the real one, and nothing of it is kept', async (t) => {
  const id = await settledPayment(service, merchant)
  const path = `/api/v1/payments/${id}/refund`
  const before = await hashTables(service.owner)
  const dry = await service.call('POST', `${path}?dry_run=true`, { merchant, body: { amount: '20.00' } })
  t.match(dry, {
    status: 200,
    body: { refund_status: 'EXECUTED', refunded_amount: '20.00', remaining_amount: '30.00' },
  })
  t.same(await hashTables(service.owner), before)
  const real = await service.call('POST', path, { merchant, body: { amount: '20.00' } })
  t.same({ ...real.body, refund_id: '' }, { ...dry.body, refund_id: '' })
})

t.test('a rejected dry run has the code of the real request, and changes nothing either', async (t) => {
  const id = await settledPayment(service, merchant)
  const { body: dispute } = await raise(service, merchant, id)
  const before = await hashTables(service.owner)
  for (const [path, body] of [
    [`/api/v1/payments/${id}/refund`, { amount: '50.01' }],
    [`/api/v1/payments/${id}/cancel`, {}],
    [`/api/v1/payments/${id}/dispute`, { reason: 'OTHER' }],
    [`/api/v1/portal/disputes/${dispute.id}/accept`, { expected: { status: 'OPEN' } }],
  ] as const) {
    const dry = await service.call('POST', `${path}?dry_run=true`, { merchant, body })
    t.same(await hashTables(service.owner), before)
    const real = await service.call('POST', path, { merchant, body })
    t.same([dry.status, dry.body.code], [real.status, real.body.code], path)
  }
})

t.test('a hold is tried: no audit entry is kept', async (t) => {
  const path = `/api/v1/admin/merchants/${merchant.id}/hold`
  const body = { payout_held: true, reason: 'under investigation' }
  const before = await hashTables(service.owner)
  t.match(await service.call('PUT', `${path}?dry_run=true`, { headers: operator, body }), {
    status: 200,
    body: { payout_held: true },
  })
  t.same(await hashTables(service.owner), before)
})

t.test('the log and the metrics tell a dry run from the real one', async (t) => {
  const { body: payment } = await createPayment(service, merchant)
  const path = `/api/v1/payments/${payment.payment_id}/cancel`
  const moves = () => service.app.metrics.paymentMoves.get()
  const before = await moves()
  t.equal((await service.call('POST', `${path}?dry_run=true`, { merchant })).status, 200)
  t.same(await moves(), before, 'nothing is counted')
  const logged = lines().map((line) => JSON.parse(line))
  const moved = logged.filter(({ payment_id: id, to }) => id === payment.payment_id && to === 'Failed')
  t.match(moved, [{ dry_run: true, msg: 'a payment has moved' }])
  t.match(logged.at(-1), { msg: 'request', operation: 'cancelPayment', status: 200, dry_run: true })
  t.equal((await service.call('POST', `${path}?dry_run=false`, { merchant })).status, 200)
  t.notSame(await moves(), before, 'dry_run=false is the request itself')
  t.notOk(JSON.parse(lines().at(-1) ?? '{}').dry_run)
})

t.test('an idempotency key is still free after a dry run, and a used one answers the first request', async (t) => {
  const send = (query: string, amount: string) =>
    service.call('POST', `/api/v1/payments${query}`, {
      merchant,
      headers: { 'x-idempotency-key': 'one-key' },
      body: paymentBody({ amount }),
    })
  t.match(await send('?dry_run=true', '10.00'), { status: 201, body: { gross_amount: '10.00' } })
  const { body: first } = await send('', '20.00')
  t.match(await send('?dry_run=true', '20.00'), { status: 200, body: { payment_id: first.payment_id } })
  t.match(await send('?dry_run=true', '10.00'), { status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } })
})

t.test('a bank that is somewhere else is not asked', async (t) => {
  const bank = steeredBank('remote')
  const elsewhere = await testService(t, { overrides: { bank: bank.connector } })
  bank.behind(elsewhere.app.mockBank)
  const shop = await elsewhere.merchant()
  const id = await settledPayment(elsewhere, shop)
  const [before, calls] = [await hashTables(elsewhere.owner), { ...bank.calls }]
  const created = await elsewhere.call('POST', '/api/v1/payments?dry_run=true', {
    merchant: shop,
    headers: { 'x-idempotency-key': 'k' },
    body: paymentBody(),
  })
  t.match(created, { status: 201, body: { status: 'Initiated', redirect_url: null } })
  t.match(await elsewhere.call('POST', `/api/v1/payments/${id}/refund?dry_run=true`, { merchant: shop }), {
    status: 202,
    body: { refund_status: 'PENDING' },
  })
  t.same(bank.calls, calls)
  t.same(await hashTables(elsewhere.owner), before)
})

t.test('an identity provider that is somewhere else is read, and not changed', async (t) => {
  const identity = makeRemoteIdentity()
  const elsewhere = await testService(t, { overrides: { identity } })
  const { app } = elsewhere
  const actor = { id: 'test', name: 'test', role: 'OWNER' }
  const shop = await elsewhere.merchant()
  const invitation = { merchantId: shop.id, email: 'grace@acme.example', role: 'FINANCE', actor } as const
  const state = () => JSON.stringify([...identity.realms])
  const before = state()
  const dry = await runDry(app, (tried) => inviteTeamMember(tried, invitation))
  t.match(dry, { email: 'grace@acme.example', role: 'FINANCE' })
  t.equal(state(), before)
  await identity.createUser(shop.realm, { email: 'grace@acme.example', roles: [] })
  t.match(await runDry(app, (tried) => inviteTeamMember(tried, invitation)), { role: 'FINANCE' }, 'one is there')
  const realm = { slug: shop.realm, kind: 'merchant', displayName: 'Acme', registrationId: 'x', roles: [] } as const
  await t.rejects(
    runDry(app, (tried) => tried.identity.createRealm(realm)),
    { name: 'RealmExistsError' },
  )
  identity.faults.isAway = true
  await t.rejects(
    runDry(app, (tried) => inviteTeamMember(tried, invitation)),
    { name: 'IdentityUnavailableError' },
  )
})

t.test('a connection that a dry run has used goes back to the pool as it was', async (t) => {
  const backends = async () => {
    const { rows } = await service.owner.query(
      `select pid from pg_stat_activity where application_name = 'svc' and datname = current_database() order by pid`,
    )
    return rows
  }
  const path = `/api/v1/admin/merchants/${merchant.id}/hold?dry_run=true`
  const body = { payout_held: true, reason: 'under investigation' }
  const before = await backends()
  for (let run = 0; run < 10; run += 1) await service.call('PUT', path, { headers: operator, body })
  t.same(await backends(), before)
  t.match(await service.call('GET', `/api/v1/admin/merchants/${merchant.id}`, { headers: operator }), {
    body: { payout_held: false },
  })
})
