import t from 'tap'
import { createPayment, testService } from '../support/app.ts'
import type { TestService } from '../support/app.ts'

async function make(service: TestService, body: unknown) {
  return service.call('POST', '/api/v1/sandbox/merchants', { headers: { 'x-platform-user': 'olga' }, body })
}

t.test('a sandbox merchant can take payments at once', async (t) => {
  const service = await testService(t)
  const { status, body } = await make(service, {})
  t.equal(status, 201)
  t.match(body, {
    kyb_status: 'APPROVED',
    fee_percentage: '0.0100',
    fee_flat: '0.20',
    webhook_url: null,
    webhook_signing_secret: /^[0-9a-f]{64}$/,
  })
  const created = await createPayment(service, {
    id: body.merchant_id,
    clientId: body.client_id,
    secret: body.webhook_signing_secret,
  })
  t.match(created, { status: 201, body: { fee_amount: '0.70' } })
})

t.test('one that is not approved, or held, is refused as in earnest', async (t) => {
  const service = await testService(t)
  const wishes = [
    { wish: { kyb_status: 'PENDING' }, code: 'MERCHANT_NOT_APPROVED' },
    { wish: { kyb_status: 'SUSPENDED' }, code: 'MERCHANT_NOT_APPROVED' },
    { wish: { payout_held: true }, code: 'PAYOUT_HELD' },
  ]
  for (const { wish, code } of wishes) {
    const { body } = await make(service, wish)
    const created = await createPayment(service, { id: body.merchant_id, clientId: body.client_id, secret: '' })
    t.match(created, { status: 403, body: { code } }, code)
  }
})

t.test('a bad wish is refused with its field', async (t) => {
  const service = await testService(t)
  t.match(await make(service, { fee_percentage: 0.01 }), {
    status: 400,
    body: { errors: [{ path: 'fee_percentage' }] },
  })
  t.match(await make(service, { webhook_url: 'ftp://shop.example' }), {
    status: 400,
    body: { errors: [{ path: 'webhook_url' }] },
  })
  t.match(await make(service, { kyb: 'APPROVED' }), {
    status: 400,
    body: { errors: [{ path: 'kyb', code: 'UNKNOWN_FIELD' }] },
  })
})
