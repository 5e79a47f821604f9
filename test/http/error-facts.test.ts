import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ROUTES } from '../../src/http/routes.ts'
import { packageRoot } from '../../src/lib/package-root.ts'
import { createPayment, testService } from '../support/app.ts'
import { OPERATOR, accept, raise, resolve, submitEvidence } from '../support/disputes.ts'
import { plainToken, readCheckout } from '../support/checkout.ts'
import { authorisedMandate, payUnder } from '../support/mandates.ts'
import { refund, settledPayment } from '../support/payments.ts'
import { rotate } from '../support/secrets.ts'

/* What an error knows stands in its members, so that no client reads it from a message. */

const service = await testService(t, { env: { SVC_VRP_CAPS: 'enforce' } })
const merchant = await service.merchant()

t.test('a refund above what is left says what is left', async (t) => {
  const id = await settledPayment(service, merchant)
  await refund(service, merchant, { id, body: { amount: '20.00' } })
  t.match(await refund(service, merchant, { id, body: { amount: '30.01' } }), {
    status: 422,
    body: { code: 'REFUND_EXCEEDS_AVAILABLE', available: '30.00' },
  })
  t.match(await refund(service, merchant, { id, body: { amount: '30.00', refund_amount_available: '50.00' } }), {
    status: 412,
    body: {
      code: 'REFUND_AVAILABLE_MISMATCH',
      available: '30.00',
      next_step: { operation: 'getPayment', params: { id } },
    },
  })
})

t.test('a payment that cannot be cancelled or refunded says its status, and what takes on', async (t) => {
  const id = await settledPayment(service, merchant)
  const cancel = (of: string) => service.call('POST', `/api/v1/payments/${of}/cancel`, { merchant })
  t.match(await cancel(id), {
    body: {
      code: 'PAYMENT_NOT_CANCELLABLE',
      current: { status: 'Settled' },
      next: String,
      next_step: { operation: 'refundPayment', params: { id } },
    },
  })
  await refund(service, merchant, { id })
  const { body } = await cancel(id)
  t.match(body, { code: 'PAYMENT_NOT_CANCELLABLE', current: { status: 'Refunded' } })
  t.notOk('next_step' in body, 'and nothing where no operation does')
  const { body: waiting } = await createPayment(service, merchant)
  t.match(await refund(service, merchant, { id: waiting.payment_id }), {
    body: { code: 'PAYMENT_NOT_SETTLED', current: { status: 'AwaitingAuthorisation' } },
  })
})

t.test('a payment under a mandate says the currency that it must have, and what a cap leaves', async (t) => {
  const { consentId } = await authorisedMandate(service, merchant)
  t.match(await payUnder(service, merchant, { consentId, changes: { currency: 'EUR' } }), {
    status: 400,
    body: { errors: [{ path: 'currency', code: 'CONTRADICTORY', expected: 'GBP' }] },
  })
  t.match(await payUnder(service, merchant, { consentId, changes: { amount: '100.01' } }), {
    status: 422,
    body: { code: 'MANDATE_LIMIT_EXCEEDED', available: '100.00' },
  })
})

t.test('a page that may not show the checkout is named by its origin', async (t) => {
  const body = { origins: ['https://other.example'] }
  await service.call('PUT', '/api/v1/portal/checkout-origins', { merchant, body })
  const { body: error } = await readCheckout(service, plainToken(service, merchant))
  t.match(error, { code: 'CHECKOUT_ORIGIN_NOT_ALLOWED', errors: [{ value: 'https://shop.example' }] })
  await service.call('PUT', '/api/v1/portal/checkout-origins', { merchant, body: { origins: [] } })
})

t.test('a dispute says how it stands', async (t) => {
  const { body: dispute } = await raise(service, merchant, await settledPayment(service, merchant))
  t.match(await resolve(service, dispute.id), {
    body: {
      code: 'DISPUTE_NOT_UNDER_REVIEW',
      current: { status: 'OPEN' },
      next_step: { operation: 'escalateDispute', params: { id: dispute.id } },
    },
  })
  await submitEvidence(service, merchant, dispute.id)
  t.match(await accept(service, merchant, dispute.id, { body: { expected: { status: 'OPEN' } } }), {
    status: 412,
    body: { code: 'CHANGED_MEANWHILE', current: { status: 'UNDER_REVIEW' } },
  })
  await resolve(service, dispute.id)
  t.match(await accept(service, merchant, dispute.id), {
    body: { code: 'DISPUTE_CLOSED', current: { status: 'RESOLVED_PAYER_FAVOUR' } },
  })
})

t.test('a changed fee has two decimals, a changed hold is a boolean', async (t) => {
  const put = (path: string, body: object) =>
    service.call('PUT', `/api/v1/admin/merchants/${merchant.id}/${path}`, { headers: OPERATOR, body })
  const seen = { fee_percentage: '0.0100', fee_flat: '9.00' }
  t.match(await put('fees', { fee_flat: '0.30', reason: 'agreed', expected: seen }), {
    body: { code: 'CHANGED_MEANWHILE', current: { fee_flat: '0.20' } },
  })
  t.match(await put('hold', { payout_held: false, reason: 'over', expected: { payout_held: true } }), {
    body: { code: 'CHANGED_MEANWHILE', current: { payout_held: false } },
  })
})

t.test('a rotation during an overlap says until when, and how to end it', async (t) => {
  const { body } = await rotate(service, merchant)
  t.match(await rotate(service, merchant), {
    body: {
      code: 'SECRET_OVERLAP_RUNNING',
      current: { previous_expires_at: body.previous_expires_at },
      next_step: { operation: 'endSecretOverlap', params: {} },
    },
  })
})

t.test('every next step is an operation, with parameters of its path', async (t) => {
  const source = join(packageRoot(), 'src')
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const steps = files.flatMap((name) => [
    ...readFileSync(join(source, name), 'utf8').matchAll(
      /nextStep: \{ operation: '(\w+)', params: \{ ?([^}]*?) ?\} \}/g,
    ),
  ])
  t.ok(steps.length >= 10)
  for (const [step, name, params = ''] of steps) {
    const operation = ROUTES.find((route) => route.operation.name === name)?.operation
    t.ok(operation, step)
    const names = params.split(', ').flatMap((each) => /^\w+/.exec(each) ?? [])
    const inPath = [...(operation?.path ?? '').matchAll(/\{(\w+)\}/g)].map((match) => match[1])
    t.same(names, inPath, step)
  }
})
